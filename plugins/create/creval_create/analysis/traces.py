"""Exploration in a reasoning trace: relations, entities and triples, extracted by a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from creval.plugin import Message, ModelError, Sample, SampleKey
from creval.plugin.parsing import JsonObject
from creval_analyses.workbench import Workbench
from creval_create.paths.triples import normal

__all__ = ["ROLE", "Explored", "explore", "trace_of"]

ROLE = "extractor"
_TRIES = 2
_THOUGHT = re.compile(r"<\s*think(?:ing)?\s*>(.*?)(?:<\s*/\s*think(?:ing)?\s*>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Explored:
    """The names in one trace, with repetitions."""

    relations: tuple[str, ...]
    entities: tuple[str, ...]
    triples: tuple[tuple[str, str, str], ...]

    def counts(self) -> list[int]:
        """Return the numbers of relations, entities and triples, raw, then distinct."""
        named: list[Sequence[Any]] = [self.relations, self.entities, self.triples]
        return [*map(len, named), *(len(set(each)) for each in named)]


def trace_of(sample: Sample) -> str:
    """Return the reasoning of a sample's target: the provider's reasoning field, or inside think tags."""
    found = []
    for call in sample.calls:
        reply = call.reply if call.role == "target" else None
        for completion in reply.completions if reply else ():
            inside = _THOUGHT.search(completion.text)
            found.append(completion.reasoning or (inside[1] if inside else ""))
    return "\n\n".join(text.strip() for text in found if text and text.strip())


async def explore(bench: Workbench, key: SampleKey, trace: str) -> Explored | None:
    """Ask the extractor about one trace: Prompt G.1, and our own prompt for triples, which no printed prompt extracts.

    Return None if it fails or stays unreadable.
    """
    named = await _ask_model(bench, key, "entities", trace, ("relation", "entities"))
    linked = await _ask_model(bench, key, "triples", trace, ("triples",))
    if named is None or linked is None:
        return None
    triples = [tuple(map(normal, triple)) for triple in linked["triples"] if _is_triple(triple)]
    return Explored(_names(named["relation"]), _names(named["entities"]), tuple((a, b, c) for a, b, c in triples))


async def _ask_model(
    bench: Workbench, key: SampleKey, prompt: str, trace: str, keys: tuple[str, ...]
) -> dict[str, Any] | None:
    text = files("creval_create.analysis").joinpath("prompts", f"{prompt}.txt").read_text(encoding="utf-8")
    for _ in range(_TRIES):
        try:
            reply = await bench.ask(ROLE, [Message("user", text + trace)], key, draw=0, temperature=0)
        except ModelError:
            return None
        found = JsonObject(keys=keys).parse(reply.text)
        if found.ok and all(isinstance(found.value[name], list) for name in keys):
            value: dict[str, Any] = found.value
            return value
        bench.unreadable(reply, found.reason or "a key holds no list")
    return None


def _is_triple(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(part, str) and part.strip() for part in value)


def _names(values: list[Any]) -> tuple[str, ...]:
    return tuple(normal(value) for value in values if isinstance(value, str) and value.strip())
