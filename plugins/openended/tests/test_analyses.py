"""Analyses of steps and solutions, on runs that were really made."""

from __future__ import annotations

import csv
import hashlib
import math
from pathlib import Path
from typing import Any

import pytest
from openended_support import choices
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.errors import CrevalError, RunError, UsageError
from creval_openended.analyses.commands import Classes, Confounds, Correlations, Steps
from creval_openended.analyses.correlation import spearman_by_problem
from creval_openended.analyses.solutions import Solutions
from creval_openended.analyses.temperature import Temperature

STEPS = (
    "Count the coins in your pocket.",
    "Wait until the sun has set.",
    "Draw a plan of the room on paper.",
    "Fill a bottle with warm water and seal it.",
    "Whistle a tune to keep your courage.",
)


def some_steps(request: Received) -> Answer:
    """A model that says few different things to some problems and many to others."""
    if "STOP" not in request.prompt:
        return Answer("Step 1: a\nStep 2: b\nStep 3: c")
    drawn = hashlib.sha256(request.prompt.encode()).digest()
    variety = 1 + drawn[0] % len(STEPS)
    texts = [STEPS[drawn[1 + i] % variety] + ("" if i % 3 else " Now.") for i in range(10)]
    return Answer(extra={"choices": choices(texts, logprob=-0.05 - drawn[20] / 200)})


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("analyses") / "run"
    with ChatServer(some_steps) as server:
        creval.run(
            tasks=["macgyver_own", "hypogen_own"],
            model="hosted_vllm/solver",
            options=creval.RunOptions(
                output=folder,
                base_url=server.url,
                conditions={"temperature": [0.5, 1.0]},
                resources={"entailment": "cosine/0.85", "embedding": "embedded/minilm"},
            ),
        )
    return str(folder)


def rows_of(output: Any) -> list[dict[str, Any]]:
    return [dict(zip(output.columns, row, strict=True)) for row in output.rows]


def test_correlations_by_step(run_folder: str) -> None:
    rows = rows_of(Correlations().run([run_folder]))
    assert {(row["task"], row["measure"]) for row in rows} == {
        (task, measure)
        for task in ("macgyver_own", "hypogen_own")
        for measure in ("cosine", "self_bleu", "distinct_1", "distinct_2")
    }
    assert all(row["n"] == 60 and row["problems"] == 10 and row["estimator"] == "semantic" for row in rows)
    cosine = next(row for row in rows if row["measure"] == "cosine")
    assert cosine["rho"] < -0.5 and cosine["low"] <= cosine["rho"] <= cosine["high"] and cosine["p"] < 1e-4


def test_correlations_by_solution(run_folder: str) -> None:
    rows = rows_of(Correlations().run([run_folder], by="solution", score=("relative_entropy",), task="macgyver_own"))
    by_name = {row["measure"]: row for row in rows}
    assert {"naive_entropy", "semantic_entropy_min", "semantic_entropy_max", "cosine"} <= set(by_name)
    assert by_name["relative_entropy"]["rho"] > 0.95 and by_name["relative_entropy"]["n"] == 20
    with pytest.raises(RunError, match="has the score 'verdict'"):
        Correlations().run([run_folder], by="solution", score=("verdict",))
    with pytest.raises(UsageError, match="'word'"):
        Correlations().run([run_folder], by="word")


def test_every_solution_with_its_interval(run_folder: str, tmp_path: Path) -> None:
    output = Solutions().run([run_folder], output=str(tmp_path))
    rows = rows_of(output)
    assert len(rows) == 40 and all(0 <= row["low"] <= row["high"] <= 2.3026 for row in rows)
    entropies = [row["entropy"] for row in rows if row["task"] == "macgyver_own"]
    assert entropies == sorted(entropies, reverse=True)
    with (tmp_path / "solutions.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 40


@pytest.mark.parametrize(
    ("analysis", "column", "values"),
    [(Steps(), "step", {1, 2, 3}), (Temperature(), "temperature", {0.5, 1.0}), (Classes(), "classes", None)],
)
def test_averages_and_their_figures(
    run_folder: str, tmp_path: Path, analysis: Any, column: str, values: set[float] | None
) -> None:
    output = analysis.run([run_folder], output=str(tmp_path))
    rows = rows_of(output)
    assert sum(row["steps"] for row in rows) == 120
    if values is not None:
        assert {row[column] for row in rows} == values
    endings = {Path(file).suffix for file in output.files}
    assert {".csv", ".json", ".png"} <= endings
    plain = analysis.run([run_folder], output=str(tmp_path / "plain"), no_plots=True)
    assert {Path(file).suffix for file in plain.files} == {".csv", ".json"}


def test_more_classes_more_entropy(run_folder: str) -> None:
    rows = rows_of(Classes().run([run_folder], task="macgyver_own"))
    assert [row["entropy"] for row in rows] == sorted(row["entropy"] for row in rows) and rows[0]["entropy"] == 0


def test_twenty_candidates_and_their_histogram(tmp_path: Path) -> None:
    """H.2, Figure 20: with n = 20 a step may have up to twenty classes, and an entropy of up to ln 20."""
    (tmp_path / "twenty.yaml").write_text(
        "schema: 1\ninclude: openended/macgyver_own\ntask: twenty\nversion: 1.0.0\n"
        "protocol: {openended.stepwise: {n: 20}}\ntests: null\n",
        "utf-8",
    )
    resources = {"entailment": "exact", "embedding": "embedded/minilm"}
    options = creval.RunOptions(output=tmp_path / "run", limit=2, resources=resources)
    creval.run([str(tmp_path / "twenty.yaml")], "baseline/ceiling", options)
    output = Classes().run([str(tmp_path / "run")], output=str(tmp_path / "out"))
    (row,) = rows_of(output)
    assert (row["classes"], row["steps"]) == (20, 4) and row["entropy"] == pytest.approx(math.log(20))
    assert "Usable candidates a step: 20 (4 steps)." in output.notes
    assert (tmp_path / "out" / "classes.png").read_bytes().startswith(b"\x89PNG")


def test_confounds(run_folder: str) -> None:
    rows = rows_of(Confounds().run([run_folder]))
    assert {row["against"] for row in rows} == {"words", "step", "candidates", "temperature"}
    assert all(row["rho"] is None for row in rows if row["against"] == "candidates")  # ten in every step


def test_a_run_of_another_kind_is_refused(tmp_path: Path) -> None:
    creval.run(tasks=["rat"], model="baseline/floor", options=creval.RunOptions(output=tmp_path / "run", limit=2))
    for analysis in (Steps(), Solutions(), Correlations()):
        with pytest.raises(CrevalError, match="macgyver, hypogen, bookmia"):
            analysis.run([str(tmp_path / "run")])


def test_spearman_and_its_p() -> None:
    pairs = list(zip([0, 0.7, 0.7, 1.1, 1.6, 2.3], [3, 1, 2, 2, 0, 0], "abcdef", strict=True))
    found = spearman_by_problem(pairs)
    assert found.rho == pytest.approx(-0.850841, abs=1e-6) and found.p == pytest.approx(0.031713, abs=1e-6)
    assert spearman_by_problem([(1, 1, "a"), (2, 1, "b"), (3, 1, "c")]).rho is None
    assert spearman_by_problem([(1, 1, "a"), (2, 1, "b")]).rho is None


def test_steps_of_one_problem_widen_the_interval() -> None:
    values = [(float(i % 7), float((i * i) % 5)) for i in range(40)]
    alone = spearman_by_problem([(x, y, str(i)) for i, (x, y) in enumerate(values)])
    tied = spearman_by_problem([(x, y, str(i)) for i, (x, y) in enumerate(values) for _ in range(5)])
    apart = spearman_by_problem([(x, y, f"{i}.{k}") for i, (x, y) in enumerate(values) for k in range(5)])
    width = lambda found: found.high - found.low  # noqa: E731
    assert tied.rho == pytest.approx(apart.rho) and width(tied) > 1.5 * width(apart)
    assert width(tied) == pytest.approx(width(alone), rel=0.3)
