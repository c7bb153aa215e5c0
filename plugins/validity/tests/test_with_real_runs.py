"""From answers to a correlation: real runs of the RAT, replayed from files, analysed next to the shipped benchmarks."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from creval_validity.analyses.ablation import KNOWN_FACTORS
from creval_validity.analyses.validity_command import ValidityAnalysis, find_validity
from creval_validity.tables.shipped import table4

pytest.importorskip("creval_association")
PAGE = Path(__file__).parents[3] / "docs" / "validity.md"
SOLVED = {
    "gpt-3.5-turbo": 9,
    "gpt-4.1": 25,
    "gpt-4.1-nano": 15,
    "gpt-5": 24,
    "o3-mini": 21,
    "phi-4": 12,
    "claude-opus-4.5": 28,
    "stranger": 3,
}


def answers(folder: Path, model: str, solved: int) -> Path:
    """A file of answers that solves the first items and misses the rest."""
    text = (files("creval_association") / "data" / "rat_items.jsonl").read_text(encoding="utf-8")
    items = [json.loads(line) for line in text.splitlines()]
    lines = []
    for place, item in enumerate(items):
        answer = item["solution"] if place < solved else "nothing"
        key = {"task": "rat", "doc": item["id"], "condition": "temperature=0.0", "repeat": 0}
        lines.append(json.dumps({**key, "answers": [answer]}))
    path = folder / f"{model}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    import creval

    folder = tmp_path_factory.mktemp("runs")
    made = []
    for model, solved in SOLVED.items():
        options = creval.RunOptions(output=folder / f"run-{model}", offline=True)
        result = creval.run(tasks=["rat"], model=f"replay/{answers(folder, model, solved)}", options=options)
        assert result.status == "done"
        made.append(str(result.folder))
    return made


def test_runs_meet_the_shipped_benchmarks(runs: list[str]) -> None:
    options = {"benchmark": ["arena_cw"], "capability": ["none"], "bootstrap": 0, "test": ["rat"]}
    found = find_validity(runs, options)
    cell = found.result.cell("rat", "arena_cw")
    known = {m.replace(".", "-"): solved / 30 * 100 for m, solved in SOLVED.items() if m != "stranger"}
    arena = table4().cells()
    expected = np.corrcoef(list(known.values()), [arena[model]["arena_cw"] for model in known])[0, 1]
    assert cell.validity is not None
    assert cell.validity.r == pytest.approx(expected)
    assert set(cell.models) == set(known)
    assert found.table.cells()["gpt-4-1"]["rat"] == pytest.approx(25 / 30 * 100)
    assert any("stranger is not in the shipped tables" in note for note in found.notes)


def test_runs_join_the_papers_own_scores_on_one_scale(runs: list[str]) -> None:
    mine = {"shipped": "all", "conflict": "mine", "bootstrap": 0, "test": ["rat"], "benchmark": ["arena_cw"]}
    found = find_validity(runs, mine)
    scores = found.table.cells()
    assert scores["gpt-5"]["rat"] == pytest.approx(80.0)
    assert scores["gpt-4o"]["rat"] == 93.0
    assert found.result.cells[0].n == 36


def test_every_known_metric_of_a_run_is_offered_and_the_rest_is_named(runs: list[str]) -> None:
    output = ValidityAnalysis().run(runs, benchmark=["arena_cw"], capability=["none"], bootstrap=0)
    assert [row[0] for row in output.rows] == ["rat"]
    assert "Not used: rat_lenient." in output.notes


def test_the_suite_of_the_docs_gives_the_columns_that_are_looked_for(tmp_path: Path) -> None:
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    block = re.search(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    suite = tmp_path / "drat_ablations.yaml"
    suite.write_text("\n".join(line[2:] for line in block[1].splitlines()) + "\n", encoding="utf-8")
    names = {task.name for task in TaskIndex(load_plugins()).expand([suite])}
    assert names == {column for levels in KNOWN_FACTORS.values() for column in levels.values()}
