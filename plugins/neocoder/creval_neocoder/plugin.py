"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin import flag, hookimpl, integer, number, one_of, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]


@hookimpl
def creval_tasks() -> list[Path]:
    """Return the folder of task files."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_commands() -> dict[str, str]:
    """Return the commands under `creval neocoder`."""
    return {"detector": "creval_neocoder.cli.detector:detector"}


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register source, parser, scorers, baselines and analyses."""
    home = "creval_neocoder.task"
    registry.add(
        "source",
        "neocoder_published",
        f"{home}.source:open_published",
        "the published problems of one state, fetched from the authors' repository at one commit",
        parameters=params(
            state=integer(0, 5, about="how many techniques are forbidden"),
            text=one_of("rebuilt", "published", about="the block of constraints rebuilt, or the authors' statements"),
            problems=one_of("with_solutions", "all", about="all: also the one problem without human solutions"),
            required=("state",),
            remote=True,
        ),
    )
    registry.add(
        "source",
        "neocoder_own",
        f"{home}.source:open_own",
        "fifteen problems of our own in one state, with gold answers",
        parameters=params(state=integer(0, 5, about="how many techniques are forbidden"), required=("state",)),
    )
    registry.add("parser", "neocoder_program", f"{home}.answer:ProgramParser", "the Python program of an answer")
    tests = one_of("annotated", "sample", about="the published cases, or the statement's own sample")
    seconds = number(above=0, about="processor time a run")
    released = flag(about="judge by the rules of the authors' released evaluator")
    registry.add(
        "scorer",
        "neocoder_tests",
        f"{home}.tests:ProgramTests",
        "whether a program passes its tests, in the sandbox",
        parameters=params(tests=tests, seconds=seconds, released=released),
        produces=("correct", "correct_sound"),
        uses=("sandbox",),
    )
    listed = flag(about="divide by the augmenter's list, doubles included")
    registry.add(
        "scorer",
        "neocoder_techniques",
        f"{home}.techniques:Creativity",
        "constraint following, convergent and divergent creativity and NeoGauge (Eqs. 2 to 4)",
        parameters=params(tests=tests, seconds=seconds, released=released, listed=listed),
        produces=("follow", "convergent", "divergent", "neogauge"),
        uses=("sandbox",),
        roles=("augmenter",),
        prompts=("techniques",),
        provides=("program",),
    )
    registry.add("baseline", "neocoder_empty", f"{home}.players:EmptyProgram", "a program that does nothing")
    registry.add(
        "baseline",
        "neocoder_following",
        f"{home}.players:FollowingSolution",
        "a human solution that follows the constraints: the ceiling of convergent creativity",
    )
    registry.add("baseline", "neocoder_gold", f"{home}.players:GoldAnswer", "the gold answer of a problem of ours")
    home = "creval_neocoder.analysis.commands"
    registry.add(
        "analysis", "neocoder-table", f"{home}:TableAnalysis", "NeoCoder by state, beside the paper's Table 3."
    )
    registry.add("analysis", "neocoder-human", f"{home}:HumanAnalysis", "What human programmers do (Eqs. 5 and 6).")
