"""The protocol `diversity.ask`: one answer, requested directly or drawn from several verbalised candidates.

Verbalised sampling (arXiv:2510.01171) asks for several answers with their probabilities, and draws one with these
probabilities. The wording of the request is our own (prompt `verbalised` of the task).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Session
from creval.plugin.parsing import JsonArray, without_unseen

__all__ = ["Ask", "stated"]

_TEXT = ("answer", "response", "text")
_OBJECT = re.compile(r"\{[^{}]{1,20000}\}")


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks once; with `verbalised`, for `candidates` answers in at most `max_tokens` tokens (None: the task's limit).

    An answer that is cut at its limit or looks like a refusal counts unchanged, as in NoveltyBench.
    """

    verbalised: bool = False
    candidates: int = 5
    max_tokens: int | None = None

    async def run(self, session: Session) -> None:
        """Ask, and draw one of several candidates."""
        if not session.condition.settings.get("verbalised", self.verbalised):
            reply = await session.ask(session.prompt("plain"), tolerate=("length", "refusal"))
            session.answer(reply.text)
            return
        settings: dict[str, Any] = {} if self.max_tokens is None else {"max_tokens": self.max_tokens}
        reply = await session.ask(
            session.prompt("verbalised", candidates=self.candidates), tolerate=("length",), **settings
        )
        texts, weights = stated(reply.text)
        if not texts:
            session.unparsed("no list of answers with probabilities")
        session.report(candidates=texts, weights=weights)
        session.answer(session.random.choices(texts, weights)[0])


def stated(text: str) -> tuple[list[str], list[float]]:
    """Return the answers in a reply and their weights; equal weights if a probability is missing or the sum is 0."""
    parsed = JsonArray(items="object", minimum=1).parse(text)
    items = _items(parsed.value) or list(_single_objects(without_unseen(text)))
    found = [(answer, item.get("probability")) for item in items if (answer := _answer(item))]
    weights = [_weight(probability) for _, probability in found]
    known = [weight for weight in weights if weight is not None]
    if len(known) < len(weights) or sum(known) <= 0:
        known = [1.0] * len(found)
    return [answer for answer, _ in found], known


def _items(value: Any) -> Sequence[Mapping[str, Any]]:
    listed = value if isinstance(value, list) else []
    return [{str(name).lower(): member for name, member in item.items()} for item in listed if isinstance(item, dict)]


def _single_objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list that was cut, or those on separate lines."""
    for found in _OBJECT.findall(text):
        try:
            item = json.loads(found)
        except (ValueError, RecursionError):
            continue
        yield {str(name).lower(): value for name, value in item.items()}


def _answer(item: Mapping[str, Any]) -> str | None:
    texts = [item[name].strip() for name in _TEXT if isinstance(item.get(name), str)]
    return next((text for text in texts if text), None)


def _weight(probability: Any) -> float | None:
    """Return a probability as a number: .2, "0.2" or "20%"; None if it is not one."""
    said = str(probability).strip()
    try:
        value = float(said.rstrip("% ")) / (100 if said.endswith("%") else 1)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 100 else None
