"""The analyses on real runs, through the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from creval.api import RunOptions, run
from creval.errors import RunError, UsageError
from creval_kumo.analysis.commands import domains
from creval_kumo.analysis.commands.domains import DomainsAnalysis
from creval_kumo.analysis.commands.earnings import EarningsAnalysis
from creval_kumo.analysis.commands.errors import ErrorsAnalysis
from creval_kumo.analysis.commands.optimal import OptimalAnalysis
from creval_kumo.analysis.commands.structure import StructureAnalysis
from creval_kumo.analysis.plays import read_plays


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Floor and ceiling on 12 games, and answers that cannot be read."""
    base = tmp_path_factory.mktemp("runs")
    made = {}
    for name in ("floor", "ceiling"):
        options = RunOptions(limit=12, repeats=3, seed=1, output=base / name, command="test")
        made[name] = str(run(["kumo_easy"], f"baseline/{name}", options).folder)
    answers = base / "answers.jsonl"
    with answers.open("w") as file:
        for line in (Path(made["floor"]) / "samples" / "kumo_easy.jsonl").read_text().splitlines():
            sample = json.loads(line)
            key = {"task": "kumo_easy", "doc": sample["doc_id"], "repeat": sample["repeat"]}
            first = f"<ANSWER> {sample['doc']['actions'][0]} </ANSWER>"
            file.write(json.dumps({**key, "answers": [first, "I do not know."]}) + "\n")
    options = RunOptions(limit=12, repeats=3, seed=1, output=base / "mute")
    made["mute"] = str(run(["kumo_easy"], f"replay/{answers}", options).folder)
    return made


def test_plays_hold_what_the_samples_and_scores_say(folders: dict[str, str]) -> None:
    plays = list(read_plays([folders["ceiling"]]))
    assert len(plays) == 36
    assert {play.model for play in plays} == {"baseline/ceiling"}
    assert {play.difficulty for play in plays} == {"easy"}
    assert all(play.success and not play.unread for play in plays)
    assert len({play.game for play in plays}) == 12
    assert all(len(play.seconds) == play.tests + 1 for play in plays)


def test_games_of_two_kinds_are_never_counted_together(folders: dict[str, str], tmp_path: Path) -> None:
    """Counterfactual games have the easy size and are no easy games; other data of that size are named, and refused."""
    options = RunOptions(limit=2, repeats=1, seed=1, output=tmp_path / "both")
    both = str(run(["kumo_counterfactual", "kumo_easy_music", "kumo_easy"], "baseline/ceiling", options).folder)
    found = {row[1]: row[3] for row in ErrorsAnalysis().run([both]).rows}
    assert found == {"easy": 4, "easy, counterfactual": 2}
    assert {row[1] for row in StructureAnalysis().run([both], permutations=0).rows} == set(found)
    mine = tmp_path / "mine.yaml"
    mine.write_text("schema: 1\ninclude: kumo/kumo_easy\ntask: mine\nversion: 1.0.0\n")
    options = RunOptions(limit=2, repeats=1, seed=1, output=tmp_path / "mine")
    other = str(run([str(mine)], "baseline/ceiling", options).folder)
    with pytest.raises(UsageError, match="easy games of kumo_easy and of mine would be counted together"):
        ErrorsAnalysis().run([folders["ceiling"], other])
    assert [row[3] for row in ErrorsAnalysis().run([other], task="mine").rows] == [2]


def test_the_optimal_counts_of_a_run_are_those_of_the_ceiling_each_game_once(folders: dict[str, str]) -> None:
    output = OptimalAnalysis().run([folders["floor"], folders["ceiling"]])
    *_, everything = output.rows
    assert everything[2] == 12
    tests = {play.game: play.tests for play in read_plays([folders["ceiling"]])}
    assert everything[3] == pytest.approx(sum(tests.values()) / 12)


def test_parse_errors_are_counted_with_the_model_at_fault(folders: dict[str, str], tmp_path: Path) -> None:
    output = ErrorsAnalysis().run(list(folders.values()), output=str(tmp_path))
    assert (tmp_path / "errors.png").is_file()
    rates = {str(row[0]).partition("/")[0]: row[4] for row in output.rows if row[0] != "baseline/floor"}
    assert rates == {"baseline": 0.0, "replay": 1.0}
    mute = list(read_plays([folders["mute"]]))
    assert all(play.unread and not play.success and play.tests == 1 for play in mute)


def test_a_run_without_a_single_failure_has_no_association(folders: dict[str, str], tmp_path: Path) -> None:
    output = StructureAnalysis().run([folders["ceiling"], folders["floor"]], permutations=50, output=str(tmp_path))
    rows = {row[0]: row for row in output.rows}
    assert rows["baseline/ceiling"][5] is None
    assert any("every game was solved" in note for note in output.notes)
    assert rows["baseline/floor"][2] == 12
    assert (tmp_path / "structure.json").is_file()


def test_earnings_of_the_ceiling(folders: dict[str, str]) -> None:
    output = EarningsAnalysis().run([folders["ceiling"]])
    (row,) = output.rows
    actions = sum(play.tests for play in read_plays([folders["ceiling"]]))
    assert row[2:6] == (36, 1.0, float(actions), pytest.approx(40 - actions * 0.1))
    compat = EarningsAnalysis().run([folders["ceiling"]], count="paper_compat").rows[0]
    assert compat[5] == pytest.approx(row[5] - 36 * 2 * 0.1)


def test_the_authors_numbers_of_a_model_are_drawn_next_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(type(domains.FIGURES), "save", lambda self, figure, base: drawn.append(figure) or [])
    rows: list[domains.Row] = [
        ("music", "easy", "x/one", 6, 0.5, 1.0, 0.7, 1.5),
        ("fantasy", "easy", "x/one", 6, 0.4, 2.0, None, None),
        ("music", "easy", "x/two", 6, 0.25, 3.0, None, None),
    ]
    domains._plot(rows, tmp_path / "domains")
    (figure,) = drawn
    names = ["one", "one (authors)", "two"]
    for axis, printed in zip(figure.axes, (0.7, 1.5), strict=False):
        assert [label.get_text() for label in axis.get_xticklabels()] == names
        grid = axis.images[0].get_array().filled(-1)
        assert grid[0, 1] == printed and grid[1, 1] == -1


@pytest.mark.parametrize("name", ["structure", "errors", "earnings"])
def test_without_a_run_each_says_so(name: str) -> None:
    analysis: Any = {"structure": StructureAnalysis, "errors": ErrorsAnalysis, "earnings": EarningsAnalysis}[name]()
    with pytest.raises(UsageError, match="no run is named"):
        analysis.run([])


def test_a_run_of_another_benchmark_is_refused(tmp_path: Path) -> None:
    folder = run(["rat"], "baseline/ceiling", RunOptions(limit=2, output=tmp_path / "rat")).folder
    with pytest.raises(RunError, match="no finished game of KUMO"):
        list(read_plays([str(folder)]))


def test_the_command_line_prints_json_without_nan(folders: dict[str, str], tmp_path: Path) -> None:
    arguments = ["kumo-structure", folders["floor"], folders["ceiling"], "--permutations", "10"]
    done = subprocess.run(
        [sys.executable, "-m", "creval", "analyse", *arguments, "--output", str(tmp_path / "s"), "--json"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout, parse_constant=pytest.fail)
    assert len(found["rows"]) == 2
    assert {Path(file).name for file in found["files"]} == {
        "structure.csv", "structure.json", "structure.png", "structure.svg",
    }  # fmt: skip
    assert all(Path(file).is_file() for file in found["files"])


def test_the_authors_cells_are_next_to_those_of_the_same_domain_and_model(folders: dict[str, str]) -> None:
    plays = list(read_plays([folders["floor"]]))
    row = domains._row(("MedicalEnv", "easy", "openrouter/qwen/qwen-2.5-72b-instruct:free"), plays)
    assert row[6:] == (0.896, 0.435)
    assert domains._row(("MedicalEnv", "hard", "qwen2.5-72b-instruct"), plays)[6:] == (None, None)
    assert domains._row(("MedicalEnv", "easy", "qwen2.5-72b"), plays)[6:] == (None, None)


def test_success_by_domain(folders: dict[str, str], tmp_path: Path) -> None:
    """Figure 3: each cell against the plays of its domain and model, the easiest domain first."""
    runs = [folders["floor"], folders["ceiling"]]
    output = DomainsAnalysis().run(runs, output=str(tmp_path))
    plays = list(read_plays(runs))
    for domain, level, model, number, success, count, *published in output.rows:
        assert published == [None, None]
        own = [play for play in plays if (play.domain, play.difficulty, play.model) == (domain, level, model)]
        assert number == len(own) > 0
        assert success == pytest.approx(sum(play.success for play in own) / len(own))
        assert count == pytest.approx(sum(play.relative_count or 0 for play in own) / len(own))
    assert len(output.rows) == len({(play.domain, play.model) for play in plays})
    shares = {row[0]: [] for row in output.rows}
    for row in output.rows:
        shares[row[0]].append(row[4])
    means = [sum(each) / len(each) for each in shares.values()]
    assert means == sorted(means, reverse=True)
    assert [Path(file).suffix for file in output.files] == [".csv", ".json", ".png", ".svg"]
