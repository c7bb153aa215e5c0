"""PACE's two stages: protocol `pace`, and parser `pace_chain` for its chains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed, Session
from creval.plugin.parsing import REFUSAL_ROUTE, JsonArray, holds_json, without_unseen
from creval_association.word_list import WordList

__all__ = ["PaceChain", "PaceProtocol", "read_entries"]

_LONGEST_REASON = 500


UNREADABLE = "unreadable"


class _Entries(JsonArray):
    """A JSON array whose items are (word, reason) pairs."""

    def take(self, rows: list[Any]) -> list[Any] | None:
        """Return the pairs of a non-empty array; None if an item has no word, which would leave a gap in the chain."""
        pairs = []
        for row in rows:
            said = row if isinstance(row, dict) else {"word": row}
            word, reason = self.called(said, "word"), self.called(said, "reason")
            if not isinstance(word, str):
                return None
            if word.strip():
                pairs.append((word.strip(), reason.strip()[:_LONGEST_REASON] if isinstance(reason, str) else ""))
        return pairs or None


_JSON = _Entries(key="results")


def read_entries(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the (word, reason) pairs of an answer and the route by which they were found.

    Accepts a JSON array of objects with a `word`, or of words; in an object, the list `results` or its only list; of
    several, the longest, or the last of equals. Without JSON, accepts any list that `word_list` reads, with empty
    reasons. If there is no list, or the JSON is invalid, returns ([], "unreadable (the reason)").
    """
    text = without_unseen(text)
    found = _JSON.parse(text)
    if found.ok:
        return without_unseen(found.value), found.route
    if not holds_json(text):
        found = WordList().parse(text)
        if found.ok:
            return [(word, "") for word in found.value], found.route
    return [], REFUSAL_ROUTE if found.route == REFUSAL_ROUTE else f"{UNREADABLE} ({found.reason})"


@dataclass(frozen=True)
class PaceChain:
    """Reads one chain: a list of words. An answer without a list gives an empty chain (route `refusal`, or
    `unreadable` with the reason), since the other chains of the sample still count; the scorer skips and counts
    empty chains.
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

    A sample with fewer first associations than chains is unparsed.
    """

    chains: int = 3

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the number of calls of a sample whose first answer can be parsed."""
        return 1 + self.chains, 1 + self.chains

    async def run(self, session: Session) -> None:
        """Make the calls: one, then `chains` more."""
        reply = await session.ask(session.prompt("first"))
        entries, route = read_entries(reply.text)
        first = list({word.lower(): (word.lower(), reason) for word, reason in reversed(entries)}.values())[::-1]
        session.report(first=[word for word, _ in first], first_route=route)
        if len(first) < self.chains:
            why = f": {route}" if not first else ""
            session.unparsed(f"{len(first)} first associations, {self.chains} needed{why}")
        for word, reason in first[: self.chains]:
            # The prompt puts the reason inside a JSON string.
            quoted = json.dumps(reason, ensure_ascii=False)[1:-1]
            chain = await session.ask(session.prompt("chain", word=word, reason=quoted))
            session.answer(chain.text)
