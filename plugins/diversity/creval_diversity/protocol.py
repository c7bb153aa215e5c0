"""The protocol `diversity.ask`: one answer, asked for outright or drawn from several that the model puts into words.

Verbalised sampling (arXiv:2510.01171) asks for several answers with their probabilities, and takes one at random by
these. The wording of the request is our own (prompt `verbalised` of the task).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Session
from creval.plugin.parsing import JsonArray

__all__ = ["Ask", "stated"]

_TEXT = ("answer", "response", "text")


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks once. With `verbalised` for `candidates` answers, in at most `max_tokens` tokens (None: the task's limit).

    An answer that is cut at its limit or reads as a refusal counts as it is, as in NoveltyBench.
    """

    verbalised: bool = False
    candidates: int = 5
    max_tokens: int | None = None

    async def run(self, session: Session) -> None:
        """Ask, and draw where several were asked for."""
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
    """Return the answers in a reply and their weights; all alike where a probability is missing or they add up to 0."""
    parsed = JsonArray(items="object", minimum=1).parse(text)
    found = [(answer, item.get("probability")) for item in _items(parsed.value) if (answer := _answer(item))]
    weights = [_weight(probability) for _, probability in found]
    known = [weight for weight in weights if weight is not None]
    if len(known) < len(weights) or sum(known) <= 0:
        known = [1.0] * len(found)
    return [answer for answer, _ in found], known


def _items(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _answer(item: Mapping[str, Any]) -> str | None:
    texts = [item[name].strip() for name in _TEXT if isinstance(item.get(name), str)]
    return next((text for text in texts if text), None)


def _weight(probability: Any) -> float | None:
    """Return a probability as a number: .2, "0.2" or "20%"; None where it is none."""
    try:
        value = float(str(probability).strip().rstrip("%"))
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= 100 else None
