"""Several people at once: a page and a link for each, and a run for each."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.cli.casting import AS_TARGET, Casting
from creval.cli.values import comma_list
from creval.errors import CrevalError, UsageError
from creval.visible import visible

if TYPE_CHECKING:
    from creval.engine.options import RunOptions
    from creval.engine.steps import Finished
    from creval.models.local.desks.web import WebDesk

__all__ = ["Rooms", "participant_names", "play_together"]

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_MOST = 500
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Rooms:
    """Where the pages are served: the address, the first of the ports (0: any free ones), and what the end shows.

    `casting` says which role all of them play.
    """

    host: str
    port: int = 0
    show_results: bool = False
    casting: Casting = AS_TARGET


@dataclass(slots=True)
class _Sitting:
    """One participant: the run folder, the page, and what came of it."""

    name: str
    folder: Path
    desk: WebDesk
    work: Callable[[], Finished]
    finished: Finished | None = None
    error: BaseException | None = None
    ended: threading.Event = field(default_factory=threading.Event)


def participant_names(given: Sequence[str]) -> list[str]:
    """Return the participants that `--participants` names: codes with commas between, or a number (p01, p02 ...).

    Raises UsageError for none, or more than 500.
    """
    words = comma_list(given)
    if len(words) == 1 and words[0].isdecimal():
        count = int(words[0][:9])
        words = [f"p{number:0{max(2, len(str(count)))}}" for number in range(1, min(count, _MOST + 1) + 1)]
    for word in words:
        if not re.fullmatch(NAME, word):
            cure = "Use codes of letters, digits, dots, dashes and underscores, such as p07."
            raise UsageError(f"{word!r} is no name for a participant", where="--participants", cure=cure)
    if not 0 < len(words) <= _MOST:
        cure = "Give a number, or their codes: p01,p02."
        raise UsageError(f"from 1 to {_MOST} people can take part", where="--participants", cure=cure)
    return words


def play_together(tasks: Sequence[str], names: Sequence[str], options: RunOptions, rooms: Rooms) -> int:
    """Serve a page for each participant until all are done or Ctrl-C, and return the exit code.

    Every run stands in `options.output` under the participant's name. One that was begun goes on, one that is done is
    left as it is; so the same command may be given again.
    """
    folder = options.output
    assert folder is not None
    with ExitStack() as stack:
        sittings = []
        for number, name in enumerate(names):
            path = folder / name
            if _is_done(path):
                click.echo(f"{name}  is done already")
                continue
            port = rooms.port + number if rooms.port else 0
            sittings.append(_sitting(stack, tasks, replace(options, output=path), name, replace(rooms, port=port)))
        for sitting in sittings:
            click.echo(f"{sitting.name}  {sitting.desk.url}")
        if sittings:
            click.echo("Give each participant the own link. Ctrl-C stops; the same command goes on.", err=True)
            _wait(sittings, rooms)
    failed = [sitting for sitting in sittings if sitting.error is not None]
    for sitting in failed:
        said = "stopped; the same command goes on" if _stopped(sitting.error) else str(sitting.error)
        click.echo(visible(f"{sitting.name}: {said}"), err=True)
    click.echo(f"{len(names) - len(failed)} of {len(names)} are done: creval report {folder}/*")
    return 2 if any(not _stopped(sitting.error) for sitting in failed) else 0


def _sitting(stack: ExitStack, tasks: Sequence[str], options: RunOptions, name: str, rooms: Rooms) -> _Sitting:
    from creval.engine.run import resume, run_new
    from creval.models.local.desks.standing import Standing
    from creval.models.local.desks.web import WebDesk

    path = options.output
    assert path is not None
    model, roles = rooms.casting.of(name)
    standing = Standing()
    desk = stack.enter_context(WebDesk(name, standing, rooms.port, rooms.host))
    consents: Any = {
        "allow_code_execution": options.allow_code_execution,
        "trust_remote_code": options.trust_remote_code,
    }

    def work() -> Finished:
        if (path / "run.json").exists():
            return resume(path, standing, desk, **consents)
        return run_new(tasks, model, replace(options, roles=roles), standing, desk)

    return _Sitting(name, path, desk, work)


def _wait(sittings: Sequence[_Sitting], rooms: Rooms) -> None:
    """Play until all have ended. Waits for events: a `join` that Ctrl-C interrupts marks its thread as ended."""
    for each in sittings:
        threading.Thread(target=_sit, args=(each, rooms), name=each.name, daemon=True).start()
    try:
        for sitting in sittings:
            while not sitting.ended.wait(0.2):
                pass
    except KeyboardInterrupt:
        for sitting in sittings:
            sitting.desk.stop()
        for sitting in sittings:
            sitting.ended.wait(_PATIENCE)
        raise


def _sit(sitting: _Sitting, rooms: Rooms) -> None:
    try:
        _play(sitting, rooms)
    finally:
        sitting.ended.set()


def _play(sitting: _Sitting, rooms: Rooms) -> None:
    from creval.cli.commands.play import closing_of
    from creval.models.local.desks.page_state import Closing

    try:
        sitting.finished = sitting.work()
    except BaseException as error:
        sitting.error = error
        words = ["Stopped. What you finished is saved, and you can go on by the same link later."]
        problem = [] if _stopped(error) else ["Please tell whoever gave you the link that something went wrong."]
        sitting.desk.close_with(Closing("Stopped", [*words, *problem]), 1.0)
        return
    click.echo(f"{sitting.name}  done")
    sitting.desk.close_with(closing_of(sitting.finished, rooms.show_results))


def _stopped(error: BaseException | None) -> bool:
    return isinstance(error, KeyboardInterrupt)


def _is_done(path: Path) -> bool:
    from creval.runs.folder import RunFolder

    try:
        return str(RunFolder.open(path).read_manifest()["status"]) == "done"
    except CrevalError:
        return False
