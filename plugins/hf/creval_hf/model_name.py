"""The name of a model: `ORG/NAME@REVISION?dtype=float32&device=cpu`, or a folder in place of `ORG/NAME`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import UnknownNameError, UsageError

__all__ = ["MOST_ROWS", "ModelName"]

MOST_ROWS = 64
"""Maximum number of concurrent answers, unless the name states another one."""
_HUB_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?", re.ASCII)
_DEVICE = re.compile(r"cpu|mps|cuda(?::\d+)?")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model, and the options to load it.

    `place` is a name on the Hub, or a folder if `local`. `revision` is a commit, tag or branch (None: the newest).
    `device` None: a GPU if there is one. `device_map` spreads the weights over all devices. `rows` is the maximum of
    concurrent answers or texts, `context` the longest text in tokens if it is not the model's own.
    """

    place: str
    local: bool = False
    revision: str | None = None
    dtype: str = "auto"
    device: str | None = None
    device_map: str | None = None
    load_in: str | None = None
    adapter: str | None = None
    attention: str | None = None
    rows: int = MOST_ROWS
    context: int | None = None

    @classmethod
    def parse(cls, model: str) -> ModelName:
        """Parse the text after `hf/`. Raises UsageError."""
        where = f"model hf/{model}"
        local = model.startswith(("/", "./", "../", "~"))
        text, _, query = (model, "", "") if local and Path(model).expanduser().is_dir() else model.partition("?")
        options = _options(query, where)
        if options.get("device") and options.get("device_map"):
            fix = "Name one: device for a single one, device_map=auto for all."
            raise UsageError("device and device_map exclude each other", where=where, fix=fix)
        if local:
            return cls(str(Path(text).expanduser().resolve()), True, None, **options)
        name, at, revision = text.partition("@")
        if not _HUB_NAME.fullmatch(name) or (at and not revision):
            fix = "Write hf/ORG/NAME, hf/ORG/NAME@REVISION or hf/./folder."
            raise UsageError(f"{text!r} is not the name of a model on the Hub", where=where, fix=fix)
        return cls(name, False, revision or None, **options)

    @property
    def title(self) -> str:
        """Return the name without its options, as in replies."""
        return Path(self.place).name if self.local else self.place


def _number(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or len(text) > 9 or int(text) < least:
            raise ValueError(f"a whole number from {least}")
        return int(text)

    return read


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return read


def _device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError("cpu, cuda, cuda:N or mps")
    return text


def _some(text: str) -> str:
    if not text:
        raise ValueError("a name")
    return text


_OPTIONS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "dtype": ("dtype", _one_of("auto", "float32", "bfloat16", "float16")),
    "device": ("device", _device),
    "device_map": ("device_map", _one_of("auto")),
    "load_in": ("load_in", _one_of("4bit", "8bit")),
    "adapter": ("adapter", _some),
    "attention": ("attention", _one_of("eager", "sdpa", "flash_attention_2")),
    "batch_size": ("rows", _number(1)),
    "context_length": ("context", _number(2)),
}
"""The options of a name, each with its field and parser."""


def _options(query: str, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name not in _OPTIONS:
            raise UnknownNameError("option of hf/", name, list(_OPTIONS), where=where)
        field, read = _OPTIONS[name]
        if field in found:
            raise UsageError(f"{name} is stated twice", where=where, fix="Keep one of them.")
        try:
            found[field] = read(value)
        except ValueError as error:
            raise UsageError(f"{name} is {value!r}", where=where, fix=f"It takes {error}.") from None
    return found
