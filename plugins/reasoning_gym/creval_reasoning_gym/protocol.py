"""The protocol `reasoning_gym`: one question, at a level if the task has several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import DataError, Session

__all__ = ["AtLevel", "at_level"]


def at_level(doc: Mapping[str, Any], level: int | None) -> Mapping[str, Any]:
    """Return question, answer and other fields of a doc at a level. Raises DataError for a level that the doc lacks."""
    if level is None or "levels" not in doc:
        return doc
    found: Mapping[str, Any] | None = doc["levels"].get(str(level))
    if found is None:
        fix = "Add the level to `levels` of the dataset, or leave it out of the conditions."
        raise DataError(f"there is no item at level {level}", where=f"doc {doc.get('id')}", fix=fix)
    return found


@dataclass(frozen=True, slots=True)
class AtLevel:
    """Asks the doc's question at `level`; without one, the question of the library's defaults."""

    level: int | None = None

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return the reason if a doc has no question at this level."""
        if self.level is None or str(self.level) in fields.get("levels", {}):
            return None
        return f"it has no item at level {self.level}: add the level to `levels` of the dataset"

    async def run(self, session: Session) -> None:
        """Ask once."""
        prompt = session.prompt(question=at_level(session.doc.fields, self.level)["question"])
        reply = await session.ask(prompt)
        session.answer(reply.completions[0].text)
