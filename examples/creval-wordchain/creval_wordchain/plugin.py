"""What this plugin registers; imported at every start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components", "creval_run_finished", "creval_tasks"]


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register a protocol, a parser, scorers, baselines and an analysis."""
    home = "creval_wordchain"
    turns = params.schema(turns=params.integer(1, 50, condition=True, about="words that the model is asked for"))
    registry.add(
        "protocol", "wordchain", f"{home}.protocol:WordChain", "word by word", parameters=turns, provides=("word",)
    )
    registry.add("parser", "single_word", f"{home}.parser:SingleWord", "one word of letters alone", gives="text")
    registry.add(
        "scorer",
        "wordchain",
        f"{home}.scorers:ChainLength",
        "words in the chain",
        produces=("links",),
        ranges={"links": (0, None)},
    )
    registry.add(
        "scorer",
        "wordchain_rated",
        f"{home}.scorers:Surprise",
        "how surprising a judge finds the chain",
        produces=("surprise",),
        ranges={"surprise": (1, 5)},
        waits=True,
        roles=("judge",),
        prompts=("surprise",),
        provides=("chain",),
    )
    registry.add("baseline", "wordchain_follows", f"{home}.baselines:Follows", "a new word that goes on")
    registry.add("baseline", "wordchain_repeats", f"{home}.baselines:Repeats", "the word that it was given")
    registry.add("analysis", "chain-lengths", f"{home}.analysis:ChainLengths", "How long chains are, by model.")


@hookimpl
def creval_run_finished(results: Mapping[str, Any], folder: Path) -> None:
    """Note each finished run of our tasks in a file next to the runs: an observer may do anything that is quick."""
    ours = [task["task"] for task in results["tasks"] if task["qualified"].startswith("wordchain/")]
    if ours:
        with (folder.parent / "wordchain.log").open("a", encoding="utf-8") as log:
            log.write(f"{folder.name} {results['model']} {','.join(ours)}\n")
