"""The components of this plugin, as names only: neither Reasoning Gym nor anything else heavy is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components", "creval_task_collection"]


@hookimpl
def creval_task_collection() -> str:
    """Return the collection of tasks, as a name."""
    return "creval_reasoning_gym.collection:ReasoningGymTasks"


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the components of the written task files."""
    registry.add(
        "source",
        "reasoning_gym",
        "creval_reasoning_gym.source:open_items",
        "items that a generator of Reasoning Gym makes",
        parameters=params.schema(
            name=params.text(1, about="the data set's name in Reasoning Gym"),
            library=params.text(1, about="the version of Reasoning Gym that the task file was written with"),
            size=params.integer(1, about="items (50)"),
            seed=params.integer(0, about="the generator's seed (42)"),
            settings={"type": "object", "description": "settings of the generator, by its own names"},
            levels=params.list_of(params.integer(0), minimum=1, about="levels of its curriculum, an item of each"),
            required=("name", "library"),
        ),
    )
    registry.add(
        "protocol",
        "reasoning_gym",
        "creval_reasoning_gym.protocol:AtLevel",
        "the question of a doc at a level of the curriculum",
        parameters=params.schema(level=params.integer(0, condition=True, about="the level (none: the defaults)")),
        provides=("question",),
    )
    registry.add(
        "parser",
        "reasoning_gym",
        "creval_reasoning_gym.answer:FinalAnswer",
        "the final answer: in tags, a box, a fenced block, after a cue, or the whole text",
    )
    registry.add(
        "scorer",
        "reasoning_gym",
        "creval_reasoning_gym.verifier:Verifier",
        "Reasoning Gym's own verifier",
        produces=("score", "solved"),
        ranges={"score": (0, 1), "solved": "0/1"},
    )
    registry.add(
        "baseline",
        "reasoning_gym_other",
        "creval_reasoning_gym.baselines:OtherAnswer",
        "the right answer to another item",
    )
    registry.add("baseline", "reasoning_gym_answer", "creval_reasoning_gym.baselines:RightAnswer", "the right answer")
