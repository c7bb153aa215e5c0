"""Golden trajectories: the prompts of the task, optimal play, the same lines by any number of processes, resumable."""

from __future__ import annotations

import fcntl
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kumo_games import EASY, make_domain

from creval.errors import CrevalError, UsageError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.templates.rendering import render
from creval_kumo.domains import load_domain
from creval_kumo.domains.domain_file import load_domain_file
from creval_kumo.domains.domain_text import domain_yaml
from creval_kumo.domains.rules import PLAYABLE_RULES
from creval_kumo.games.generation import GameMaker, Settings, generate
from creval_kumo.games.simulator import GameState
from creval_kumo.search.golden import golden_of
from creval_kumo.task.answer import read_name
from creval_kumo.task.datasets import game_doc
from creval_kumo.trajectories import trajectory_lines as rows_module
from creval_kumo.trajectories.conversation import conversation, symbolic_book, system_text
from creval_kumo.trajectories.stream import trajectory_lines
from creval_kumo.trajectories.trajectory_lines import LineMaker, TrajectorySet
from creval_kumo.trajectories.writer import Written, write_trajectories

MEDICAL = TrajectorySet("medical", EASY, seed=1)


def lines(games: TrajectorySet, count: int) -> list[str]:
    return list(trajectory_lines(games, 0, count, set()))


@pytest.mark.parametrize("settings", [EASY, Settings(6, 8, 2)], ids=str)
@pytest.mark.parametrize("name", ["medical", "fantasy"])
def test_the_wording_is_that_of_the_task(name: str, settings: Settings) -> None:
    """The messages are written without templates; here they are compared with what the templates give."""
    task = TaskIndex(load_plugins()).load("kumo_easy")
    domain = load_domain(name)
    for game in itertools.islice(generate(domain, settings, 3), 5):
        fields = game_doc(game, domain)
        run = golden_of(game)
        said = conversation(game, domain, run)

        def prompt(part: str, doc: dict[str, Any], **extra: str) -> str:
            return render(task.prompts[part], {**doc, **extra}, task.file)[0].content

        assert system_text(game, domain, fields["book"]) == prompt("system", fields)
        assert said[0] == ("system", prompt("system", fields | {"book": symbolic_book(game)}))
        shown = [prompt("round", fields)]
        for test in run.tests:
            observation = json.dumps(game.observations[test], ensure_ascii=False)
            result = prompt("observation", fields, action=test, observation=observation)
            shown.append(f"{result}\n\n{prompt('round', fields)}")
        assert [text for role, text in said if role == "user"] == shown


def test_a_line_is_an_optimal_game_that_wins() -> None:
    games = GameMaker(load_domain("medical"), EASY, seed=1)
    for number, line in enumerate(lines(MEDICAL, 25)):
        row = json.loads(line)
        game = games.make(number).instance
        play = GameState(game)
        for message, counts in zip(row["messages"], row["loss_mask"], strict=True):
            assert counts == (message["role"] == "assistant")
            if counts:
                play = play.move(read_name(message["content"]))
        assert play.success and list(play.tests) == row["tests"] == list(golden_of(game).tests)
        assert (row["seed"], row["domain"], row["prediction"]) == (number, "medical", play.prediction)


def test_any_number_of_processes_gives_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("creval_kumo.trajectories.stream.CHUNK", 7)
    alone = lines(MEDICAL, 40)
    assert list(trajectory_lines(MEDICAL, 0, 40, set(), workers=2)) == alone


@pytest.fixture
def few_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TrajectorySet]:
    """A domain with so few games that most draws are doubles."""
    file = tmp_path / "few.yaml"
    file.write_text(domain_yaml(make_domain([[{0}, {1}, {2}], [{1, 2}, {0, 2}, {0, 1}]], 3)))
    domain = load_domain_file(file, PLAYABLE_RULES)
    monkeypatch.setattr(rows_module, "load_domain", lambda name: domain)
    yield TrajectorySet(str(file), Settings(3, 2), seed=0)


def test_doubles_are_drawn_again_as_in_order(few_games: TrajectorySet, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with several processes, whose draws know nothing of each other: here they come from one that does not."""
    from creval_kumo.trajectories import stream

    def drawn(games: TrajectorySet, start: int, stop: int, workers: int) -> Iterator[stream._Drawn]:
        maker = LineMaker(games)
        for number in range(start, stop):
            made = maker.maker.draw(number)
            yield stream._Drawn(made.key, made.attempt, maker.line(made))

    alone = lines(few_games, 6)
    assert len({json.loads(line)["key"] for line in alone}) == 6
    monkeypatch.setattr(stream, "_drawn", drawn)
    apart = [LineMaker(few_games).maker.draw(number).key for number in range(6)]
    assert len(set(apart)) < 6, "no double came up, so this test would show nothing"
    assert list(trajectory_lines(few_games, 0, 6, set(), workers=2)) == alone


def test_a_file_is_resumed_from_wherever_it_ends(tmp_path: Path) -> None:
    whole = "".join(lines(MEDICAL, 12)).encode()
    ends = [0, 1, 5, len(whole) // 2, whole.index(b"\n"), whole.index(b"\n") + 1, len(whole) - 1, len(whole)]
    for end in ends:
        file = tmp_path / f"cut-{end}.jsonl"
        file.write_bytes(whole[:end])
        written = write_trajectories(MEDICAL, 12, file)
        assert file.read_bytes() == whole
        assert written == Written(whole[:end].count(b"\n"), 12 - whole[:end].count(b"\n"))


def test_more_can_be_asked_for_later(tmp_path: Path) -> None:
    file = tmp_path / "new" / "golden.jsonl"
    assert write_trajectories(MEDICAL, 3, file) == Written(0, 3)
    assert write_trajectories(MEDICAL, 3, file) == Written(3, 0)
    assert write_trajectories(MEDICAL, 2, file) == Written(3, 0)
    assert write_trajectories(MEDICAL, 8, file) == Written(3, 5)
    assert file.read_text().splitlines(keepends=True) == lines(MEDICAL, 8)


@pytest.mark.parametrize(
    "other",
    [
        TrajectorySet("medical", EASY, seed=2),
        TrajectorySet("fantasy", EASY, seed=1),
        TrajectorySet("medical", Settings(5, 6), seed=1),
        TrajectorySet("medical", EASY, seed=1, counterfactual=True),
    ],
    ids=str,
)
def test_a_file_of_another_set_is_left_alone(tmp_path: Path, other: TrajectorySet) -> None:
    file = tmp_path / "golden.jsonl"
    write_trajectories(MEDICAL, 3, file)
    before = file.read_bytes()
    with pytest.raises(UsageError, match="another domain, size or seed"):
        write_trajectories(other, 5, file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("notes", ["my notes\nof many years\n", "my notes", '{"key": "no"}\n', "\n"])
def test_any_other_file_is_left_alone(tmp_path: Path, notes: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(notes)
    with pytest.raises(UsageError, match="something other than trajectories"):
        write_trajectories(MEDICAL, 5, file)
    assert file.read_text() == notes


def test_a_file_that_another_process_writes_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "golden.jsonl"
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another process writes this file"):
            write_trajectories(MEDICAL, 5, file)


def test_progress_and_a_place_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("creval_kumo.trajectories.writer._FLUSH_EVERY", 4)
    reported: list[int] = []
    write_trajectories(MEDICAL, 10, tmp_path / "golden.jsonl", progress=reported.append)
    assert reported == [4, 8]
    (tmp_path / "file").write_text("")
    with pytest.raises(CrevalError, match="cannot be written"):
        write_trajectories(MEDICAL, 1, tmp_path / "file" / "golden.jsonl")


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    """Counted in /proc: no process of the command is left once the first one was killed."""
    words = ["kumo", "trajectories", "--count", "1000000", "--workers", "2", "-o", str(tmp_path / "t.jsonl")]
    command = [sys.executable, "-m", "creval", *words]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        _wait(lambda: (tmp_path / "t.jsonl").exists() and (tmp_path / "t.jsonl").stat().st_size > 0)
        assert len(_session(process.pid)) >= 3
    finally:
        process.kill()
        process.wait()
    _wait(lambda: not _session(process.pid))


def _session(leader: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z" and int(fields[3]) == leader:
                found.append(int(entry.name))
    return found


def _wait(done: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.1)
