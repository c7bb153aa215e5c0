"""Runs offline: floor and ceiling, the analyses over them, and the prompts that are fetched."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import creval
from creval.cli.main import invoke
from creval.errors import CrevalError
from creval.plugin.data import DataOptions
from creval.plugin.statistics import estimate_mean
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_diversity.analyses import collapse
from creval_diversity.analyses.across import Across, drawn, mean_cosine
from creval_diversity.analyses.collapse import Collapse
from creval_diversity.analyses.given_utility import GivenUtility
from creval_diversity.prompts import FOLDER, open_prompts
from creval_testing.task_examples import run_examples

pytest.importorskip("creval_embedded")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The floor and the ceiling of two prompts."""
    base = tmp_path_factory.mktemp("runs")
    for name in ("floor", "ceiling"):
        options = creval.RunOptions(limit=2, seed=1, offline=True, output=base / name)
        creval.run(["diversity_own_conditions"], f"baseline/{name}", options)
    return [str(base / name) for name in ("floor", "ceiling")]


def test_collapse(runs: list[str], tmp_path: Path) -> None:
    found = Collapse().run(runs, output=str(tmp_path / "figures"))
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert len(rows) == 8 and {row["condition"] for row in rows} == {
        f"verbalised={said},temperature={warm}" for said in ("false", "true") for warm in ("0.7", "1.0")
    }
    for row in rows:
        ceiling = row["model"] == "baseline/ceiling"
        assert row["classes_embedding"] == row["classes_exact"] == (10 if ceiling else 1)
        assert row["similarity"] < 0.2 if ceiling else row["similarity"] == pytest.approx(1)
    assert sorted(Path(file).suffix for file in found.files) == [".csv", ".json", ".png", ".svg"]


def test_each_interval_of_the_table_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known: list[Any] = []
    monkeypatch.setattr(type(collapse.FIGURES), "save", lambda self, figure, base: known.append(figure) or [])
    one = estimate_mean([1.0, 2.0, 4.0, 8.0])
    collapse._plot({("t", "m", f"temperature={warm}"): {"classes_exact": one} for warm in (0, 1)}, ["classes_exact"])(
        tmp_path / "x"
    )
    (bars,) = known[0].axes[0].containers
    ends = [part[:, 1].tolist() for part in bars.lines[2][0].get_segments()]
    assert ends == [pytest.approx([one.ci_low, one.ci_high])] * 2


def test_across(runs: list[str], tmp_path: Path) -> None:
    found = Across().run(runs, output=str(tmp_path), offline=True, no_plots=True)
    rows = {tuple(row[1:4]): row[5] for row in found.rows}
    assert len(found.rows) == 12
    for condition in {key[0] for key in rows}:
        within = rows[condition, "baseline/floor", "baseline/floor"]
        apart = rows[condition, "baseline/ceiling", "baseline/ceiling"]
        between = rows[condition, "baseline/floor", "baseline/ceiling"]
        assert within == pytest.approx(1) and apart < 0.2
        assert 0.1 < between < 0.3  # one of its ten answers is the floor's
    assert (tmp_path / "across.csv").is_file()
    names = ["baseline/floor", "baseline/ceiling"]
    assert [file.suffix for file in drawn(names, found.rows[:3])(tmp_path / "one")] == [".png", ".svg"]


def test_the_command(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["analyse", "diversity-across", *runs, "--offline"]) == 0
    assert "Similarity of answers within and across models" in capsys.readouterr().out


def test_mean_cosine_by_hand() -> None:
    one, other = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([[1.0, 0.0]])
    assert mean_cosine(one) == pytest.approx(1 / 3)
    assert mean_cosine(one, other) == pytest.approx(2 / 3)
    assert mean_cosine(other) is None and mean_cosine(one, other[:0]) is None


def test_utility_from_a_file(runs: list[str], tmp_path: Path) -> None:
    docs = {sample.key.doc for sample in creval.open_run(runs[0]).samples()}
    file = tmp_path / "q.csv"
    lines = [f"{doc},{repeat},{-9 if repeat else 5}" for doc in docs for repeat in range(10)]
    file.write_text("doc,repeat,reward\n" + "\n".join(lines) + "\n")
    found = GivenUtility().run(runs, qualities=str(file))
    weights = [0.8**place for place in range(10)]
    expected = {"baseline/floor": 10 / sum(weights), "baseline/ceiling": (9 + sum(weights)) / sum(weights)}
    assert len(found.rows) == 8
    for row in found.rows:
        assert row[3] == "classes_embedding" and row[5] == pytest.approx(expected[row[1]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("doc,repeat,quality\nlighthouse,0,11\n", "not from 1 to 10"),
        ("doc,repeat,quality\nlighthouse,0,3\nlighthouse,0,3\n", "two qualities"),
        ("doc,quality\nlighthouse,3\n", "cannot be read"),
        ("doc,repeat,quality\nlighthouse,0,high\n", "cannot be read"),
        ("doc,repeat,quality\nlighthouse,0,3\n", "no quality of doc"),
    ],
)
def test_faulty_qualities_are_refused(text: str, said: str, runs: list[str], tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    file.write_text(text)
    with pytest.raises(CrevalError, match=said):
        GivenUtility().run(runs[1:], qualities=str(file))


@pytest.fixture
def cache(tmp_path: Path, reference_data: Path) -> Path:
    """A cache that holds the curated prompts as they are fetched."""
    kept = tmp_path / "cache" / "data" / FOLDER / "data"
    kept.mkdir(parents=True)
    shutil.copy(reference_data / "noveltybench" / "curated.jsonl", kept / "curated.jsonl")
    return tmp_path / "cache"


def rows_of(cache: Path, choice: Any) -> list[Any]:
    return list(open_prompts(choice, base=cache, options=DataOptions(cache=cache, offline=True)))


def test_the_curated_prompts_are_those_of_the_pin(cache: Path, reference_data: Path) -> None:
    rows = rows_of(cache, "curated")
    lines = (reference_data / "noveltybench" / "curated.jsonl").read_text("utf-8").splitlines()
    assert [row["prompt"] for row in rows] == [json.loads(line)["prompt"] for line in lines]
    assert set(rows[0]) == {"id", "prompt", "category"} and len(rows) == 100


@pytest.mark.parametrize("name", ["noveltybench", "noveltybench_conditions", "noveltybench_judged"])
def test_the_examples_of_the_tasks_on_a_copy(name: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(cache))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    plugins = load_plugins()
    task = TaskIndex(plugins).load(name)
    assert task.repeats == 10
    outcomes = asyncio.run(run_examples(task, creval.RunOptions(offline=True), plugins))
    assert len(outcomes) >= 4 and [fault for each in outcomes for fault in each.faults] == []


def test_other_prompts_are_refused(cache: Path) -> None:
    with pytest.raises(CrevalError, match="offline"):
        rows_of(cache, "wildchat")
    file = cache / "data" / FOLDER / "data" / "curated.jsonl"
    file.write_text(file.read_text("utf-8").replace("girl", "boy", 1), encoding="utf-8")
    with pytest.raises(CrevalError, match="damaged"):
        rows_of(cache, "curated")
