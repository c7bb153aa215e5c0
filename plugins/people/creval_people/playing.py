"""A run that a person answers at one seat: start, resume, and a closing text for the person."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from creval.plugin import UsageError
from creval.plugin.people import (
    TARGET,
    RunFolder,
    RunOptions,
    cell,
    ending,
    resume,
    resume_command,
    run_new,
)
from creval_people.screens import closing_words
from creval_people.seats.board import Closing
from creval_people.seats.progress import Progress

if TYPE_CHECKING:
    from creval.plugin.people import Consents, Finished, Resuming
    from creval.plugin.screens import Seat

__all__ = ["SeatOptions", "closing_of", "new_folder", "play_again", "play_model", "play_new"]

RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class SeatOptions:
    """The person, the role, and the seat: the terminal, or a web page (with its port, 0 for any, and host).

    `model` answers if the person's role is not the target. `show_results`: the page shows metrics and
    scores at its end.
    """

    name: str
    role: str = TARGET
    model: str | None = None
    web: bool = False
    port: int = 0
    host: str = "127.0.0.1"
    show_results: bool = False

    def models(self) -> tuple[str, dict[str, str]]:
        """Return the target's model and the models of other roles. Raises UsageError if role or model is missing."""
        person = f"human/{self.name}"
        if self.role == TARGET and self.model is None:
            return person, {}
        if self.role == TARGET or self.model is None:
            raise UsageError(
                "a person in a role other than the target needs a model that answers",
                where="--as, --model",
                fix="Name both: --as judge --model replay/RUN, or neither.",
            )
        return self.model, {self.role: person}


@dataclass(frozen=True, slots=True)
class _OpenSeat:
    """An open seat: the counter of samples, and the function that shows the closing text.

    `piped`: the seat reads lines from a pipe, not from a terminal.
    """

    seat: Seat
    progress: Progress
    show: Callable[[Closing], object]
    show_results: bool = False
    piped: bool = False


def play_model(tasks: Sequence[str], options: RunOptions, name: str) -> int:
    """Start the run of `creval --model human/NAME`, at the terminal, and return the exit code."""
    return play_new(tasks, options, SeatOptions(name))


def play_new(tasks: Sequence[str], options: RunOptions, given: SeatOptions) -> int:
    """Start a run that a person answers, one sample after the other, and return the exit code."""
    model, roles = given.models()
    folder = options.output or new_folder(given.name, tasks)
    options = replace(options, output=folder, concurrency=1, roles=roles)
    with _open(given) as place:
        return _end(folder, place, lambda: run_new(tasks, model, options, place.progress, place.seat))


def play_again(folder: Path, given: SeatOptions | None = None, resuming: Consents | Resuming | None = None) -> int:
    """Resume a run of a person, and return the exit code. Raises UsageError for a run of a model."""
    with _open(replace(given or SeatOptions(""), name=_person_of(folder))) as place:
        return _end(folder, place, lambda: resume(folder, place.progress, place.seat, **(resuming or {})))


@contextmanager
def _open(given: SeatOptions) -> Iterator[_OpenSeat]:
    progress = Progress()
    if not given.web:
        from creval_people.seats.terminal import TerminalSeat

        seat = TerminalSeat.here(given.name, progress)
        yield _OpenSeat(seat, progress, lambda closing: None, piped=not sys.stdin.isatty())
        return
    from creval_people.seats.web import WebSeat

    with WebSeat(given.name, progress, given.port, given.host) as page:
        click.echo(f"Play at {page.url} (Ctrl-C stops; the run can be resumed)", err=True)
        yield _OpenSeat(page, progress, page.close_with, given.show_results)


def _end(folder: Path, place: _OpenSeat, work: Callable[[], Finished]) -> int:
    """Run, print the results and the closing text, and show them at the person's seat."""
    try:
        finished = work()
    except KeyboardInterrupt:
        begun = (folder / "run.json").exists()
        words = "Stopped. What you finished is saved, and the run can be resumed." if begun else "Stopped."
        if place.piped:
            lacking = "Standard input is not a terminal, and it has ended."
            click.echo(f"\n{lacking} Play in a terminal, or on a page: creval play --web", err=True)
        click.echo(f"\n{words}" + (f"\n  {resume_command(folder)}" if begun else ""), err=True)
        place.show(Closing("Stopped", [words]))
        raise
    except Exception as error:  # the command line reports it; the person at the page must not be left waiting
        place.show(Closing("Stopped by an error", [*str(error).splitlines(), "What you finished is saved."]))
        raise
    code = ending(finished, 0.0)
    for line in closing_of(finished, True).lines:
        click.echo(line)
    place.show(closing_of(finished, place.show_results))
    return code


def closing_of(finished: Finished, show_results: bool) -> Closing:
    """Return the last page: thanks, and with `show_results` the screens' texts about the scores, and the metrics."""
    if not show_results:
        return Closing("All done. Thank you.", ["Your answers are saved."])
    rows = [
        (task["task"], metric["name"], cell(metric["value"]))
        for task in finished.results["tasks"]
        for metric in task["metrics"]
        if metric["condition"] is None
    ]
    return Closing("All done. Thank you.", closing_words(finished.folder), ("Task", "Metric", "Value"), rows)


def new_folder(name: str, tasks: Sequence[str]) -> Path:
    """Return a run folder in advance, so that a person who stops early can see how to resume."""
    words = f"{datetime.now(UTC):%Y-%m-%dT%H%M%S%z}-human_{name}-{'+'.join(tasks)}"
    return RUNS / re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:120]


def _person_of(folder: Path) -> str:
    for model in RunFolder.open(folder).read_manifest()["roles"].values():
        provider, _, name = str(model).partition("/")
        if provider == "human":
            return name
    raise UsageError(
        "no person takes part in this run", where=str(folder), fix=f"Resume it with: {resume_command(folder)}"
    )
