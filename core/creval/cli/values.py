"""Readers of option values of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

__all__ = ["comma_list", "paths", "settings", "texts"]


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
