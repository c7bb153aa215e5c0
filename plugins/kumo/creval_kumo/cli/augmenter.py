"""The augmenter of a command: its options, and the work that it is opened for."""

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
    """Add --augmenter and what goes with it."""
    model = click.option("--augmenter", metavar="M", required=required, help="The model that writes, as provider/name.")

    def add(command: Command) -> Command:
        return model(command_options(part_options(models=True))(command))

    return add


def with_augmenter(given: Mapping[str, Any], work: Callable[[Callable[[str], Augmenter]], Awaitable[Result]]) -> Result:
    """Let `work` ask the augmenter that the options name, and return what came of it.

    `work` is given a function that returns the augmenter for one piece of work, by the name of its subject.
    """
    from creval_kumo.augment.asking import Augmenter

    bench = open_workbench({**given, "role": {_ROLE: given["augmenter"]}}, addressed=_ROLE)
    model = bench.model(_ROLE)
    return bench.work(lambda: work(lambda subject: Augmenter(model, subject, bench.generation)))
