"""`creval play TASK...`: a person answers; the model of the run is `human/NAME`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from creval.plugin.commands import NewPath, comma_list, complete_tasks, consents_of, paths, texts, trust_option

if TYPE_CHECKING:
    from creval_people.playing import SeatOptions

__all__ = ["play"]

EPILOG = """\b
Example: creval play kumo_easy --limit 10 --seed 7
         creval play kumo_easy --web --name p01 --output runs/p01
         creval play jury_people --as judge --model given/solution --name p01"""


@click.command(epilog=EPILOG)
@click.argument("tasks", nargs=-1, shell_complete=complete_tasks)
@click.option("--name", default="player", show_default=True, help="Name of the person; the run's model is human/NAME.")
@click.option(
    "--as", "role", default="target", metavar="ROLE", help="Role to play: judge rates the answers of --model."
)
@click.option("--model", metavar="MODEL", help="Model that answers if you play another role than the target.")
@click.option("--limit", metavar="N", help="N or 10% of the docs, drawn at random with --seed; first:N, 10-20.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Samples per doc.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed for the docs.")
@click.option("--data", multiple=True, metavar="TASK=FILE", help="Use a local file in place of a task's dataset.")
@click.option("--resource", multiple=True, metavar="NAME=R", help="Use another resource for scoring.")
@click.option("--output", "-o", type=NewPath(), metavar="RUN", help="The run folder.")
@click.option("--resume", "run", type=click.Path(path_type=Path), metavar="RUN", help="Resume a run.")
@click.option("--web", is_flag=True, help="Play on a local web page instead of the terminal.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the page (default: any free port).")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address of this machine, for other machines.",
)
@click.option(
    "--participants",
    multiple=True,
    metavar="P,P",
    help="Participants, each with a link: codes, or a number.",
)
@click.option("--show-results", is_flag=True, help="Also show the scores at the end of the page.")
@click.option("--allow-code-execution", is_flag=True, help="Allow tasks to run the answered code in the sandbox.")
@click.option("--trust-remote-code", is_flag=True, help="Allow encoders to run code from their own repository.")
@trust_option
@click.pass_context
def play(ctx: click.Context, /, tasks: tuple[str, ...], run: Path | None, **given: Any) -> None:
    """Let a person play TASKS, in the terminal or on a local web page.

    The result is a run like a model's, so `creval report` shows people and models side by side. Resume an
    interrupted run with creval play --resume RUN. With --participants several people play at the same time, each
    with a link.
    """
    if run is not None:
        if tasks:
            raise click.UsageError("--resume takes the tasks of the run; name no task with it")
        from creval_people.playing import play_again

        ctx.exit(play_again(run, _seat(given), consents_of(given)))
    if not tasks:
        raise click.UsageError("name a task to play, for example kumo_easy; creval ls lists them")
    from creval.plugin.people import RunOptions
    from creval_people.playing import new_folder, play_new

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
    names = comma_list(tasks)
    if given["participants"]:
        from creval_people.participants import participant_names, play_together

        people = participant_names(given["participants"])
        if ctx.get_parameter_source("name") is not ParameterSource.DEFAULT:
            raise click.UsageError("--participants names everybody who plays; leave --name out")
        together = replace(options, output=options.output or new_folder("people", tasks), concurrency=1)
        ctx.exit(play_together(names, people, together, _seat(given)))
    ctx.exit(play_new(names, options, _seat(given)))


def _seat(given: Mapping[str, Any]) -> SeatOptions:
    from creval_people.playing import SeatOptions

    return SeatOptions(**{name: given[name] for name in SeatOptions.__slots__})
