"""Parser `create_paths`: an answer as plain data for the scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed
from creval_create.reading.answer import read_answer

__all__ = ["AnswerPaths"]


@dataclass(frozen=True)
class AnswerPaths:
    """Parse the paths of one answer.

    The value: `paths` (each with `key`, `triples` and, if stated, `probability`) and `unread` (each with `key`,
    `reason` and the beginning of its `text`), `rescued`, the number of paths that a parser of the whole answer as one
    JSON value loses. An empty set is a parsed answer; an answer without a readable path is not.
    """

    def parse(self, text: Any) -> Parsed:
        """Return the paths, or why there are none."""
        if not isinstance(text, str):
            return Parsed.failure(f"expected text, but the parser before it gave a {type(text).__name__}")
        reading = read_answer(text)
        if reading.problem:
            return Parsed.failure(reading.problem, f"create_paths/{reading.route}")
        if reading.unread and not reading.paths:
            first = reading.unread[0]
            reason = f"none of the {len(reading.unread)} paths can be read; number {first.key}: {first.reason}"
            return Parsed.failure(reason, f"create_paths/{reading.route}")
        paths = []
        for found in reading.paths:
            one: dict[str, Any] = {"key": found.key, "triples": [list(triple) for triple in found.path]}
            if found.probability is not None:
                one["probability"] = found.probability
            paths.append(one)
        unread = [found._asdict() for found in reading.unread]
        rescued = max(0, len(paths) - reading.entries)
        return Parsed({"paths": paths, "unread": unread, "rescued": rescued}, route=f"create_paths/{reading.route}")
