"""Reads the head of a plainly written task file from its lines, without the YAML reader.

Only what has one obvious reading is read: of everything else None is returned, and the YAML reader is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from creval.tasks.yaml.scalars import resolve

__all__ = ["VARIANTS", "WANTED", "scan"]

VARIANTS = "variants"
WANTED = ("task", "suite", "version", "title", "measures", "source", "include", VARIANTS)
"""The keys that a list of tasks is made from."""
_OF_VARIANT = ("version", "title", "measures")

_KEY = re.compile(r"([A-Za-z0-9_]+):(?=\s|$)")
_LIST = re.compile(r"\[\s*((?:[A-Za-z][\w-]*)(?:\s*,\s*[A-Za-z][\w-]*)*)\s*\]")
_PLAIN = re.compile(r"[\w./](?:[^\n:]|:(?=\S))*")
_ANY_QUOTED = re.compile(r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^']*'")
_BLOCK_TEXT = r"(?:^|[:\-?]\s+)[|>][-+0-9]*$"
_BLOCK_ENDS = frozenset("|>+-0123456789")
_FLOW_TITLE = r"\{\s*title:\s*(\"[^\"\\]*\"|'[^']*'|[A-Za-z][\w ./()-]*)\s*[,}]"
_FLOW_WANTED = r"(?:\b(?:title|version|measures)|\0)\s*:"


def scan(text: str) -> dict[str, Any] | None:
    """Return the wanted keys of a plainly written file; of `source` nothing. None: the YAML reader is needed.

    The value of `variants` is a mapping of each one's name to its version, title and measures, where it states them.
    """
    values: dict[str, Any] = {}
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = _KEY.match(line)
        if match is None or match[1] not in WANTED:
            continue
        key = match[1]
        if key == "source":
            continue
        rest = line[match.end() :].strip()
        following = lines[index + 1] if index + 1 < len(lines) else ""
        value: Any
        if key == VARIANTS:
            value = _variants(_indented(lines[index + 1 :])) if not rest or rest.startswith("#") else None
        else:
            value = _plain_value(rest) if not following.startswith((" ", "\t", "-")) else None
        if value is None or key in values:
            return None
        values[key] = value
    if not values and not any(_KEY.match(line) for line in lines):
        return None
    return values


def _plain_value(text: str) -> Any:
    """Return the value of a text that has one obvious reading, else None."""
    text = text.split(" #", 1)[0].strip()
    quote = text[:1]
    if quote in ("'", '"') and len(text) > 1 and text[-1] == quote:
        return None if quote in text[1:-1] or ("\\" in text and quote == '"') else text[1:-1]
    listed = _LIST.fullmatch(text)
    if listed:
        return [word.strip() for word in listed[1].split(",")]
    if not _PLAIN.fullmatch(text):
        return None
    try:
        return resolve(text)
    except ValueError:
        return None


def _indented(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines before the next one that begins at the margin."""
    end = next((i for i, line in enumerate(lines) if line and not line.startswith((" ", "\t", "#"))), len(lines))
    return lines[:end]


def _variants(lines: Sequence[str]) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the variants that stand in the lines below `variants:`, by name."""
    found: dict[str, dict[str, Any]] = {}
    outer: int | None = None
    inner: int | None = None  # the indentation of a variant's own keys
    open_key: str | None = None  # the wanted key of the line before
    text_below: int | None = None  # the indentation of the key that a block of text belongs to
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip(" "))
        if not text or (text_below is not None and depth > text_below):
            continue
        if text.startswith("#"):
            continue
        bare = _bare(text)
        if bare is None or line.startswith("\t", depth):
            return None
        text_below = depth if bare[-1:] in _BLOCK_ENDS and re.search(_BLOCK_TEXT, bare) else None
        outer = depth if outer is None else outer
        if depth == outer:
            match = _KEY.match(text)
            rest = text[match.end() :].strip() if match else ""
            values = _flow(rest, bare)
            if match is None or not _is_name(match[1]) or values is None or match[1] in found:
                return None
            found[match[1]] = values
            inner, open_key = (-1 if rest and not rest.startswith("#") else None), None
            continue
        inner = depth if inner is None else inner
        if depth < inner or inner < 0 or not found or (depth > inner and open_key):
            return None
        if depth > inner:
            continue
        key = _KEY.match(text)
        if key is None:
            return None
        open_key = key[1] if key[1] in _OF_VARIANT else None
        if open_key is not None:
            own = list(found.values())[-1]
            value = _plain_value(text[key.end() :].strip())
            if value is None or open_key in own:
                return None
            own[open_key] = value
    return found or None


def _bare(text: str) -> str | None:
    """Return a line without comments, a NUL for each quoted text; None where it does not end what it opens."""
    bare = _ANY_QUOTED.sub("\0", text).split(" #", 1)[0].rstrip()
    closed = sum(map(bare.count, "{[")) == sum(map(bare.count, "}]"))
    return bare if closed and '"' not in bare and "'" not in bare else None


def _is_name(text: str) -> bool:
    return text == text.lower() and not text.startswith("_")


def _flow(text: str, bare: str) -> dict[str, Any] | None:
    """Return what a variant written in one line, `{title: ..., ...}`, states; `bare` is the line without quotes."""
    if not text or text.startswith("#"):
        return {}
    wanted = re.findall(_FLOW_WANTED, bare)
    if not (text.startswith("{") and bare.endswith("}")) or "\\" in text:
        return None
    if not wanted:
        return {}
    title = re.match(_FLOW_TITLE, text)
    value = _plain_value(title[1].strip()) if title else None
    return {"title": value} if len(wanted) == 1 and value is not None else None
