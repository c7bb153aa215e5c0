"""`creval play TASK...`: a person plays; the run is like any other, its model is `human/NAME`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from creval.cli import completing
from creval.cli.casting import AS_TARGET, Casting
from creval.cli.trusting import trust_option
from creval.cli.values import NewPath, consents_of

if TYPE_CHECKING:
    from creval.engine.options import Consents, RunOptions
    from creval.engine.steps import Finished
    from creval.models.local.desks.page_state import Closing
    from creval.models.local.desks.standing import Standing
    from creval.types.screens import Desk

__all__ = ["Seat", "closing_of", "play", "play_again", "play_new"]

EPILOG = """\b
Example: creval play kumo_easy --limit 10 --seed 7
         creval play kumo_easy --web --name p01 --output runs/p01
         creval play jury_people --as judge --model given/solution --name p01"""
RUNS = Path("runs")


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a person sits: name, and whether at a web page (with its port, 0 for any, and host) or the terminal.

    `show_results`: the page shows metrics and scores at its end. `casting` says which role the person plays.
    """

    player: str
    web: bool = False
    port: int = 0
    host: str = "127.0.0.1"
    show_results: bool = False
    casting: Casting = AS_TARGET


@dataclass(frozen=True, slots=True)
class _Place:
    """A seat that is set up: the desk, what counts the samples, and how the last words are shown.

    `piped`: the desk reads lines that nobody types at a terminal.
    """

    desk: Desk
    standing: Standing
    show: Callable[[Closing], object]
    show_results: bool = False
    piped: bool = False


@click.command(epilog=EPILOG)
@click.argument("tasks", nargs=-1, shell_complete=completing.tasks)
@click.option("--name", default="player", show_default=True, help="Who plays; the run's model is human/NAME.")
@click.option("--as", "role", default="target", metavar="ROLE", help="Which role: judge, to rate what --model answers.")
@click.option("--model", metavar="MODEL", help="Who answers where you play another role than the target.")
@click.option("--limit", metavar="N", help="A seeded random N docs a task; first:N takes the first.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Tries a doc.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Which docs are taken.")
@click.option("--data", multiple=True, metavar="TASK=FILE", help="Use a local file in place of a task's dataset.")
@click.option("--resource", multiple=True, metavar="NAME=R", help="Another instrument of the scoring.")
@click.option("--output", "-o", type=NewPath(), metavar="RUN", help="The run folder.")
@click.option("--resume", "run", type=click.Path(path_type=Path), metavar="RUN", help="Go on with a run.")
@click.option("--web", is_flag=True, help="Play on a local web page instead of the terminal.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port (default: any free one).")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="This machine's address, for pages seen elsewhere."
)
@click.option("--participants", multiple=True, metavar="P,P", help="A link and a run for each: codes, or a number.")
@click.option("--show-results", is_flag=True, help="Show the scores on the page's end, too.")
@click.option("--allow-code-execution", is_flag=True, help="Let tasks run the code that is written in the sandbox.")
@click.option("--trust-remote-code", is_flag=True, help="Let encoders run program code that they bring.")
@trust_option
@click.pass_context
def play(ctx: click.Context, /, tasks: tuple[str, ...], run: Path | None, **given: Any) -> None:
    """Let a person play TASKS, in the terminal or on a local web page.

    The games become a run like a model's, so that `creval report` shows people and models side by side. A run that was
    stopped can be gone on with: creval play --resume RUN. With --participants several play at once, each by a link.
    """
    from creval.cli.values import comma_list, paths, texts
    from creval.engine.options import RunOptions

    if run is not None:
        if tasks:
            raise click.UsageError("--resume goes on with a run as it was begun; name no task with it")
        ctx.exit(play_again(run, _seat(given), consents_of(given)))
    if not tasks:
        raise click.UsageError("name a task to play, for example kumo_easy; creval ls lists them")
    options = RunOptions(
        limit=given["limit"],
        repeats=given["repeats"],
        seed=given["seed"],
        data=paths(given["data"], "--data"),
        resources=texts(given["resource"], "--resource"),
        output=given["output"],
        allow_code_execution=given["allow_code_execution"],
        trust_remote_code=given["trust_remote_code"],
        command=shlex.join(["creval", *sys.argv[1:]]),
    )
    if given["participants"]:
        from creval.cli.participants import Rooms, participant_names, play_together

        names = participant_names(given["participants"])
        if ctx.get_parameter_source("name") is not ParameterSource.DEFAULT:
            raise click.UsageError("--participants names everybody who plays; leave --name out")
        casting = Casting(given["role"], given["model"])
        rooms = Rooms(given["host"], given["port"], given["show_results"], casting)
        together = replace(options, output=options.output or _folder("people", tasks), concurrency=1)
        ctx.exit(play_together(comma_list(tasks), names, together, rooms))
    ctx.exit(play_new(comma_list(tasks), options, _seat(given)))


def _seat(given: Mapping[str, Any]) -> Seat:
    casting = Casting(given["role"], given["model"])
    return Seat(given["name"], given["web"], given["port"], given["host"], given["show_results"], casting)


def play_new(tasks: Sequence[str], options: RunOptions, seat: Seat) -> int:
    """Start a run that a person plays, one sample after the other, and return the exit code."""
    from creval.engine.run import run_new

    model, roles = seat.casting.of(seat.player)
    folder = options.output or _folder(seat.player, tasks)
    options = replace(options, output=folder, concurrency=1, roles=roles)
    with _place(seat) as place:
        return _end(folder, place, lambda: run_new(tasks, model, options, place.standing, place.desk))


def play_again(folder: Path, seat: Seat | None = None, given: Consents | None = None) -> int:
    """Go on with a run that a person began, and return the exit code. Raises UsageError for a run of a model."""
    from creval.engine.run import resume

    with _place(replace(seat or Seat(""), player=_player_of(folder))) as place:
        return _end(folder, place, lambda: resume(folder, place.standing, place.desk, **(given or {})))


@contextmanager
def _place(seat: Seat) -> Iterator[_Place]:
    from creval.models.local.desks.standing import Standing

    standing = Standing()
    if not seat.web:
        from creval.models.local.desks.terminal import TerminalDesk

        desk = TerminalDesk.here(seat.player, standing)
        yield _Place(desk, standing, lambda closing: None, piped=not sys.stdin.isatty())
        return
    from creval.models.local.desks.web import WebDesk

    with WebDesk(seat.player, standing, seat.port, seat.host) as page:
        click.echo(f"Play at {page.url} (Ctrl-C stops; the run can be gone on with)", err=True)
        yield _Place(page, standing, page.close_with, seat.show_results)


def _end(folder: Path, place: _Place, work: Callable[[], Finished]) -> int:
    """Run, print the results and the last words, and show them where the person sits."""
    from creval.cli.display.ending import ending
    from creval.models.local.desks.page_state import Closing
    from creval.runs.commands import resume_command

    try:
        finished = work()
    except KeyboardInterrupt:
        begun = (folder / "run.json").exists()
        words = "Stopped. What you finished is saved, and the run can be gone on with." if begun else "Stopped."
        if place.piped:
            lacking = "Standard input is no terminal, and it has ended."
            click.echo(f"\n{lacking} Play in a terminal, or on a page: creval play --web", err=True)
        click.echo(f"\n{words}" + (f"\n  {resume_command(folder)}" if begun else ""), err=True)
        place.show(Closing("Stopped", [words]))
        raise
    except Exception as error:  # the command line tells it; who sits at a page must not be left waiting
        place.show(Closing("Stopped by an error", [*str(error).splitlines(), "What you finished is saved."]))
        raise
    code = ending(finished, 0.0)
    for line in closing_of(finished, True).lines:
        click.echo(line)
    place.show(closing_of(finished, place.show_results))
    return code


def closing_of(finished: Finished, show_results: bool) -> Closing:
    """Return the last page: thanks, and where results are to be shown what the screens say of them, and the metrics."""
    from creval.engine.screens import closing_words
    from creval.models.local.desks.page_state import Closing
    from creval.shown import cell

    if not show_results:
        return Closing("All done. Thank you.", ["Your answers are saved."])
    rows = [
        (task["task"], metric["name"], cell(metric["value"]))
        for task in finished.results["tasks"]
        for metric in task["metrics"]
        if metric["condition"] is None
    ]
    return Closing("All done. Thank you.", closing_words(finished.folder), ("Task", "Metric", "Value"), rows)


def _folder(player: str, tasks: Sequence[str]) -> Path:
    """A name that is known before the run begins, so that one who stops early can be told how to go on."""
    words = f"{datetime.now(UTC):%Y-%m-%dT%H%M%S%z}-human_{player}-{'+'.join(tasks)}"
    return RUNS / re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:120]


def _player_of(folder: Path) -> str:
    from creval.errors import UsageError
    from creval.runs.commands import resume_command
    from creval.runs.folder import RunFolder

    for model in RunFolder.open(folder).read_manifest()["roles"].values():
        provider, _, name = str(model).partition("/")
        if provider == "human":
            return name
    cure = f"Go on with it by: {resume_command(folder)}"
    raise UsageError("no person plays in this run", where=str(folder), cure=cure)
