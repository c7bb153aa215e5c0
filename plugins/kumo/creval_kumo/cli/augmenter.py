"""The augmenter of a command: options, and a model that is opened and closed around the work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from creval.plugin import Model

__all__ = ["augmenter_options", "generation", "run_with_model"]

Command = TypeVar("Command", bound=Callable[..., Any])
Result = TypeVar("Result")

_OPTIONS = (
    click.option("--base-url", metavar="URL", help="A chat-completions server, e.g. http://127.0.0.1:8000/v1."),
    click.option("--generation", multiple=True, metavar="K=V", help="A generation setting, e.g. max_tokens=16000."),
    click.option("--timeout", type=float, default=600.0, show_default=True, help="Seconds one call may take."),
    click.option("--max-cost", type=float, metavar="USD", help="Stop when this much was spent."),
    click.option("--max-calls", type=click.IntRange(min=1), help="Stop after this many calls."),
    click.option("--offline", is_flag=True, help="Forbid the network."),
)


def augmenter_options(required: bool) -> Callable[[Command], Command]:
    """Add --augmenter and what goes with it."""
    model = click.option("--augmenter", metavar="M", required=required, help="The model that writes, as provider/name.")

    def add(command: Command) -> Command:
        for option in reversed((model, *_OPTIONS)):
            command = option(command)
        return command

    return add


def generation(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the generation settings. Without any the provider's defaults hold, as in the paper."""
    from creval.plugin import settings

    return {name: value for name, value in settings(given["generation"], "--generation").items() if value is not None}


def run_with_model(given: Mapping[str, Any], work: Callable[[Model], Awaitable[Result]]) -> Result:
    """Open the augmenter, let `work` ask it, close it, and return what came of it."""
    from creval.plugin import Budget, ModelOptions, load_plugins, open_model

    options = ModelOptions(
        base_url=given["base_url"],
        offline=given["offline"],
        timeout=given["timeout"],
        budget=Budget(max_cost=given["max_cost"], max_calls=given["max_calls"]),
    )
    model = open_model(given["augmenter"], load_plugins().registry, options)

    async def working() -> Result:
        try:
            return await work(model)
        finally:
            await model.close()

    return asyncio.run(working())
