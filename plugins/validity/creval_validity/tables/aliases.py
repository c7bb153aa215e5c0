"""One model under many names: `openrouter/openai/gpt-4.1-mini` is `gpt-4-1-mini`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from creval.plugin import DataError, nearest

__all__ = ["Aliases", "normalise", "shipped_aliases"]

_MAX_BYTES = 1_000_000
_SEPARATORS = re.compile(r"[\s._:@]+")


def normalise(name: str) -> str:
    """Return the form in which names are compared: lower case, last part of the path, `-` for `. _ : @` and spaces.

    The parts before the last slash name the provider, not the model. The suffix `:free`, which a router
    gives to the same weights, and `.jsonl` of a file of replayed answers are dropped; every other suffix
    belongs to a different model and is kept.
    """
    last = name.strip().lower().rsplit("/", 1)[-1]
    last = last.removesuffix(":free").removesuffix(".jsonl")
    return _SEPARATORS.sub("-", last).strip("-")


@dataclass(frozen=True, slots=True)
class Aliases:
    """Canonical names with their aliases. `lookup` maps a normalised name to the canonical one."""

    lookup: Mapping[str, str]

    @classmethod
    def build(cls, entries: Mapping[str, Sequence[str]], where: str) -> Aliases:
        """Build from canonical name -> other names. Raises DataError if one name belongs to two models."""
        lookup: dict[str, str] = {}
        for canonical, others in entries.items():
            for name in (canonical, *others):
                known = lookup.setdefault(normalise(name), canonical)
                if known != canonical:
                    raise DataError(
                        f"the name {name!r} stands for both {known!r} and {canonical!r}",
                        where=where,
                        fix="Give it to one of them only.",
                    )
        return cls(lookup)

    def canonical(self, name: str) -> str:
        """Return the canonical name of a model; an unknown model keeps its normalised name."""
        form = normalise(name)
        return self.lookup.get(form, form)

    def knows(self, name: str) -> bool:
        """Return whether the table contains this model."""
        return normalise(name) in self.lookup

    def suggestions(self, name: str) -> tuple[str, ...]:
        """Return the nearest names in the table."""
        return nearest(normalise(name), self.lookup)

    def extended(self, path: Path | str) -> Aliases:
        """Return a table with the entries of a user's YAML file added; the user's come first.

        The file maps a canonical name to a list of other names. Raises DataError if it has another structure.
        """
        entries = _read(Path(path))
        mine = Aliases.build(entries, str(path))
        return Aliases({**self.lookup, **{form: self._resolve(name) for form, name in mine.lookup.items()}})

    def _resolve(self, canonical: str) -> str:
        return self.lookup.get(normalise(canonical), canonical)


@cache
def shipped_aliases() -> Aliases:
    """Return the alias table that comes with the plugin."""
    resource = files("creval_validity") / "data" / "aliases.yaml"
    return Aliases.build(_parse(resource.read_text(encoding="utf-8"), "aliases.yaml"), "aliases.yaml")


def _read(path: Path) -> dict[str, list[str]]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DataError(f"larger than {_MAX_BYTES} bytes", where=str(path))
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=str(path), fix="Check the path.") from error
    except UnicodeDecodeError as error:
        raise DataError("is not UTF-8 text", where=str(path), fix="Save it as UTF-8.") from error
    return _parse(text, str(path))


def _parse(text: str, where: str) -> dict[str, list[str]]:
    import yaml

    try:
        loaded: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise DataError(f"is not YAML: {error}", where=where, fix="Map a model's name to a list of names.") from error
    if not isinstance(loaded, dict):
        raise DataError("must map a model's name to a list of other names", where=where, fix="gpt-5: [my-gpt-5]")
    entries: dict[str, list[str]] = {}
    for canonical, others in loaded.items():
        if not isinstance(canonical, str) or not isinstance(others, list):
            raise DataError(f"{canonical!r} needs a list of names", where=where, fix=f"{canonical}: [other name]")
        if not all(isinstance(other, str) for other in others):
            raise DataError(f"{canonical!r} lists something that is not a text", where=where, fix="Quote the names.")
        entries[canonical] = list(others)
    return entries
