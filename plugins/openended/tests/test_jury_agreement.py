"""Judges held against people: worked values, the labelled MacGyver solutions, and tables out of runs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_support import kind_of
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.plugin import DataError, SampleKey
from creval_openended.published.macgyver_labels import RESULTS_SHA256, labelled_effectiveness, labelled_feasibility
from creval_openended.validation.agreement import JuryAgreement, pairwise_kappas, threshold_accuracies
from creval_openended.validation.cost import JuryCost, saving
from creval_openended.validation.judged import Judged
from creval_openended.validation.labels import Labels, Place, majority, read_labels
from creval_openended.validation.performance import Performance, overall
from creval_openended.validation.rejection import area_under_rejection, area_under_rejection_released
from creval_openended.validation.tradeoff import Point, Tradeoff, _rho, binned

TABLE_16 = {(1, 2): 0.113, (1, 3): 0.221, (1, 4): 0.244, (1, 5): 0.118, (2, 3): 0.194, (2, 4): 0.209, (2, 5): 0.302}
TABLE_16 |= {(3, 4): 0.311, (3, 5): 0.244, (4, 5): 0.346}
SHARES = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40)


@given(SHARES)
def test_the_area_lies_between_0_and_1_and_does_not_depend_on_the_order(pairs: list[tuple[bool, float]]) -> None:
    correct, sure = zip(*pairs, strict=True)
    area = area_under_rejection(correct, sure)
    turned = area_under_rejection(correct[::-1], sure[::-1])
    assert area is not None and 0 <= area <= 1 and area == pytest.approx(turned)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.floats(0, 1))
def test_equal_confidences_give_the_accuracy(correct: list[bool], sure: float) -> None:
    assert area_under_rejection(correct, [sure] * len(correct)) == pytest.approx(sum(correct) / len(correct))


def test_areas_by_hand() -> None:
    right = [True, False, True, True, False, True]
    assert area_under_rejection(right, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]) == pytest.approx(
        (1 + 1 / 2 + 2 / 3 + 3 / 4 + 3 / 5 + 4 / 6) / 6
    )
    assert area_under_rejection(right, [0.9, 0.9, 0.7, 0.7, 0.7, 0.7]) == pytest.approx(
        (0.5 + 0.5 + (1 + 0.75) / 3 + (1 + 1.5) / 4 + (1 + 2.25) / 5 + 4 / 6) / 6
    )
    assert area_under_rejection([], []) is None and area_under_rejection_released([], []) is None


def test_six_verdicts_under_both_readings_of_the_area() -> None:
    """.5653 and .7250 for the same six verdicts, which are nowhere printed and were found by search.

    Of verdicts with confidences of one decimal from .5 on, ten patterns of yes and right give both numbers. All of them
    end with a wrong NO at .5, which the released code reads as YES; this is the one with the most YES.
    """
    said = [True, True, True, True, True, False]
    gold = [True, False, True, True, False, True]
    sure = [0.9, 0.9, 0.8, 0.7, 0.7, 0.5]
    right = [one == truth for one, truth in zip(said, gold, strict=True)]
    probability = [c if one else 1 - c for one, c in zip(said, sure, strict=True)]
    assert area_under_rejection(right, sure) == pytest.approx(0.5653, abs=5e-5)
    assert area_under_rejection_released(gold, probability) == pytest.approx(0.7250, abs=5e-5)


def test_the_printed_numbers() -> None:
    assert saving(23_758 + 3_796, 66_944 + 8_634) == pytest.approx(0.635423, abs=1e-6)
    assert sum(TABLE_16.values()) / 10 == pytest.approx(0.2302)
    assert overall([0.82, 0.86, 0.21]) == pytest.approx(0.63, abs=0.005)  # GPT-4o, Table 3
    assert overall([0.47, 0.39, 0.49]) == pytest.approx(0.450, abs=5e-4)  # Table 18 prints .43 ...
    assert overall([0.25, 0.30, 0.22]) == pytest.approx(0.257, abs=5e-4)  # ... and .28
    accuracies = [127, 124, 122, 120, 115, 99, 98, 83]
    printed = "84.7 82.7 81.3 80.0 76.7 66.0 65.3 55.3"
    assert " ".join(f"{100 * right / 150:.1f}" for right in accuracies) == printed


def labels(**by: str) -> Labels:
    return Labels({name: {Place(str(i), "safety"): mark == "1" for i, mark in enumerate(m)} for name, m in by.items()})


def test_kappa_of_pairs_and_the_majority_without_oneself() -> None:
    found = labels(a="11001011", b="10001111", c="11001111")
    assert pairwise_kappas(found)["a", "b"] == pytest.approx(0.466667, abs=1e-6)
    assert [found.gold[Place(str(i), "safety")] for i in range(8)] == [mark == "1" for mark in "11001111"]
    assert Place("1", "safety") not in found.without("c")  # the others disagree: there is no majority
    assert majority([True, False]) is None and majority([True, True, False]) is True


def test_labels_of_files_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("doc,criterion,label,annotator\nd1,safety,1,a\nd1,safety,no,b\n", "utf-8")
    assert read_labels(file, [], []).by == {"a": {Place("d1", "safety"): True}, "b": {Place("d1", "safety"): False}}
    for text, what in (
        ("doc,criterion,label\nd1,safety,7\n", "not a label"),
        ("doc,criterion,label\n,safety,1\n", "no 'doc'"),
        ("doc,criterion,label\nd1,safety,1\nd1,safety,0\n", "twice"),
    ):
        file.write_text(text, "utf-8")
        with pytest.raises(DataError, match=what):
            read_labels(file, [], [])
    with pytest.raises(DataError, match="there are no labels"):
        read_labels(None, [], [])


def judged(doc: str, means: tuple[float, float], verdicts: tuple[bool, bool]) -> Judged:
    stages = [{"mean": mean, "verdict": verdict} for mean, verdict in zip(means, verdicts, strict=True)]
    return Judged("jury", Place(doc, "safety"), SampleKey("t", doc, "", 0), verdicts[0], means[0], stages)


def test_one_run_with_a_verdict_after_each_round_serves_every_threshold() -> None:
    gold = {Place("1", "safety"): True, Place("2", "safety"): True}
    curve = threshold_accuracies([judged("1", (0.4, 0.9), (False, True)), judged("2", (0.6, 0.7), (True, False))], gold)
    assert list(curve) == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    assert list(curve.values()) == [0.5, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5]  # a mean of 0.4 does not exceed 0.4


@given(st.lists(st.tuples(st.floats(0, 2.3), st.sampled_from([0.0, 1.0])), min_size=1, max_size=70))
def test_points_of_the_figure(pairs: list[tuple[float, float]]) -> None:
    bins = binned([Point(entropy, score, str(i)) for i, (entropy, score) in enumerate(pairs)])
    assert sum(each.n for each in bins) == len(pairs) and all(each.n == 15 for each in bins[:-1])
    assert [each.entropy for each in bins] == sorted(each.entropy for each in bins)
    assert sum(each.score * each.n for each in bins) == pytest.approx(sum(score for _, score in pairs))


def test_three_hundred_solutions_make_twenty_points() -> None:
    assert len(binned([Point(0.1, 1, str(i)) for i in range(300)])) == 20


@pytest.fixture(scope="module")
def rows(reference_data: Path) -> list[dict[str, Any]]:
    text = (reference_data / "macgyver" / "problem_solution_pair.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def results(reference_data: Path) -> Any:
    return json.loads((reference_data / "macgyver" / "benchmark_results.json").read_text("utf-8"))


def test_the_labelled_solutions_and_their_traps(rows: list[dict[str, Any]], results: Any, reference_data: Path) -> None:
    from creval.plugin.data import sha256_of

    assert sha256_of(reference_data / "macgyver" / "benchmark_results.json") == RESULTS_SHA256
    assert Counter(type(row["ID"]) for row in rows) == {str: 1306, int: 377}
    solvable = {str(row["ID"]): row["Solvable?"] == "Yes" for row in rows}
    assert Counter(solvable[name] for name in results) == {True: 284, False: 39}
    feasible, effective = labelled_feasibility(rows), labelled_effectiveness(rows, results)
    assert Counter(doc["gold_feasibility"] for doc in feasible) == {1: 803, 0: 491}
    assert Counter(doc["gold_effectiveness"] for doc in effective) == {1: 2316, 0: 1130}
    for docs in (feasible, effective):
        assert len({doc["id"] for doc in docs}) == len(docs) and all(doc["solution"] and doc["problem"] for doc in docs)


USUAL = {
    "start": "[[POINT]] Rope holds. [[POINT]] The steps follow.",
    "turn": "[[General thoughts/opinion]]: It holds.",
    "confidence": "Thus, [[0.8]]. ([YES])",
    "verdict": "[[YES]] It holds.",
}

MINILM = {"embedding": "embedded/minilm"}


def usual(request: Received) -> Answer:
    return Answer(USUAL[kind_of(request.prompt)[0]])


def is_drawn(file: Path, files: Any) -> bool:
    """Whether an analysis names this plot and it is a picture."""
    return str(file) in files and file.read_bytes().startswith(b"\x89PNG")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Runs of the jury, of ChatEval after each of three rounds, and of a domain with its entropy."""
    folder = tmp_path_factory.mktemp("judged")
    data = folder / "pairs.jsonl"
    docs = [{"id": f"p{i}", "problem": "Cross.", "solution": f"Swim {i}.", "gold_safety": i % 2} for i in range(2)]
    data.write_text("".join(json.dumps(doc) + "\n" for doc in docs), "utf-8")
    chateval = folder / "three.yaml"
    chateval.write_text(
        "schema: 1\ninclude: openended/jury_chateval\ntask: three\nversion: 1.0.0\nscore:\n  - openended.chateval:\n"
        "      rounds: 3\n      curve: true\n      criteria: [{name: safety, definition: Nobody is hurt.}]\n"
        "metrics: [{name: safety, failed: exclude}]\ntests: null\n",
        "utf-8",
    )
    found = {}
    with pytest.MonkeyPatch.context() as patch, ChatServer(usual) as server:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        for name, task, model, own in (
            ("jury", "jury", "given/solution", {"data": {"jury": data}}),
            ("chateval", str(chateval), "given/solution", {"data": {"three": data}}),
            ("domain", "macgyver_jury_own", "baseline/ceiling", {"limit": "first:3"}),
        ):
            resources = {"jury": MINILM, "chateval": {}, "domain": {**MINILM, "entailment": "exact"}}[name]
            options = creval.RunOptions(
                output=folder / name, resources=resources, roles={"judge": "hosted_vllm/judge"}, **own
            )
            creval.run([task], model, options)
            found[name] = str(folder / name)
    return found


def test_agreement_with_the_labels_of_the_docs(runs: dict[str, str], tmp_path: Path) -> None:
    found = JuryAgreement().run([runs["jury"]], output=tmp_path, no_plots=True)
    (row,) = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert (row["criterion"], row["n"], row["accuracy"], row["yes"]) == ("safety", 2, 0.5, 0.5)
    assert row["who"] == "jury (hosted_vllm/judge)" and row["AUARC"] == 0.5


def test_annotators_are_next_to_judges(runs: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    lines = [f"{doc},safety,1,{who}" for doc in ("p0", "p1") for who in "abc"]
    file.write_text("doc,criterion,label,annotator\n" + "\n".join(lines[:-1]) + "\np1,safety,0,c\n", "utf-8")
    found = JuryAgreement().run([runs["jury"]], labels=str(file), output=tmp_path, no_plots=True)
    rows = {row[0]: dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert rows["c"]["accuracy"] == 0.5 and rows["c"]["others"] == 0.5 and rows["a"]["others_n"] == 1
    assert rows["jury (hosted_vllm/judge)"]["accuracy"] == 1
    assert (tmp_path / "pairwise-kappa.csv").read_text("utf-8").startswith("annotator,a,b,c")


def test_what_judging_takes_and_saves_by_rounds(runs: dict[str, str]) -> None:
    found = JuryCost().run([runs["jury"], runs["chateval"]])
    rows = {(row[0], row[2]): dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert rows["jury", "all"]["calls"] == 26 and rows["jury", "verdict"]["calls"] == 3
    whole = [rows[f"chateval, {n}", "all"] for n in ("1 round", "2 rounds", "3 rounds")]
    assert [row["calls"] for row in whole] == [9, 12, 15]
    assert [row["saving"] for row in whole] == sorted(row["saving"] for row in whole)


def test_tables_of_entropy_and_criteria(runs: dict[str, str], tmp_path: Path) -> None:
    found = Performance().run([runs["domain"]])
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert [row["criterion"] for row in rows] == ["feasibility", "safety", "effectiveness", "overall"]
    assert rows[0]["entropy"] == pytest.approx(2.302585, abs=1e-5) and rows[3]["share"] == 1
    models = tmp_path / "models.csv"
    models.write_text("model,family,place\nbaseline/ceiling,Players,7\n", "utf-8")
    drawn = Performance().run([runs["domain"]], models=str(models), output=str(tmp_path / "out"))
    assert is_drawn(tmp_path / "out" / "performance.png", drawn.files)


def test_divergent_against_convergent(runs: dict[str, str], tmp_path: Path) -> None:
    found = Tradeoff().run([runs["domain"]], output=str(tmp_path))
    assert [row[2] for row in found.rows] == ["effectiveness", "feasibility", "overall", "safety"]
    assert all(row[3] == 3 and row[5] is None for row in found.rows)  # verdicts are all the same: no rho
    assert is_drawn(tmp_path / "tradeoff.png", found.files)
    assert _rho(("t", "m", "c", 9, 3, -0.5, -0.75, 0.25, 0.1)) == "ρ = -0.50 [-0.75, +0.25]"
    assert _rho(("t", "m", "c", 9, 3, -0.5, None, None, None)) == "ρ = -0.50"
    points = (tmp_path / "tradeoff-points.csv").read_text("utf-8").splitlines()
    assert len(points) == 5 and points[1].endswith("True")


CURVE = """\
schema: 1
include: openended/jury
task: curved
version: 1.0.0
score:
  - openended.jury: {curve: true, criteria: [{name: safety, definition: Nobody is hurt.}]}
metrics: [{name: safety, failed: exclude}]
tests: null
"""


def test_accuracy_by_threshold_is_drawn_from_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figure 12: of two solutions one discussion is unsure and right first, the other one sure and right first."""
    docs = [{"id": f"p{i}", "problem": "Cross.", "solution": f"Swim {i}.", "gold_safety": i} for i in range(2)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs), "utf-8")
    (tmp_path / "curved.yaml").write_text(CURVE, "utf-8")
    said = {
        ("0", "confidence"): ["[[0.4]]"] * 3 + ["[[0.9]]"] * 3,
        ("1", "confidence"): ["[[0.6]]"] * 3 + ["[[0.7]]"] * 3,
        ("0", "verdict"): ["[[NO]]", "[[YES]]"],
        ("1", "verdict"): ["[[YES]]", "[[NO]]"],
    }

    def judge(request: Received) -> Answer:
        kind = kind_of(request.prompt)[0]
        prepared = said.get(("0" if "Swim 0." in request.prompt else "1", kind))
        if prepared:
            return Answer(prepared.pop(0))
        # each turn in words of its own, so that the second round's judges see another discussion
        return Answer(f"[[Opinion]]: Point {len(server.requests)}.") if kind == "turn" else usual(request)

    with ChatServer(judge) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        data = {"curved": tmp_path / "pairs.jsonl"}
        options = creval.RunOptions(
            output=tmp_path / "run", resources=MINILM, roles={"judge": "hosted_vllm/judge"}, data=data
        )
        creval.run([str(tmp_path / "curved.yaml")], "given/solution", options)
        assert len(server.requests) == 2 * (2 + 1 + 2 * 7) and not any(said.values())
    found = JuryAgreement().run([str(tmp_path / "run")], output=str(tmp_path / "out"))
    assert is_drawn(tmp_path / "out" / "jury-agreement.png", found.files)
    points = "0.3: 1.000, 0.4: 0.500, 0.5: 0.500, 0.6: 0.000, 0.7: 0.000, 0.8: 0.000, 0.9: 0.000"
    assert any(points in note for note in found.notes)
