"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]

_CREATIVITY: Mapping[str, Any] = {
    **dict.fromkeys(("constraint_following", "convergent"), "0/1"),
    **dict.fromkeys(("divergent", "neogauge"), (0, 1)),
}


@hookimpl
def creval_tasks() -> list[Path]:
    """Return the folder of task files."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_commands() -> dict[str, str]:
    """Return the commands under `creval neocoder`."""
    return {
        "build": "creval_neocoder.cli.building:build_states",
        "detector": "creval_neocoder.cli.detector:detector",
    }


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register sources, parser, protocols, scorers, baselines and analyses."""
    _register_sources(registry)
    registry.add(
        "parser", "neocoder_program", "creval_neocoder.task.answer:ProgramParser", "the Python program of an answer"
    )
    _register_scorers(registry)
    _register_baselines(registry)
    _register_strategies(registry)
    home = "creval_neocoder.analysis.commands"
    registry.add(
        "analysis", "neocoder-table", f"{home}:TableAnalysis", "NeoCoder by state, next to the paper's Table 3."
    )
    registry.add(
        "analysis",
        "neocoder-strategies",
        "creval_neocoder.analysis.strategies:StrategiesAnalysis",
        "Strategies against plain answers, next to the paper's Table 5.",
    )
    registry.add("analysis", "neocoder-human", f"{home}:HumanAnalysis", "What human programmers do (Eqs. 5 and 6).")


def _register_sources(registry: Registry) -> None:
    home = "creval_neocoder.task"
    registry.add(
        "source",
        "neocoder_published",
        f"{home}.source:open_published",
        "the published problems of one state, fetched from the authors' repository at one commit",
        parameters=params.schema(
            state=params.integer(0, 5, about="how many techniques are forbidden"),
            text=params.one_of(
                "rebuilt", "published", about="the block of constraints rebuilt, or the authors' statements"
            ),
            problems=params.one_of("with_solutions", "all", about="all: also the one problem without human solutions"),
            required=("state",),
            remote=True,
        ),
    )
    registry.add(
        "source",
        "neocoder_own",
        f"{home}.source:open_own",
        "fifteen problems of our own in one state, with gold answers",
        parameters=params.schema(
            state=params.integer(0, 5, about="how many techniques are forbidden"), required=("state",)
        ),
    )
    registry.add(
        "source",
        "neocoder_built",
        f"{home}.source:open_built",
        "the problems of a file of creval neocoder build in one state",
        parameters=params.schema(
            file=params.text(1, file=True, about="name, relative to the folder of the YAML file"),
            state=params.integer(0, 20, about="how many techniques are forbidden"),
            required=("file", "state"),
        ),
    )


def _register_scorers(registry: Registry) -> None:
    home = "creval_neocoder.task"
    tests = params.one_of("annotated", "sample", about="the published cases, or the statement's own sample")
    seconds = params.number(above=0, about="processor time a run")
    released = params.flag(about="judge by the rules of the authors' released evaluator")
    registry.add(
        "scorer",
        "neocoder_tests",
        f"{home}.tests:ProgramTests",
        "whether a program passes its tests, in the sandbox",
        parameters=params.schema(tests=tests, seconds=seconds, released=released),
        produces=("pass@1", "correct_sound", "survives_perturbation"),
        ranges=dict.fromkeys(("pass@1", "correct_sound", "survives_perturbation"), "0/1"),
        uses=("sandbox",),
        waits=True,
        scores_failures=True,
    )
    listed = params.flag(about="divide by the augmenter's list, doubles included")
    human = params.one_of("shipped", "detect", about="human techniques as published, or found by the augmenter")
    registry.add(
        "scorer",
        "neocoder_techniques",
        f"{home}.techniques:Creativity",
        "constraint following, convergent and divergent creativity and NeoGauge (Eqs. 2 to 4)",
        parameters=params.schema(
            tests=tests, seconds=seconds, released=released, listed=listed, human_techniques=human
        ),
        produces=("constraint_following", "convergent", "divergent", "neogauge", "syntax_precision", "syntax_recall"),
        ranges={**_CREATIVITY, "syntax_precision": (0, 1), "syntax_recall": (0, 1)},
        uses=("sandbox",),
        roles=("augmenter",),
        prompts=("techniques",),
        provides=("program",),
        waits=True,
        scores_failures=True,
    )


def _register_baselines(registry: Registry) -> None:
    home = "creval_neocoder.task.baselines"
    tokens = params.schema(tokens=params.flag(about="as one token with its log-probability, for a search"))
    registry.add("baseline", "neocoder_empty", f"{home}:EmptyProgram", "a program that does nothing", parameters=tokens)
    registry.add(
        "baseline",
        "neocoder_following",
        f"{home}:FollowingSolution",
        "a human solution that follows the constraints: the ceiling of convergent creativity",
        parameters=tokens,
    )
    registry.add(
        "baseline",
        "neocoder_gold",
        f"{home}:GoldAnswer",
        "the gold answer of one of our own problems",
        parameters=tokens,
    )


def _register_strategies(registry: Registry) -> None:
    home = "creval_neocoder.strategies"
    seconds = params.number(above=0, about="processor time a run")
    registry.add(
        "protocol",
        "neocoder.sampling",
        f"{home}.sampling:Sampling",
        "k independent answers, of which the best counts",
        parameters=params.schema(k=params.integer(1, 128, about="how many answers")),
        prompts=("prompt",),
    )
    registry.add(
        "protocol",
        "neocoder.self_correction",
        f"{home}.self_correction:SelfCorrection",
        "programs until the tests pass, with a reflection after each failure",
        parameters=params.schema(
            trials=params.integer(1, 20, about="programs at most"),
            feedback=params.one_of("sample", "own", about="the statement's sample, or tests that the model writes"),
            seconds=seconds,
        ),
        uses=("sandbox",),
        prompts=("prompt", "reflect", "retry", "tests"),
        provides=("program", "feedback", "reflection"),
    )
    registry.add(
        "protocol",
        "neocoder.planning",
        f"{home}.planning:Planning",
        "a plan, then the program that carries it out",
        prompts=("prompt", "plan", "implement"),
        provides=("plan",),
    )
    registry.add(
        "protocol",
        "neocoder.mcts",
        f"{home}.mcts:TreeSearch",
        "tree search over the tokens of the program, led by the sample's pass rate",
        parameters=params.schema(
            rollouts=params.integer(1, 1024, about="completed programs at most"),
            top_k=params.integer(2, 20, about="next tokens of a node"),
            c_base=params.number(above=0),
            c=params.number(0),
            max_tokens=params.integer(1, about="of a program"),
            seconds=seconds,
        ),
        uses=("sandbox",),
        prompts=("prompt",),
    )
    _register_best(registry, seconds)


def _register_best(registry: Registry, seconds: Mapping[str, Any]) -> None:
    home = "creval_neocoder.strategies.best"
    tests = params.one_of("annotated", "sample", about="the published cases, or the statement's own sample")
    released = params.flag(about="judge by the rules of the authors' released evaluator")
    registry.add(
        "scorer",
        "neocoder_pass_any",
        f"{home}:PassAny",
        "whether any of several programs passes its tests, and how many do",
        parameters=params.schema(tests=tests, seconds=seconds, released=released),
        produces=("pass@5", "correct_sound@5", "pass@1"),
        ranges={"pass@5": "0/1", "correct_sound@5": "0/1", "pass@1": (0, 1)},
        uses=("sandbox",),
        waits=True,
        reads_some=True,
        scores_failures=True,
    )
    registry.add(
        "scorer",
        "neocoder_best",
        f"{home}:BestCreativity",
        "Eqs. 2 to 4 of the best of several programs",
        parameters=params.schema(
            tests=tests,
            seconds=seconds,
            released=released,
            listed=params.flag(about="divide by the augmenter's list, doubles included"),
            ties=params.one_of(
                "merit", "first", about="which of equally good programs: the more convergent, or the first"
            ),
        ),
        produces=("constraint_following", "convergent", "divergent", "neogauge"),
        ranges=_CREATIVITY,
        uses=("sandbox",),
        roles=("augmenter",),
        prompts=("techniques",),
        provides=("program",),
        waits=True,
        reads_some=True,
        scores_failures=True,
    )
