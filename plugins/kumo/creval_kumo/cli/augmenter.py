"""The augmenter of a command: its options, and the context that opens it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from creval_analyses.options import command_options, open_workbench, part_options

if TYPE_CHECKING:
    from creval_kumo.augment.asking import Augmenter

__all__ = ["augmenter_options", "with_augmenter"]

Command = TypeVar("Command", bound=Callable[..., Any])
Result = TypeVar("Result")

_ROLE = "augmenter"


def augmenter_options(required: bool) -> Callable[[Command], Command]:
    """Add --augmenter and its related options."""
    model = click.option("--augmenter", metavar="M", required=required, help="The model that writes, as provider/name.")

    def add(command: Command) -> Command:
        return model(command_options(part_options(models=True))(command))

    return add


def with_augmenter(given: Mapping[str, Any], work: Callable[[Callable[[str], Augmenter]], Awaitable[Result]]) -> Result:
    """Open the augmenter that the options name, run `work` with it, and return the result.

    `work` gets a function that returns the augmenter for one piece of work, by the name of its subject.
    """
    from creval_kumo.augment.asking import Augmenter

    bench = open_workbench({**given, "role": {_ROLE: given["augmenter"]}}, addressed=_ROLE)
    model = bench.model(_ROLE)
    return bench.work(lambda: work(lambda subject: Augmenter(model, subject, bench.generation)))
