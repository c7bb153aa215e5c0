"""The protocol `choices` in runs: what is recorded, resumed, replayed, refused; the scores of likelihoods."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.completions_server import CompletionsServer

from creval import RunOptions, open_run, run
from creval.engine.run import resume
from creval.errors import CrevalError, UsageError
from creval.types.components import ScorerInput
from creval.types.sample import CallRecord, Condition, SampleKey
from creval_likelihoods.likelihood_scores import ChoiceMass, FirstToken, LikeliestChoice, Perplexity, PerplexityMean

ROOT = Path(__file__).resolve().parents[3]
LIKELIEST = str(ROOT / "examples" / "tasks" / "likeliest.yaml")
PERPLEXITY = str(ROOT / "examples" / "tasks" / "perplexity.yaml")


def written(folder: Path, protocol: str, rows: list[dict[str, Any]], more: str = "") -> str:
    """Return the path of a task over these rows."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = f"""schema: 1
task: mine
version: 1.0.0
title: A task
dataset: {{source: file, file: rows.jsonl}}
prompt: [{{role: user, content: "{{{{ question }}}}"}}]
protocol: {protocol}
score: likeliest_choice
metrics: [{{name: acc, failed: exclude}}]
baselines: {{floor: any_choice, ceiling: target}}
{more}"""
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return str(folder / "mine.yaml")


FORMS: dict[str, tuple[str, dict[str, Any], list[tuple[str, str]]]] = {
    "a field of texts": ("choices", {"choices": ["x", "yy"], "target": 1}, [("A", " x"), ("B", " yy")]),
    "letters of the doc": (
        "choices",
        {"choices": ["x", "yy"], "letters": ["1", "2"], "target": "2"},
        [("1", " x"), ("2", " yy")],
    ),
    "two lists": (
        "{choices: options}",
        {"options": {"text": ["x", "yy"], "label": ["P", "Q"]}, "target": "Q"},
        [("P", " x"), ("Q", " yy")],
    ),
    "label and text": (
        "{choices: {choices: options, delimiter: ''}}",
        {"options": [{"label": "P", "text": "x"}, {"label": "Q", "text": "yy"}], "target": "Q"},
        [("P", "x"), ("Q", "yy")],
    ),
    "the task's own": ("{choices: {choices: ['no', 'yes']}}", {"target": "yes"}, [("no", " no"), ("yes", " yes")]),
    "the task's own with labels": (
        "{choices: {choices: [{label: N, text: 'no'}, {label: Y, text: 'yes'}]}}",
        {"target": ["Y"]},
        [("N", " no"), ("Y", " yes")],
    ),
    "labels beside": (
        "{choices: {choices: options, labels: names}}",
        {"options": ["x", "yy"], "names": ["u", "v"], "target": "v"},
        [("u", " x"), ("v", " yy")],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_choices_come_from_a_field_or_the_task_with_or_without_labels(form: str, tmp_path: Path) -> None:
    protocol, row, pairs = FORMS[form]
    task = written(tmp_path, protocol, [{"question": "Which?", **row}])
    with CompletionsServer() as server:
        done = run([task], "chat/m", RunOptions(base_url=server.url, output=tmp_path / "run"))
    (sample,) = open_run(done.folder).samples()
    (recorded,) = sample.calls
    assert recorded.reply is not None
    assert [(each.text) for each in recorded.reply.completions] == [text for _, text in pairs]
    assert [each["label"] for each in sample.outcome["choices"]] == [label for label, _ in pairs]
    assert recorded.output == "loglikelihood"
    assert recorded.messages == [{"role": "user", "content": "Which?"}]
    best = max(sample.outcome["choices"], key=lambda each: each["logprob"])
    assert list(sample.answers) == [best["label"]]
    ceiling = run([task], "baseline/ceiling", RunOptions(output=tmp_path / "best"))
    assert ceiling.metrics("mine")["acc"]["value"] == 1.0


def test_a_resumed_run_pays_for_no_sample_twice_and_a_replay_gives_the_same(tmp_path: Path) -> None:
    options = RunOptions(output=tmp_path / "run", concurrency=1, max_calls=2)
    with CompletionsServer() as server:
        first = run([LIKELIEST], "chat/m", RunOptions(**{**_fields(options), "base_url": server.url}))
        assert first.status == "budget"
        resumed = resume(tmp_path / "run", max_calls=10)
        sent = [json.dumps(body["prompt"]) for body in server.of("/v1/completions")]
    assert len(sent) == len(set(sent)) == 4
    replayed = run([LIKELIEST], f"replay/{tmp_path / 'run'}", RunOptions(output=tmp_path / "again"))
    ours = {name: each["value"] for name, each in replayed.metrics("likeliest").items()}
    results = json.loads((tmp_path / "run" / "results.json").read_text())["tasks"][0]["metrics"]
    assert ours == {each["name"]: each["value"] for each in results}
    assert resumed is not None


def _fields(options: RunOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in options.__dataclass_fields__}


@pytest.mark.parametrize("model", ["openrouter/a/b", "ollama_chat/m", "openai/gpt-5-mini"])
@pytest.mark.parametrize("task", [LIKELIEST, PERPLEXITY])
def test_a_model_that_cannot_is_refused_before_the_first_call_with_those_that_can(
    task: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "OPENROUTER"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-for-a-test")
    with pytest.raises(UsageError, match="returns no log-likelihoods of given texts") as caught:
        run([task], model, RunOptions(output=tmp_path / "run"))
    assert "hosted_vllm/" in str(caught.value.fix)
    assert "chat/" in str(caught.value.fix)


@pytest.fixture
def no_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without creval-likelihoods."""
    monkeypatch.setenv("CREVAL_PLUGINS", "")
    monkeypatch.setattr("creval.plugins.distributions.installed_version", lambda name: None)


def test_a_task_without_the_distribution_gets_the_line_that_installs_it(no_distribution: None, tmp_path: Path) -> None:
    more = "metrics: [{name: acc, aggregate: perplexity, failed: exclude}]\n"
    task = Path(written(tmp_path, "choices", [{"question": "Which?", "choices": ["a", "b"], "target": 0}]))
    task.write_text(task.read_text().replace("metrics: [{name: acc, failed: exclude}]\n", more))
    with pytest.raises(CrevalError) as caught:
        run([str(task)], "baseline/floor", RunOptions(output=tmp_path / "run"))
    for lacking in ("protocol 'choices'", "scorer 'likeliest_choice'", "baseline 'any_choice'"):
        assert f"the {lacking} is part of creval-likelihoods, which is not installed" in str(caught.value)
    assert "pip install creval-likelihoods" in str(caught.value)


PROTOCOL = """
from creval.plugin import LoglikelihoodRequest


class Ask:
    async def run(self, session):
        await session.loglikelihood([LoglikelihoodRequest("", "text")])
"""
HOOKS = """
from creval.plugin import hookimpl


@hookimpl
def creval_components(registry):
    registry.add("protocol", "ask", "creval_asking_parts:Ask", "asks", loglikelihood=True)
"""


def test_the_core_alone_says_what_gives_a_server_log_likelihoods(
    no_distribution: None, install: Any, tmp_path: Path
) -> None:
    install("asking", HOOKS, PROTOCOL)
    task = Path(written(tmp_path, "ask", [{"question": "Which?", "target": "a"}]))
    text = task.read_text().replace("likeliest_choice", "exact_match").replace("name: acc,", "name: exact_match,")
    task.write_text(text.replace("any_choice", "target"))
    with pytest.raises(UsageError, match="returns no log-likelihoods") as caught:
        run([str(task)], "chat/m", RunOptions(base_url="http://localhost:9/v1", output=tmp_path / "run"))
    assert caught.value.fix == "pip install creval-likelihoods"


def test_by_reference_the_run_holds_none_of_the_docs_texts(tmp_path: Path) -> None:
    row = {"question": "Which?", "choices": ["pistachio", "marzipan"], "target": 1}
    task = written(tmp_path, "choices", [row], "store: reference\n")
    with CompletionsServer() as server:
        done = run([task], "chat/m", RunOptions(base_url=server.url, output=tmp_path / "run"))
    stored = "".join(file.read_text() for file in (tmp_path / "run").rglob("*.jsonl"))
    assert "pist" not in stored
    assert "zip" not in stored
    assert done.metrics("mine")["acc"]["value"] in (0.0, 1.0)


def test_a_run_states_the_length_of_its_models_context(tmp_path: Path) -> None:
    row = {"question": "many words " * 20, "choices": ["a", "b"], "target": 0}
    task = written(tmp_path, "{choices: {context_length: 30}}", [row])
    with CompletionsServer() as server:
        options = RunOptions(base_url=server.url, output=tmp_path / "run", generation={"extra": {"context_length": 12}})
        done = run([task], "chat/m", options)
        (body,) = server.of("/v1/completions")
    assert [len(prompt) for prompt in body["prompt"]] == [11, 11]
    assert done.results["tasks"][0]["flags"] == {"context_cut": 1}


def test_a_prompt_of_several_messages_is_refused(tmp_path: Path) -> None:
    task = written(tmp_path, "choices", [{"question": "Which?", "choices": ["a", "b"], "target": 0}])
    text = Path(task).read_text().replace("prompt: [", "prompt: [{role: system, content: Hello.}, ")
    Path(task).write_text(text)
    with CompletionsServer() as server, pytest.raises(CrevalError, match="a prompt of one message of text"):
        run([task], "chat/m", RunOptions(base_url=server.url, output=tmp_path / "run"))
    assert server.requests == []


def scored(doc: dict[str, Any], outcome: dict[str, Any], *calls: CallRecord) -> ScorerInput:
    return ScorerInput(SampleKey("t", "0", "d", 0), doc, Condition("d"), (), (), outcome, (), calls)


def choices(*rows: tuple[str, float, int, int, int]) -> dict[str, Any]:
    names = ("label", "logprob", "characters", "bytes", "tokens")
    return {"choices": [dict(zip(names, row, strict=True)) for row in rows]}


def test_each_norm_divides_by_its_own_length() -> None:
    outcome = choices(("A", -4.0, 2, 8, 5), ("B", -6.0, 6, 7, 6), ("C", -7.0, 4, 14, 2), ("D", -9.0, 5, 5, 20))
    for target, name in enumerate(("acc", "acc_norm", "acc_norm_bytes", "acc_norm_tokens")):
        (score,) = LikeliestChoice().score([scored({"target": target}, outcome)], None)  # type: ignore[arg-type]
        hits = {each for each, value in score.scores.items() if value == 1.0}
        best = max(range(4), key=[-4.0, -1.0, -0.5, -0.45].__getitem__)
        assert (name in hits) == (target == {"acc": 0, "acc_norm": 1, "acc_norm_bytes": 0, "acc_norm_tokens": 3}[name])
        assert best == 3


@pytest.mark.parametrize(("target", "right"), [("B", 1.0), (1, 1.0), ("A", 0.0), (["A", "B"], 1.0), (0, 0.0)])
def test_a_target_is_a_label_or_a_place(target: Any, right: float) -> None:
    outcome = choices(("A", -4.0, 1, 1, 1), ("B", -3.0, 1, 1, 1))
    (score,) = LikeliestChoice().score([scored({"target": target}, outcome)], None)  # type: ignore[arg-type]
    assert score.scores["acc"] == right


@pytest.mark.parametrize("target", ["Z", 2, -1, True, None, []])
def test_a_target_that_is_no_choice_is_an_error_of_the_task(target: Any) -> None:
    outcome = choices(("A", -4.0, 1, 1, 1), ("B", -3.0, 1, 1, 1))
    (score,) = LikeliestChoice().score([scored({"target": target}, outcome)], None)  # type: ignore[arg-type]
    assert score.errored


@pytest.mark.parametrize(
    ("target", "logprobs", "mass"),
    [
        (["A", "B"], (-1.0, -2.0, -3.0), (math.exp(-1) + math.exp(-2)) / (math.exp(-1) + math.exp(-2) + math.exp(-3))),
        ("C", (-1.0, -2.0, -3.0), math.exp(-3) / (math.exp(-1) + math.exp(-2) + math.exp(-3))),
        ([0, 1], (-2000.0, -2001.0, -2001.0), (1 + math.exp(-1)) / (1 + 2 * math.exp(-1))),  # long choices
    ],
)
def test_the_mass_of_the_right_choices(target: Any, logprobs: Sequence[float], mass: float) -> None:
    rows = [(label, value, 1, 1, 1) for label, value in zip("ABC", logprobs, strict=True)]
    (found,) = ChoiceMass().score([scored({"target": target}, choices(*rows))], None)  # type: ignore[arg-type]
    assert found.scores["choice_mass"] == pytest.approx(mass, abs=1e-12)
    (none,) = ChoiceMass().score([scored({"target": "Z"}, choices(*rows))], None)  # type: ignore[arg-type]
    assert none.errored


def test_perplexity_is_pooled_over_texts_by_their_lengths() -> None:
    import numpy as np

    from creval.scoring.clusters import Clusters

    rows = [(-30.0, 5, 40), (-7.0, 2, 9)]
    items = [scored({}, {"logprob": at, "words": words, "bytes": size}) for at, words, size in rows]
    scores = Perplexity().score(items, None)  # type: ignore[arg-type]
    values = np.array([each.scores["word_nll"] for each in scores])
    clusters = Clusters(values, None, weights=np.array([each.scores["words"] for each in scores]))
    assert PerplexityMean().value(clusters) == pytest.approx(math.exp(37 / 7))
    assert scores[0].scores["bits_per_byte"] == pytest.approx(30 / 40 / math.log(2))


def test_the_first_token_counts_each_spelling_of_a_letter() -> None:
    tops = [["The", -0.2], [" B", math.log(0.06)], ["A", math.log(0.08)], ["B", math.log(0.04)], ["b", -1.0]]
    reply = {"completions": [{"text": "The", "finish_reason": "length", "logprobs": [["The", -0.2, tops]]}]}
    call = CallRecord("target", 0, [], reply | {"usage": {}, "cost": None})
    doc = {"letters": ["A", "B", "C"], "target": "B"}
    (score,) = FirstToken().score([scored(doc, {}, call)], None)  # type: ignore[arg-type]
    assert score.scores == pytest.approx(
        {"first_token": 1.0, "first_token_probability": 10 / 18, "first_token_mass": 0.18}
    )
