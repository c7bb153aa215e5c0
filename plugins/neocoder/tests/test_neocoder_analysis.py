"""The analyses: Table 3 next to a run, human numbers from the shipped lists, figures."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, Received
from support.commands import creval as command

import creval
from creval.cli.main import invoke
from creval.plugin import RunError, UsageError, open_run
from creval_neocoder.analysis import plots
from creval_neocoder.analysis.commands import HumanAnalysis, TableAnalysis
from creval_neocoder.analysis.human import human_numbers
from creval_neocoder.analysis.states import (
    COLUMNS,
    PAPER,
    StateRow,
    cumulative,
    one_suite,
    states_of,
    techniques_by_state,
)
from creval_neocoder.own.own_problems import gold_answers
from creval_neocoder.problem import Problem
from creval_neocoder.techniques.agreement import agreement


def test_human_numbers(problems: list[Problem]) -> None:
    found = human_numbers(problems)
    assert found.problems == 198
    assert found.convergent[0] == 1
    assert all(a > b for a, b in zip(found.convergent, found.convergent[1:], strict=False))
    assert (found.divergent, found.divergent_in_vocabulary) == (
        pytest.approx(0.0194729, abs=5e-8),
        pytest.approx(0.0189450, abs=5e-8),
    )
    assert found.union == pytest.approx(6.898990, abs=5e-7)
    assert found.neogauge[0] == pytest.approx(found.divergent)
    assert all(mean <= best for mean, best in zip(found.neogauge, found.best_neogauge, strict=True))
    assert all(mean <= follow for mean, follow in zip(found.neogauge, found.convergent, strict=True))
    shares = [round(100 * count / found.mentions.total(), 1) for _, count in found.mentions.most_common(5)]
    assert shares == [41.2, 27.4, 8.2, 6.9, 3.1]


def test_the_running_sum_is_the_papers() -> None:
    assert [round(100 * (value or 0), 1) for value in cumulative(PAPER)] == [1.0, 2.4, 3.3, 3.8, 3.8, 3.8]
    gap = [StateRow("m", 0, 1, {"neogauge": 0.5}), StateRow("m", 1, 1, {}), StateRow("m", 2, 1, {"neogauge": 0.5})]
    assert cumulative(gap) == [0.5, None, None]


def review(request: Received) -> str:
    return "- recursion"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with ChatServer(answer=review) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(
            output=folder / "best", roles={"augmenter": "hosted_vllm/r"}, allow_code_execution=True, limit=4
        )
        return creval.run(["neocoder_own"], "baseline/ceiling", options).folder


def test_a_run_next_to_the_paper(run: Path, tmp_path: Path) -> None:
    output = TableAnalysis().run([str(run)], output=str(tmp_path / "out"), no_plots=False)
    ours = [row for row in output.rows if row[0] == "baseline/ceiling"]
    assert [(row[1], row[2], *row[3:8]) for row in ours] == [(t, 4, *[100.0] * 5) for t in range(6)]
    assert [row[8] for row in ours] == [100.0 * n for n in range(1, 7)]
    assert len(output.rows) == 12
    assert {Path(file).name for file in output.files} == {
        *("table.csv", "neogauge.png", "neogauge.svg", "stacked.png", "stacked.svg"),
    }
    with (tmp_path / "out" / "table.csv").open() as file:
        assert next(csv.reader(file))[:4] == ["model", "t", "n", "pass@1"]
    assert any("augmenter" in note for note in output.notes)


def test_panels_have_one_scale_and_the_papers_row_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(type(plots.FIGURES), "save", lambda self, figure, base: drawn.append(figure) or [])
    own = [StateRow("m", state, 1, {"convergent": 0.9, "divergent": 0.3}) for state in range(6)]
    plots.draw_stacked({"m": own, PAPER[0].model: PAPER}, tmp_path / "stacked")
    (figure,) = drawn
    assert [axis.get_title() for axis in figure.axes] == ["m", "GPT-4 (Table 3)"]
    assert len({axis.get_ylim() for axis in figure.axes}) == 1


def test_techniques_of_a_run(run: Path) -> None:
    found = techniques_by_state(open_run(run))
    assert found == {state: Counter(recursion=4) for state in range(6)}
    assert [row.state for row in states_of(open_run(run))] == list(range(6))
    assert set(states_of(open_run(run))[0].values) == set(COLUMNS)


def test_on_the_command_line(
    run: Path,
    reference_data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert invoke(["analyse", "neocoder-table", str(run)]) == 0
    assert "GPT-4 (Table 3)" in capsys.readouterr().out
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    words = ["neocoder-human", str(run), "--output", str(tmp_path / "human"), "--offline", "--json"]
    assert invoke(["analyse", *words]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [row[0] for row in record["rows"]][:2] == ["convergent, state 0 (Eq. 5)", "convergent, state 1 (Eq. 5)"]
    assert {Path(file).name for file in record["files"]} == {
        *("human.csv", "human-difference.png", "human-difference.svg"),
        *("common-techniques-1.png", "common-techniques-1.svg"),
    }


def test_runs_of_something_else(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run is named"):
        TableAnalysis().run([])
    with pytest.raises(RunError):
        TableAnalysis().run([str(tmp_path)])
    assert len(gold_answers()) == 15


class Held:
    """A run of some tasks."""

    model = "m"

    def __init__(self, *tasks: str) -> None:
        self.tasks, self.folder = tasks, Path("-".join(tasks))


def test_states_of_two_suites_are_two_measurements() -> None:
    mixed: Any = Held("neocoder_state0", "neocoder_state1", "neocoder_released_state0")
    with pytest.raises(UsageError, match="states of neocoder and of neocoder_released") as refused:
        states_of(mixed)
    assert "--suite neocoder" in str(refused.value.fix)
    assert one_suite([mixed], "neocoder_released") == "neocoder_released"
    other: Any = Held("neocoder_released_state0")
    with pytest.raises(UsageError, match="different measurements"):
        one_suite([Held("neocoder_state0"), other])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="no states of neocoder_own"):
        one_suite([other], "neocoder_own")


def test_a_refusal_leaves_no_file(tmp_path: Path, reference_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed: Any = Held("neocoder_state0", "neocoder_released_state0")
    monkeypatch.setattr("creval_neocoder.analysis.commands.open_runs", lambda runs: [mixed])
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    with pytest.raises(UsageError, match="different measurements"):
        HumanAnalysis().run(["x"], output=str(tmp_path / "out"), offline=True)
    assert not (tmp_path / "out").exists()


def test_no_statement_lands_in_a_run_folder(
    problems: list[Problem], reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREVAL_DATA", str(reference_data))
    with ChatServer(answer=review) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        options = creval.RunOptions(
            output=tmp_path / "run",
            roles={"augmenter": "hosted_vllm/r"},
            allow_code_execution=True,
            limit=3,
            offline=False,
        )
        result = creval.run(["neocoder_state1"], "hosted_vllm/m", options)
    written = "".join(path.read_text() for path in result.folder.rglob("*") if path.is_file())
    asked = [sample.key.doc for sample in open_run(result.folder).samples()]
    assert len(asked) == 3
    for problem in problems:
        if problem.name in asked:
            longest = max(problem.statement.split("\n"), key=len)
            assert json.dumps(longest)[1:-1] not in written
            assert longest not in written
            assert not any(source in written for source in problem.solutions)


def test_precision_and_recall() -> None:
    found = {each.technique: each for each in agreement([{"a", "b"}, {"a"}], [{"a"}, {"a", "c"}])}
    assert (found["a"].precision, found["a"].recall) == (1, 1)
    assert (found["b"].precision, found["b"].recall) == (0, None)
    assert (found["c"].precision, found["c"].recall) == (None, 0)
    assert (found["all"].precision, found["all"].recall) == (2 / 3, 2 / 3)


def test_the_detector_command(reference_data: Path, tmp_path: Path) -> None:
    words = ["neocoder", "detector", "--sample", "20", "--offline"]
    done = command(tmp_path, *words, "--syntax", CREVAL_DATA=str(reference_data))
    assert done.returncode == 0, done.stderr
    assert "Techniques of 20 human solutions" in done.stdout
    assert "for loop" in done.stdout
    with ChatServer(answer="- for loop\n- if statement") as server:
        place = {"HOSTED_VLLM_API_BASE": server.url, "CREVAL_DATA": str(reference_data)}
        done = command(tmp_path, *words, "--role", "augmenter=hosted_vllm/r", **place)
        asked = [request.body for request in server.requests]
    assert done.returncode == 0, done.stderr
    assert len(asked) == 20
    assert all(body["temperature"] == 0 and len(body["messages"]) == 2 for body in asked)
    assert done.stdout.splitlines()[0].startswith("Techniques of 20 human solutions, by the augmenter")
