"""What a line typed at a terminal means: a choice by number or name, a command, or neither."""

from __future__ import annotations

from dataclasses import dataclass

from creval.plugin import nearest
from creval.plugin.screens import View

__all__ = ["END", "Chosen", "Help", "Meaning", "Page", "Stop", "Wrong", "command", "read_choice"]

END = "."
"""The line that ends a free answer."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice, by its value."""

    value: str


@dataclass(frozen=True, slots=True)
class Page:
    """Turn the text by a number of pages."""

    by: int


@dataclass(frozen=True, slots=True)
class Help:
    """Show how to play."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The person stops for now."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Neither a choice nor a command; `reason` is shown to the person."""

    reason: str


Meaning = Chosen | Page | Help | Stop | Wrong


def command(text: str) -> Page | Help | Stop | None:
    """Return the command on a line, None if it is not a command."""
    match text.strip().casefold():
        case "+" | "next":
            return Page(1)
        case "-" | "back":
            return Page(-1)
        case "?" | "help":
            return Help()
        case "quit":
            return Stop()
    return None


def read_choice(text: str, view: View) -> Meaning:
    """Read a line as a choice of the view.

    A name takes precedence over a command and a number; letter case and runs of spaces are ignored, unless two
    choices differ only in them: then only the exact name counts. Numbers count from 1 through all groups.
    A single `q` stops, too (in a free answer it may be the answer).
    """
    values = [choice.value for choice in view.options]
    bare = text.strip()
    if bare in values:
        return Chosen(bare)
    alike = [value for value in values if _flat(value) == _flat(bare)]
    if len(alike) == 1:
        return Chosen(alike[0])
    if alike:
        return Wrong(f"{bare!r} could be {' or '.join(map(repr, alike))}. Type its number.")
    known = Stop() if bare.casefold() == "q" else command(bare)
    if known is not None:
        return known
    if bare.isascii() and bare.isdecimal():
        number = int(bare[:9])
        if 1 <= number <= len(values):
            return Chosen(values[number - 1])
        return Wrong(f"There is no number {bare[:9]}: choose from 1 to {len(values)}.")
    if not bare:
        return Wrong("Type the number or the name of a choice.")
    near = nearest(bare[:200], values)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return Wrong(f"{bare[:60]!r} is none of the choices.{hint}")


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
