"""The gate over several models: Welch, Benjamini-Hochberg, and what is reported."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.run_folders import write_run

from creval import RunOptions, run
from creval.errors import DataError, MissingPartError, RunError, UsageError
from creval_association.cdat_gate import adjusted, gated_scores, judge, random_appropriateness
from creval_association.cdat_gate_command import CdatGate


def test_benjamini_hochberg_by_hand() -> None:
    # 0.01 * 4/1, 0.02 * 4/2, 0.03 * 4/3 and 0.5: the first three meet at 0.04.
    assert adjusted([0.02, 0.5, 0.01, None, 0.03]) == pytest.approx([0.04, 0.5, 0.04, None, 0.04], nan_ok=False)
    assert adjusted([]) == [] and adjusted([None]) == [None]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_is_scipys(values: list[float]) -> None:
    assert adjusted(values) == pytest.approx(list(stats.false_discovery_control(values, method="bh")), abs=1e-12)


def test_random_lists_have_different_words() -> None:
    cosines = np.array([np.arange(10.0), np.zeros(10)])
    drawn = random_appropriateness(cosines, 200, 10, 0)
    assert drawn.shape == (400,)
    # Ten of ten different nouns have always the same mean; with repeats they would not.
    np.testing.assert_allclose(drawn[:200], 450.0)
    np.testing.assert_array_equal(drawn, random_appropriateness(cosines, 200, 10, 0))
    assert random_appropriateness(cosines, 200, 3, 1)[:200].std() > 0


def test_models_pass_when_they_are_above_chance_for_sure() -> None:
    rng = np.random.default_rng(0)
    baseline = rng.normal(10, 5, 5000)
    models = {
        "apt": (rng.normal(30, 5, 50), np.full(50, 60.0)),
        "random": (rng.normal(10, 5, 50), np.full(50, 90.0)),
        "below": (rng.normal(0, 3, 50), np.full(50, 95.0)),
        "alone": ([30.0], [70.0]),
    }
    results = judge(models, baseline, "temperature=1.0")  # type: ignore[arg-type]
    assert {r.model: r.passed for r in results} == {"apt": True, "random": False, "below": False, "alone": False}
    below = next(r for r in results if r.model == "below")
    assert below.p_adjusted is not None and below.p_adjusted < 0.001, "far below chance is significant and still fails"
    assert next(r for r in results if r.model == "alone").p is None
    apt = next(r for r in results if r.model == "apt")
    expected = stats.ttest_ind(models["apt"][0], baseline, equal_var=False)
    assert (apt.t, apt.p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))
    assert gated_scores(results) == {"apt": 60.0, "random": None, "below": None, "alone": None}


def cdat_run(folder: Path, model: str, appropriateness: float, embedding: str = "embedded/glove-6b-50d") -> str:
    """A run folder with what the analysis reads: 30 cues under two temperatures."""
    from creval_association.banks import read_jsonl

    rng = np.random.default_rng(len(model))
    rows: list[dict[str, Any]] = []
    for condition, novelty in (("temperature=1.0", 60.0), ("temperature=1.5", 70.0)):
        for row in read_jsonl("cdat_cues.jsonl")[:30]:
            value = appropriateness if condition == "temperature=1.0" else 5.0
            details = {"gate_appropriateness": value + rng.normal(0, 3)}
            record = {"doc_id": row["cue"], "condition": condition, "repeat": 0, "status": "scored"}
            rows.append({**record, "scores": {"cdat_n": novelty, "cdat_a": 1.0}, "details": details})
    rows.append({"doc_id": "x", "condition": "temperature=1.0", "repeat": 0, "status": "unparsed", "scores": {}})
    names = {"asked_instruments": {"embedding": embedding}, "instruments": {"embedding": embedding}}
    return str(write_run(folder, model, [{"task": "cdat", **names}], {"cdat": rows}))


def test_the_command_reads_runs(tmp_path: Path) -> None:
    runs = [cdat_run(tmp_path / "a", "lab/apt", 80.0), cdat_run(tmp_path / "b", "lab/chance", 6.0)]
    try:
        output = CdatGate().run(runs, offline=True)
    except MissingPartError as error:
        pytest.skip(str(error))
    rows: list[dict[str, Any]] = [dict(zip(output.columns, row, strict=True)) for row in output.rows]
    passed = {(row["model"], row["condition"]): row["passed"] for row in rows}
    assert passed["lab/apt", "temperature=1.0"] and not passed["lab/chance", "temperature=1.0"]
    assert not passed["lab/apt", "temperature=1.5"]
    assert output.data == {"cdat": {"lab/apt": 60.0, "lab/chance": None}}
    assert all(row["cues"] == 30 for row in rows if row["condition"] != "CDAT")
    assert "embedded/glove-6b-50d@sha256:" in output.notes[2] and "nouns/oewn" in output.notes[2]
    assert CdatGate().run(runs, offline=True) == output, "the same seed gives the same numbers"


def test_runs_that_cannot_be_compared(tmp_path: Path) -> None:
    one = cdat_run(tmp_path / "a", "lab/one", 80.0)
    with pytest.raises(UsageError, match="no run"):
        CdatGate().run([])
    with pytest.raises(RunError, match="no scores of 'drat'"):
        CdatGate().run([one], task="drat")
    with pytest.raises(DataError, match="different embeddings"):
        CdatGate().run([one, cdat_run(tmp_path / "b", "lab/two", 1.0, "embedded/minilm")])
    with pytest.raises(DataError, match="two runs are of the model"):
        CdatGate().run([one, cdat_run(tmp_path / "c", "lab/one", 1.0)])
    with pytest.raises(RunError, match="there is no run"):
        CdatGate().run([str(tmp_path / "none")])


MINILM = RunOptions(limit="first:6", repeats=1, seed=1, offline=True, resources={"embedding": "embedded/minilm"})


@pytest.fixture(scope="module")
def scored_with_minilm(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Runs that the product made with another embedding than the task's own."""
    base = tmp_path_factory.mktemp("gate")
    try:
        return [
            str(run(["cdat"], f"baseline/{name}", replace(MINILM, output=base / name)).folder)
            for name in ("floor", "ceiling")
        ]
    except MissingPartError as error:
        pytest.skip(str(error))


def test_random_nouns_are_measured_with_the_resource_of_the_runs(scored_with_minilm: list[str]) -> None:
    recorded = json.loads((Path(scored_with_minilm[0]) / "results.json").read_text())["tasks"][0]
    assert recorded["instruments"]["embedding"].startswith("embedded/minilm@sha256:")
    assert recorded["asked_instruments"]["embedding"] == "embedded/minilm"
    output = CdatGate().run(scored_with_minilm, offline=True, draws=20)
    assert {row[0] for row in output.rows} == {"baseline/floor", "baseline/ceiling"}
    assert recorded["instruments"]["embedding"] in output.notes[2]
    named = CdatGate().run(scored_with_minilm, offline=True, draws=20, embedding="embedded/minilm")
    assert named == output


def test_a_run_that_does_not_say_what_was_asked_is_opened_by_its_options(
    scored_with_minilm: list[str], tmp_path: Path
) -> None:
    old = Path(shutil.copytree(scored_with_minilm[0], tmp_path / "old"))
    results = json.loads((old / "results.json").read_text())
    for part in results["tasks"]:
        del part["asked_instruments"]
    (old / "results.json").write_text(json.dumps(results))
    assert CdatGate().run([str(old)], offline=True, draws=20).rows


def test_another_revision_of_the_resource_is_refused(scored_with_minilm: list[str], tmp_path: Path) -> None:
    other = Path(shutil.copytree(scored_with_minilm[0], tmp_path / "other"))
    results = json.loads((other / "results.json").read_text())
    for part in results["tasks"]:
        part["instruments"]["embedding"] = "embedded/minilm@sha256:000000000000"
    (other / "results.json").write_text(json.dumps(results))
    with pytest.raises(DataError, match="sha256:000000000000") as caught:
        CdatGate().run([str(other)], offline=True, draws=20)
    assert "creval score" in str(caught.value)


def test_a_run_named_twice_is_refused(scored_with_minilm: list[str]) -> None:
    with pytest.raises(RunError, match="named twice"):
        CdatGate().run([scored_with_minilm[0]] * 2, offline=True)
