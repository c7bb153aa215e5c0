"""Readers of option values of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

__all__ = ["NewPath", "comma_list", "only_model", "paths", "settings", "sweeps", "texts"]


class NewPath(click.Path):
    """A path to be written. An empty text is none: it would stand for the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not value.strip():
            self.fail("an empty text is no path", param, ctx)
        return super().convert(value, param, ctx)


def only_model(values: Sequence[str]) -> str:
    """Return the one model that was named, or an empty text. Raises click.UsageError where it is more than one."""
    if len(values) > 1:
        raise click.UsageError(f"--model takes one model, not {len(values)}: make a run for each")
    return values[0] if values else ""


def comma_list(values: Sequence[str]) -> list[str]:
    """Split `a,b` and repeated options into one list, without doubles."""
    words = [word.strip() for value in values for word in value.split(",")]
    return list(dict.fromkeys(word for word in words if word))


def texts(values: Sequence[str], option: str) -> dict[str, str]:
    """Read NAME=VALUE pairs. Raises click.UsageError that names the option."""
    pairs = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name or not text:
            raise click.UsageError(f"{option} takes NAME=VALUE, not {value!r}")
        if name.strip() in pairs:
            raise click.UsageError(f"{option} {name.strip()} is given twice; keep one of them")
        pairs[name.strip()] = text.strip()
    return pairs


def paths(values: Sequence[str], option: str) -> dict[str, Path]:
    """Read NAME=FILE pairs; each file must exist."""
    found = {name: Path(text) for name, text in texts(values, option).items()}
    for name, path in found.items():
        if not path.exists():
            raise click.UsageError(f"{option} {name}: there is no file {path}")
    return found


def settings(values: Sequence[str], option: str) -> dict[str, Any]:
    """Read NAME=VALUE pairs whose values are YAML: numbers, true, null, [lists]."""
    import yaml

    try:
        return {name: yaml.safe_load(text) for name, text in texts(values, option).items()}
    except yaml.YAMLError as error:
        raise click.UsageError(f"{option}: a value is no valid YAML: {error}") from error


def sweeps(values: Sequence[str], option: str) -> dict[str, list[Any]]:
    """Read NAME=VALUE,VALUE pairs whose values are YAML: temperature=0.7,1.0."""
    import yaml

    try:
        found = {name: yaml.safe_load(f"[{text}]") for name, text in texts(values, option).items()}
    except yaml.YAMLError as error:
        raise click.UsageError(f"{option}: a value is no valid YAML: {error}") from error
    return found
