"""The paper's tables from runs whose solutions differ: each number against the scores that the runs hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from judged_support import kind_of
from openended_support import choices
from scipy.stats import spearmanr
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.plugin import ScoreRecord, open_run
from creval_openended.analyses.commands import Classes, Confounds, Correlations
from creval_openended.analyses.solutions import Solutions
from creval_openended.analyses.temperature import Temperature
from creval_openended.validation.agreement import JuryAgreement
from creval_openended.validation.cost import JuryCost
from creval_openended.validation.performance import Performance
from creval_openended.validation.tradeoff import Tradeoff

STEPS = (
    "He counted the coins in his pocket.",
    "The sun had set.",
    "A plan of the room lay on paper.",
    "The bottle was full of warm water.",
    "She whistled a tune to keep her courage.",
)
CRITERIA = {
    "macgyver_jury_own": ("feasibility", "safety", "effectiveness"),
    "bookmia_jury_own": ("coherence", "realism", "plot_completion"),
}


def drawn(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def world(request: Received) -> Answer:
    """A model that varies, and a judge that is sure and says yes to some solutions; both answer alike what is alike."""
    number = drawn(request.prompt)
    kind = kind_of(request.prompt)[0]
    if "STOP" in request.prompt:
        variety = 1 + number[0] % len(STEPS)
        texts = [STEPS[number[1 + i] % variety] for i in range(10)]
        return Answer(extra={"choices": choices(texts, logprob=-0.05 - number[20] / 200)})
    said = {
        "start": "[[POINT]] Rope holds.",
        "turn": f"[[Opinion]]: Point {number[0]}.",
        "confidence": f"Thus, [[{0.6 + number[0] % 4 / 10:.1f}]].",
        "verdict": "[[YES]]" if number[0] % 3 else "[[NO]]",
        "other": "Step 1: a. Step 2: b. Step 3: c.",
    }
    return Answer(said[kind])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("tables") / "run"
    with pytest.MonkeyPatch.context() as patch, ChatServer(world) as server:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(
            output=folder,
            roles={"judge": "hosted_vllm/judge"},
            resources={"embedding": "embedded/minilm", "entailment": "exact"},
        )
        creval.run(list(CRITERIA), "hosted_vllm/solver", options)
    yield str(folder)


def scores_of(run: str, task: str) -> list[ScoreRecord]:
    return [score for _, score in open_run(run).scored(task)]


def rows_of(output: Any) -> list[dict[str, Any]]:
    return [dict(zip(output.columns, row, strict=True)) for row in output.rows]


def mean(scores: Sequence[ScoreRecord], name: str) -> float:
    return fmean(score.scores[name] for score in scores if name in score.scores)


def test_entropy_next_to_criteria(run: str) -> None:
    """Tables 3 to 5: overall is the mean of the criteria, and a story that repeats a sentence is in neither number."""
    for task, criteria in CRITERIA.items():
        scores = scores_of(run, task)
        kept = [score for score in scores if "semantic_entropy" in score.scores]
        rows = {row["criterion"]: row for row in rows_of(Performance().run([run], task=task))}
        assert list(rows) == [*criteria, "overall"]
        for row in rows.values():
            assert row["n"] == len(kept) and row["entropy"] == pytest.approx(mean(kept, "semantic_entropy"))
        assert {name: rows[name]["share"] for name in rows} == {
            name: pytest.approx(mean(kept, name)) for name in (*criteria, "overall")
        }
        assert rows["overall"]["share"] == pytest.approx(fmean(rows[name]["share"] for name in criteria))


def test_stories_that_repeat_a_sentence_are_in_the_unfiltered_numbers(run: str) -> None:
    """Table 18 next to Table 5."""
    scores = scores_of(run, "bookmia_jury_own")
    repeated = [score for score in scores if score.details["repeated_step"]]
    stays = len(scores) - len(repeated)
    assert 0 < len(repeated) < len(scores) == 10
    rows = {row["criterion"]: row for row in rows_of(Performance().run([run], task="bookmia_jury_own"))}
    for name, row in rows.items():
        assert row["n"] == len(scores) - len(repeated)
        assert row["entropy_unfiltered"] == pytest.approx(mean(scores, "semantic_entropy_unfiltered"))
        assert row["share_unfiltered"] == pytest.approx(mean(scores, f"{name}_unfiltered"))
        assert row["share"] == pytest.approx(mean(scores, name))
    metrics = {
        metric["name"].partition("[")[0]: metric for metric in open_run(run).result("bookmia_jury_own")["metrics"]
    }
    costs = {"judge_calls", "judge_input_tokens", "judge_output_tokens"}
    for name, metric in metrics.items():
        assert metric["n"] == (10 if name in costs or name.endswith("_unfiltered") else stays), name
        assert (metric["n_failed"], metric["counts"]["skipped"]) == (0, 0)
    for analysis in (Correlations(), Confounds(), Classes(), Solutions(), Tradeoff()):
        seen = rows_of(analysis.run([run], task="bookmia_jury_own"))
        if isinstance(analysis, Solutions):
            assert len(seen) == stays
        elif isinstance(analysis, Classes):
            kept = [score for score in scores if not score.details["repeated_step"]]
            assert sum(row["steps"] for row in seen) == sum(len(score.details["entropy_steps"]) for score in kept)
        else:
            assert max(row["problems"] for row in seen) == stays
    everything = rows_of(Tradeoff().run([run], task="bookmia_jury_own", unfiltered=True))
    assert {row["n"] for row in everything} == {10}
    assert any(row["entropy"] != pytest.approx(row["entropy_unfiltered"]) for row in rows.values())


def test_divergent_against_convergent(run: str, tmp_path: Path) -> None:
    """Table 20: Spearman's rho over solutions; Figures 7, 15, 16: points of so many solutions by entropy."""
    found = Tradeoff().run([run], task="macgyver_jury_own", size=4, output=str(tmp_path))
    rows = {row["criterion"]: row for row in rows_of(found)}
    scores = scores_of(run, "macgyver_jury_own")
    entropies = [score.scores["semantic_entropy"] for score in scores]
    known = 0
    for name, row in rows.items():
        values = [score.scores[name] for score in scores]
        if len(set(values)) > 1:
            rho, p = spearmanr(entropies, values)
            assert (row["rho"], row["p"]) == (pytest.approx(rho), pytest.approx(p)) and row["n"] == 10
            known += 1
    assert set(rows) == {"feasibility", "safety", "effectiveness", "overall"} and known >= 2
    lines = (tmp_path / "tradeoff-points.csv").read_text("utf-8").splitlines()[1:]
    assert [line.split(",")[-2:] for line in lines[:3]] == [["4", "False"], ["4", "False"], ["2", "True"]]
    assert (tmp_path / "tradeoff.png").read_bytes().startswith(b"\x89PNG")


def test_judges_stand_under_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 2: one row per judge and criterion, and one over all verdicts; Table 17: the base rates."""
    names = ("feasibility", "safety", "effectiveness")
    gold = [{f"gold_{name}": int((i + k) % 3 > 0) for k, name in enumerate(names)} for i in range(6)]
    docs = [{"id": f"p{i}", "problem": "Cross.", "solution": f"Swim {i}.", **gold[i]} for i in range(6)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs), "utf-8")

    def judge(request: Received) -> Answer:
        if kind_of(request.prompt)[0] != "other":
            return world(request)
        system = request.body["messages"][0]["content"]
        word = next(word for word in ("infeasible", "unsafe", "ineffective") if word in system)
        yes = word.removeprefix("un").removeprefix("in")
        return Answer(
            f"[[{word if 'Swim 0' in request.prompt else yes}]] ([{0.2 if 'Swim 0' in request.prompt else 0.9}])"
        )

    runs = []
    with ChatServer(judge) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        for task in ("jury", "jury_zero_shot"):
            resources = {"embedding": "embedded/minilm"} if task == "jury" else {}
            options = creval.RunOptions(
                output=tmp_path / task,
                data={task: tmp_path / "pairs.jsonl"},
                roles={"judge": "hosted_vllm/judge"},
                resources=resources,
            )
            creval.run([task], "given/solution", options)
            runs.append(str(tmp_path / task))
    rows = rows_of(JuryAgreement().run(runs))
    assert [(row["who"].split(" ")[0], row["criterion"]) for row in rows] == [
        (who, name) for who in ("jury", "zero_shot") for name in (*names, "all")
    ]
    for who, run in zip(("jury", "zero_shot"), runs, strict=True):
        (pooled,) = [row for row in rows if row["who"].startswith(who) and row["criterion"] == "all"]
        right = [
            score.scores[name] == gold[int(score.key.doc[1:])][f"gold_{name}"]
            for score in scores_of(run, Path(run).name)
            for name in names
        ]
        assert pooled["n"] == 18 and pooled["accuracy"] == pytest.approx(fmean(right))
        assert pooled["yes"] == pytest.approx(12 / 18)


def test_a_model_without_log_probabilities_loses_no_solution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing entropy is not the filter: every judged solution counts, also one that repeats a step."""

    def silent(request: Received) -> Answer:
        if "STOP" in request.prompt:
            return Answer(extra={"choices": choices(["Step 1: Wait."] * 10)})
        return world(request)

    with ChatServer(silent) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(
            output=tmp_path / "run",
            roles={"judge": "hosted_vllm/judge"},
            resources={"embedding": "embedded/minilm", "entailment": "exact"},
            limit=3,
        )
        creval.run(["macgyver_jury_own"], "hosted_vllm/solver", options)
    run = str(tmp_path / "run")
    scores = scores_of(run, "macgyver_jury_own")
    assert all(score.details["repeated_step"] and "semantic_entropy" in score.missing for score in scores)
    rows = rows_of(Performance().run([run]))
    assert [(row["n"], row["share"]) for row in rows] == [
        (3, pytest.approx(mean(scores, name))) for name in (*CRITERIA["macgyver_jury_own"], "overall")
    ]
    assert {row["solutions"] for row in rows_of(JuryCost().run([run]))} == {3}


def test_criteria_by_temperature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """H.1, Figure 19: every criterion at each temperature, next to the entropy of Figure 5b."""
    with ChatServer(world) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(
            output=tmp_path / "run",
            limit=3,
            roles={"judge": "hosted_vllm/judge"},
            resources={"embedding": "embedded/minilm", "entailment": "exact"},
            conditions={"temperature": [0.2, 1.3]},
        )
        creval.run(["macgyver_jury_own", "bookmia_jury_own"], "hosted_vllm/solver", options)
    run = str(tmp_path / "run")
    output = Temperature().run([run], output=str(tmp_path / "figures"))
    rows = {(row["task"], row["temperature"]): row for row in rows_of(output)}
    assert {key[1] for key in rows} == {0.2, 1.3}
    for (task, temperature), row in rows.items():
        own = [
            score
            for sample, score in open_run(run).scored(task)
            if f"{temperature:g}" in sample.key.condition and "left_out" not in (score.reason or "")
        ]
        kept = [score for score in own if "semantic_entropy" in score.scores]
        assert row["judged"] == len(kept) > 0
        for name in (*CRITERIA[task], "overall"):
            assert row[name] == pytest.approx(mean(kept, name))
        others = set().union(*CRITERIA.values()) - set(CRITERIA[task])
        assert all(row[name] is None for name in others)
    assert {Path(file).suffix for file in output.files} == {".csv", ".json", ".png", ".svg"}
