"""`--json`, `--csv`, `--markdown`, `--latex`: in which form a command prints its table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["format_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

_FORMS = (
    ("json", "Print JSON, with everything that is known."),
    ("csv", "Print CSV, with every digit."),
    ("markdown", "Print a Markdown table."),
    ("latex", "Print a LaTeX table (booktabs)."),
)


def format_options(command: Command) -> Command:
    """Add the options to a click command, which is given the one that was named as `form`, else None."""
    for name, about in reversed(_FORMS):
        command = click.option(f"--{name}", "form", flag_value=name, default=None, help=about)(command)
    return command
