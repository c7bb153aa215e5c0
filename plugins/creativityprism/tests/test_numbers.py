"""What is computed: word sequences by hand, dimensions by hand and against the published ones."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import creval
from creval.engine.scoring.suite_results import suite_results
from creval.errors import DataError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_creativityprism.dimensions import DIMENSIONS, Dimensions, overall
from creval_creativityprism.ngrams import ngram_diversity


@pytest.mark.parametrize(
    ("text", "longest", "share"),
    [
        ("A b. A b! A", 5, (2 / 5 + 2 / 4 + 2 / 3 + 1 + 1) / 5),
        ("A b. A b!", 5, None),
        ("A b. A b!", 4, (1 / 2 + 2 / 3 + 1 + 1) / 4),
        ("no no no no no", 5, (1 / 5 + 1 / 4 + 1 / 3 + 1 / 2 + 1) / 5),
        ("no no no no no", 1, 1 / 5),
        ("one", 5, None),
        ("one", 1, 1),
        ("It's it’s", 1, 1 / 2),
        ("\u00e9te e\u0301te \u00e9\u200bte", 1, 1 / 3),
        ("...", 5, None),
        ("", 5, None),
    ],
)
def test_word_sequences_by_hand(text: str, longest: int, share: float | None) -> None:
    assert ngram_diversity(text, longest) == (None if share is None else pytest.approx(share))


@settings(max_examples=20)
@given(st.text())
def test_a_share_is_a_share(text: str) -> None:
    found = ngram_diversity(text)
    assert found is None or 0 < found <= 1


def test_the_published_overall_is_the_mean_of_the_dimensions(parity: Any) -> None:
    file = next(folder / "published.csv" for name, folder in load_plugins().task_folders if name == "creativityprism")
    models: dict[str, dict[str, float]] = defaultdict(dict)
    with file.open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            models[row["model"]][row["metric"]] = float(row["value"])
    assert len(models) == 17
    pairs = [(overall([each[name] for name in DIMENSIONS]), each["overall"]) for each in models.values()]
    assert max(abs(ours - theirs) for ours, theirs in pairs) < 0.001  # both sides are rounded to three decimals


def result(task: str, **metrics: tuple[float, float | None, float]) -> dict[str, Any]:
    """A task's part of results.json: value, standard error and top of the range by metric."""
    return {
        "task": task,
        "metrics": [
            {
                "name": name,
                "condition": None,
                "value": value,
                "standard_error": error,
                "definition": {"range": [1.0 if top == 5 else 0.0, top], "binary": False, "aggregate": None},
            }
            for name, (value, error, top) in metrics.items()
        ],
    }


TOPS = dict.fromkeys(("novelty", "coherence", "fluency", "flexibility", "originality", "elaboration"), (1, 5))
TOPS |= {"satisfied": (0, 100), "dat": (0, 100)}


def rows_of(monkeypatch: pytest.MonkeyPatch, *results: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    run = type("Stored", (), {"folder": Path("runs/prism"), "results": {"tasks": results}})()
    monkeypatch.setattr("creval_creativityprism.dimensions.open_runs", lambda runs: [run])
    return {row[2]: tuple(row[3:]) for row in Dimensions().run(["runs/prism"]).rows}


def test_dimensions_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quality: NeoCoder (.2 + .4) / 2, CS4 (.5 + .75) / 2. Novelty: NeoCoder .1, AUT .5. Diversity: DAT .8, CS4 .9."""
    rows = rows_of(
        monkeypatch,
        result("creativityprism_aut", **{"novelty[openai/gpt-4.1]": (3, 0.4, 5)}),
        result("dat", dat=(80, 2, 200)),
        result("creativityprism_cs4", satisfied=(50, 4, 100), coherence=(4, 0.2, 5), ngram_diversity=(0.9, None, 1)),
        result("neocoder_state0", convergent=(0.2, 0.03, 1), divergent=(0.1, 0.02, 1)),
        result("neocoder_state5", convergent=(0.4, 0.04, 1), divergent=(0.1, 0.02, 1)),
        result("rat", accuracy=(1, 0, 1)),
    )
    assert rows["quality"][0] == pytest.approx((0.3 + 0.625) / 2)
    assert rows["novelty"][:2] == (pytest.approx(0.3), pytest.approx((0.1**2 + 0.01**2 * 2) ** 0.5 / 2, rel=1e-2))
    assert rows["diversity"][:2] == (pytest.approx(0.85), None)
    assert rows["overall"][0] == pytest.approx((0.4625 + 0.3 + 0.85) / 3)
    assert rows["overall"][2:] == ("AUT, DAT, CS4, NeoCoder", "TTCT, TTCW, Creative Short Story, CreativeMath")
    assert rows["logical reasoning"][0] == pytest.approx((0.3 + 0.1) / 2)
    assert rows["diversity"][2:] == ("DAT, CS4", "TTCT, TTCW, Creative Short Story")


def test_the_suite_reports_the_dimensions_that_the_analysis_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both over one made-up run of all tasks, whose metrics all differ."""
    tasks = TaskIndex(load_plugins()).expand(["creativityprism"])
    counts = {"scored": 4, "skipped": 0}
    results, number = [], 0
    for task in tasks:
        metrics = {}
        for metric in task.every_metric:
            number += 1
            low, high = TOPS.get(metric.name, (0, 1))
            metrics[metric.name] = (low + (high - low) * (number * 0.137 % 1), 0.01 * (high - low), high)
        made = result(task.name, **metrics)
        for each in made["metrics"]:
            each |= {"n": 4, "clusters": 4, "cluster": "doc", "ci_low": None, "ci_high": None, "n_failed": 0}
            each |= {"counts": counts, "higher_is_better": True, "unit": None}
        digests = dict.fromkeys(("hash", "dataset", "docs_digest"), "0")
        results.append({**made, **digests, "docs": 4, "repeats": 1, "counts": counts})
    (suite,) = suite_results(tasks, results)
    rows = rows_of(monkeypatch, *results)
    assert len(suite["tasks"]) == 12 and suite["metrics"][0]["primary"] and suite["metrics"][0]["name"] == "overall"
    found = {each["name"]: each["value"] for each in suite["metrics"]}
    assert found == {name: pytest.approx(rows[name][0]) for name in ("overall", *DIMENSIONS)}
    assert all(0 < value < 1 for value in found.values())


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(monkeypatch, result("dat", dat=(90, 1, 200)))
    assert rows["diversity"] == (
        pytest.approx(0.9), pytest.approx(0.01), "DAT", "TTCT, TTCW, CS4, Creative Short Story"
    )  # fmt: skip
    assert "overall" not in rows and "quality" not in rows
    for tasks in ((result("rat", accuracy=(1, 0, 1)),), ()):
        with pytest.raises(DataError, match="no task of CreativityPrism"):
            rows_of(monkeypatch, *tasks)


def test_a_run_of_dat(tmp_path: Path, options: Any) -> None:
    chosen = options(
        resources={"embedding": "embedded/minilm"}, repeats=2, conditions={"temperature": [1.0]}, output=tmp_path / "a"
    )
    folder = creval.run(["dat"], "baseline/floor", chosen).folder
    (dimension, domain) = Dimensions().run([str(folder)]).rows
    assert dimension[2] == "diversity" and domain[2] == "divergent thinking" and 0 < dimension[3] == domain[3] < 2
