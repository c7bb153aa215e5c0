"""Baselines: the hand-made paths of our own queries, and two claims that fit any query."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import MissingPartError, Turn
from creval_create.paths.triples import Path
from creval_create.queries.own import judged_paths

__all__ = ["DirectClaim", "OwnPaths", "SourcePath"]


def _answer_text(paths: Iterable[Path]) -> str:
    numbered = {str(number): path for number, path in enumerate(paths, 1)}
    return f"<answer>{json.dumps(numbered, ensure_ascii=False)}</answer>"


@dataclass(frozen=True)
class OwnPaths:
    """Answers with the hand-made paths of our own queries: the one generic path (`floor`) or all others (`ceiling`).

    In a further round the answer is empty.
    """

    kind: Literal["floor", "ceiling"]

    def reply(self, turn: Turn) -> str:
        """Return the answer. Raises MissingPartError for a query that is not our own."""
        paths = [made.path for made in judged_paths() if made.query == turn.key.doc and made.kind == self.kind]
        if not paths:
            raise MissingPartError(
                f"the query {turn.key.doc!r} has no hand-made paths",
                fix="Floor and ceiling are made for our own twenty queries.",
            )
        return _answer_text(paths if len(turn.messages) == 1 else [])


class DirectClaim:
    """The floor of any query: a single triple that claims that the start itself satisfies the target."""

    def reply(self, turn: Turn) -> str:
        """Return the answer."""
        doc = turn.doc
        return _answer_text([((str(doc["entity_a"]), str(doc["rel_b"]), str(doc["entity_b"])),)])


class SourcePath:
    """The published source path, reversed where needed so that each tail is the next head: one path, hence at most 5.

    It is not the best answer, since a set of paths scores more; it shows that a query can be answered at all.
    """

    def reply(self, turn: Turn) -> str:
        """Return the answer, an empty set if the query states no source path."""
        triples: list[Any] = [turn.doc.get(f"triple{number}_labels") for number in (1, 2, 3)]
        if not all(isinstance(triple, list | tuple) and len(triple) == 3 for triple in triples):
            return _answer_text([])
        (head1, relation, tail1), (head2, _, tail2), last = triples
        if head1 == turn.doc["entity_a"]:
            path = ((head1, relation, tail1), (tail1, f"is {relation} of", head2), tuple(last))
        else:
            path = ((tail1, f"is {relation} of", head1), (head1, relation, tail2), tuple(last))
        return _answer_text([path])
