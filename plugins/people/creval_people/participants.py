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

from creval.plugin import CrevalError, UsageError
from creval.plugin.commands import comma_list
from creval.plugin.people import Finished, RunFolder, resume, run_new, visible
from creval_people.playing import SeatOptions, closing_of
from creval_people.seats.board import Closing
from creval_people.seats.progress import Progress
from creval_people.seats.web import WebSeat

if TYPE_CHECKING:
    from creval.plugin.people import RunOptions

__all__ = ["participant_names", "play_together"]

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_MOST = 500
_PATIENCE = 5.0


@dataclass(slots=True)
class _Participant:
    """One participant: the run folder, the page, and how the run ended."""

    name: str
    folder: Path
    seat: WebSeat
    work: Callable[[], Finished]
    finished: Finished | None = None
    error: BaseException | None = None
    ended: threading.Event = field(default_factory=threading.Event)


def participant_names(given: Sequence[str]) -> list[str]:
    """Return the participants that `--participants` names: codes joined by commas, or a number (p01, p02 ...).

    Raises UsageError for none, or more than 500.
    """
    words = comma_list(given)
    if len(words) == 1 and words[0].isdecimal():
        count = int(words[0][:9])
        words = [f"p{number:0{max(2, len(str(count)))}}" for number in range(1, min(count, _MOST + 1) + 1)]
    for word in words:
        if not re.fullmatch(NAME, word):
            fix = "Use codes of letters, digits, dots, dashes and underscores, such as p07."
            raise UsageError(f"{word!r} is not a name for a participant", where="--participants", fix=fix)
    if not 0 < len(words) <= _MOST:
        fix = "Give a number, or their codes: p01,p02."
        raise UsageError(f"from 1 to {_MOST} people can take part", where="--participants", fix=fix)
    return words


def play_together(tasks: Sequence[str], names: Sequence[str], options: RunOptions, given: SeatOptions) -> int:
    """Serve a page for each participant until all are done or Ctrl-C, and return the exit code.

    `given` applies to all of them, except for the name; with a port other than 0 the pages use this one and those after
    it. Each run is in `options.output`, under the participant's name. A started run is resumed, a finished
    one is left unchanged; so the same command may be repeated.
    """
    folder = options.output
    assert folder is not None
    with ExitStack() as stack:
        people = []
        for number, name in enumerate(names):
            path = folder / name
            if _is_done(path):
                click.echo(f"{name}  is done already")
                continue
            seat = replace(given, name=name, port=given.port + number if given.port else 0)
            people.append(_participant(stack, tasks, replace(options, output=path), seat))
        for person in people:
            click.echo(f"{person.name}  {person.seat.url}")
        if people:
            click.echo("Give each participant their own link. Ctrl-C stops; the same command resumes.", err=True)
            _wait(people, given.show_results)
    failed = [person for person in people if person.error is not None]
    for person in failed:
        said = "stopped; the same command resumes" if _stopped(person.error) else str(person.error)
        click.echo(visible(f"{person.name}: {said}"), err=True)
    click.echo(f"{len(names) - len(failed)} of {len(names)} are done: creval report {folder}/*")
    return 2 if any(not _stopped(person.error) for person in failed) else 0


def _participant(stack: ExitStack, tasks: Sequence[str], options: RunOptions, given: SeatOptions) -> _Participant:
    path = options.output
    assert path is not None
    model, roles = given.models()
    progress = Progress()
    seat = stack.enter_context(WebSeat(given.name, progress, given.port, given.host))
    consents: Any = {
        "allow_code_execution": options.allow_code_execution,
        "trust_remote_code": options.trust_remote_code,
    }

    def work() -> Finished:
        if (path / "run.json").exists():
            return resume(path, progress, seat, **consents)
        return run_new(tasks, model, replace(options, roles=roles), progress, seat)

    return _Participant(given.name, path, seat, work)


def _wait(people: Sequence[_Participant], show_results: bool) -> None:
    """Let every participant answer in a separate thread, until all have ended. Raises KeyboardInterrupt.

    It waits for events: a `join` that Ctrl-C interrupts marks its thread as ended.
    """
    for person in people:
        threading.Thread(target=_take_part, args=(person, show_results), name=person.name, daemon=True).start()
    try:
        for person in people:
            while not person.ended.wait(0.2):
                pass
    except KeyboardInterrupt:
        for person in people:
            person.seat.stop()
        for person in people:
            person.ended.wait(_PATIENCE)
        raise


def _take_part(person: _Participant, show_results: bool) -> None:
    try:
        _run(person, show_results)
    finally:
        person.ended.set()


def _run(person: _Participant, show_results: bool) -> None:
    try:
        person.finished = person.work()
    except BaseException as error:
        person.error = error
        words = ["Stopped. What you finished is saved, and you can continue later with the same link."]
        problem = [] if _stopped(error) else ["Please tell whoever gave you the link that something went wrong."]
        person.seat.close_with(Closing("Stopped", [*words, *problem]), 1.0)
        return
    click.echo(f"{person.name}  done")
    person.seat.close_with(closing_of(person.finished, show_results))


def _stopped(error: BaseException | None) -> bool:
    return isinstance(error, KeyboardInterrupt)


def _is_done(path: Path) -> bool:
    try:
        return str(RunFolder.open(path).read_manifest()["status"]) == "done"
    except CrevalError:
        return False
