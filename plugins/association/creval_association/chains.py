"""PACE's two stages: protocol `pace`, and parser `pace_chain` for its chains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import JsonArray, JsonObject, Parsed, Session
from creval_association.word_list import WordList

__all__ = ["PaceChain", "PaceProtocol", "read_entries"]

_LONGEST_REASON = 500


def read_entries(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the (word, reason) pairs of an answer and the route by which they were found.

    In order: the list `results` of a JSON object (`results`); any JSON array of objects with a `word` (`objects`); a
    list of words in another form, with empty reasons (as `word_list` reads it). No list: ([], "unreadable").
    """
    found = JsonObject(key="results").parse(text)
    if found.ok and isinstance(found.value, list) and (entries := _pairs(found.value)):
        return entries, "results"
    found = JsonArray(items="object").parse(text)
    if found.ok and (entries := _pairs(found.value)):
        return entries, "objects"
    found = WordList().parse(text)
    if found.ok:
        return [(word, "") for word in found.value], found.route
    return [], "unreadable"


def _pairs(rows: list[Any]) -> list[tuple[str, str]]:
    pairs = []
    for row in rows:
        word, reason = (row.get("word"), row.get("reason")) if isinstance(row, dict) else (row, "")
        if isinstance(word, str) and word.strip():
            pairs.append((word.strip(), reason.strip()[:_LONGEST_REASON] if isinstance(reason, str) else ""))
    return pairs


@dataclass(frozen=True)
class PaceChain:
    """Reads one chain: a list of words. An answer without any list gives an empty chain (route `unreadable`), because
    the other chains of the sample count without it; the scorer leaves it out and counts it.
    """

    def parse(self, text: Any) -> Parsed:
        """Return the words of the chain in the spelling of the answer."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        entries, route = read_entries(text)
        return Parsed([word for word, _ in entries], route=route)


@dataclass(frozen=True)
class PaceProtocol:
    """Asks for first associations of the doc's `seed` (prompt `first`), then for one chain from each of the first
    `chains` of them (prompt `chain`, with the fields `word` and `reason`). Every chain is an answer of the sample.

    Fewer first associations than chains: the sample is unparsed.
    """

    chains: int = 3

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls of a sample whose first answer can be read."""
        return 1 + self.chains, 1 + self.chains

    async def run(self, session: Session) -> None:
        """Make the calls: one, then `chains` more."""
        reply = await session.ask(session.prompt("first"))
        entries, route = read_entries(reply.text)
        first = list({word.lower(): (word.lower(), reason) for word, reason in reversed(entries)}.values())[::-1]
        session.report(first=[word for word, _ in first], first_route=route)
        if len(first) < self.chains:
            session.unparsed(f"{len(first)} first associations, {self.chains} needed")
        for word, reason in first[: self.chains]:
            # The reason stands inside a JSON string of the prompt.
            quoted = json.dumps(reason, ensure_ascii=False)[1:-1]
            chain = await session.ask(session.prompt("chain", word=word, reason=quoted))
            session.answer(chain.text)
