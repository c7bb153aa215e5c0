"""Registers the plugin's components by name, without importing anything heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]

_ENDS: Mapping[str, Any] = {"success_rate": "0/1", "parse_error_rate": "0/1"}


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the task files of this plugin."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the commands under `creval kumo`."""
    return {
        "book": "creval_kumo.cli.book:book",
        "configure": "creval_kumo.cli.configure:configure",
        "domains": "creval_kumo.cli.domains:domains",
        "generate": "creval_kumo.cli.generate:generate",
        "import": "creval_kumo.cli.importing:import_published",
        "import-domains": "creval_kumo.cli.importing:import_domains",
        "propose": "creval_kumo.cli.propose:propose",
        "trajectories": "creval_kumo.cli.trajectories:trajectories",
    }


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the game, its parser and scorers, the sources of games, the players and the analyses."""
    _register_game(registry)
    _register_data(registry)
    by_tools = params.schema(tools=params.flag(about="answer by calls of tools, as kumo.tools has them"))
    for name, player, summary in (
        ("kumo_random", "RandomConsistent", "random but consistent play"),
        ("kumo_optimal", "OptimalPlay", "provably optimal play"),
    ):
        registry.add("baseline", name, f"creval_kumo.task.baselines:{player}", summary, parameters=by_tools)
    registry.add("baseline", "kumo_random_move", "creval_kumo.task.baselines:RandomMove", "any action, or any truth")
    registry.add(
        "baseline",
        "kumo_all_evidence",
        "creval_kumo.task.baselines:AllEvidence",
        "all actions, then the most probable truth",
    )
    _register_analyses(registry)


def _register_game(registry: Registry) -> None:
    registry.add(
        "protocol",
        "kumo.game",
        "creval_kumo.task.protocol:Game",
        "a reasoning game: actions, observations, one prediction",
        parameters=params.schema(max_turns=params.integer(1), certain=params.flag()),
        prompts=("system", "begin", "round", "observation"),
        provides=("action", "observation", "result"),
    )
    registry.add(
        "protocol",
        "kumo.tools",
        "creval_kumo.task.tool_protocol:ToolGame",
        "the reasoning game by calls of the tools act and predict",
        parameters=params.schema(max_turns=params.integer(1)),
        prompts=("system", "begin", "observation"),
        provides=("action", "observation", "result"),
    )
    registry.add("parser", "kumo_answer", "creval_kumo.task.answer:AnswerTag", "the name in the last <ANSWER> tag")
    registry.add(
        "scorer",
        "kumo_play",
        "creval_kumo.task.scoring:KumoPlay",
        "success and counts of actions, next to optimal play",
        produces=("success_rate", "tests", "paper_compat", "relative_action_count", "parse_error_rate"),
        ranges={**_ENDS, **dict.fromkeys(("tests", "paper_compat"), (0, None)), "relative_action_count": (-1, None)},
        scores_failures=True,
    )
    registry.add(
        "scorer",
        "kumo_belief",
        "creval_kumo.task.belief_scoring:KumoBelief",
        "success and soundness where results are evidence only",
        produces=("success_rate", "tests", "posterior", "most_probable_rate", "attainable_success", "parse_error_rate"),
        ranges={
            **_ENDS,
            "most_probable_rate": "0/1",
            **dict.fromkeys(("posterior", "attainable_success"), (0, 1)),
            "tests": (0, None),
        },
        scores_failures=True,
    )
    registry.add(
        "screen", "kumo.game", "creval_kumo.play.screen:GameScreen", "book, observations and choices of a game"
    )


def _register_data(registry: Registry) -> None:
    names = params.either(params.text(), params.list_of(params.text(), minimum=1))
    registry.add(
        "generator",
        "kumo",
        "creval_kumo.task.datasets:KumoDocs",
        "fresh games by domain, sizes and seed",
        parameters=params.schema(
            domains=names,
            truths=params.integer(2),
            actions=params.integer(1),
            valid=params.integer(1),
            count=params.integer(1),
            seed=params.integer(0),
            counterfactual=params.flag(),
            reliability=params.number(above=0, maximum=1),
            long_book=params.flag(),
            required=("domains",),
        ),
    )
    registry.add(
        "source",
        "kumo_published",
        "creval_kumo.published.source:open_published",
        "the games that the paper's authors published",
        parameters=params.schema(
            domains=names,
            difficulty=params.one_of("easy", "hard"),
            faulty=params.one_of("refuse", "skip"),
            url=params.text(),
            required=("domains",),
            remote=True,
        ),
    )


def _register_analyses(registry: Registry) -> None:
    home = "creval_kumo.analysis.commands"
    add = registry.add
    add(
        "analysis",
        "kumo-optimal",
        f"{home}.optimal:OptimalAnalysis",
        "Actions of optimal play, by domain and difficulty.",
    )
    add("analysis", "kumo-graph", f"{home}.graph:GraphAnalysis", "Domain graphs: communities and modularity.")
    add(
        "analysis",
        "kumo-structure",
        f"{home}.structure:StructureAnalysis",
        "How the structure of games predicts success.",
    )
    add("analysis", "kumo-domains", f"{home}.domains:DomainsAnalysis", "Success and actions by domain (Figure 3).")
    add("analysis", "kumo-split", f"{home}.split:SplitAnalysis", "Split a domain into two that share no truth.")
    add("analysis", "kumo-errors", f"{home}.errors:ErrorsAnalysis", "Parse errors and tokens, by model and difficulty.")
    add(
        "analysis",
        "kumo-correlation",
        f"{home}.correlation:CorrelationAnalysis",
        "Correlation with other benchmarks over models.",
    )
    add(
        "analysis",
        "kumo-earnings",
        f"{home}.earnings:EarningsAnalysis",
        "What players earned by the formula of the paper's study.",
    )
