"""A person who answered already: on paper, or in a survey."""

from __future__ import annotations

from collections.abc import Mapping

from creval.errors import RunError
from creval.types.screens import View

__all__ = ["TableDesk"]


class TableDesk:
    """A `Desk` that gives the answers of one person by doc: a text, of several words one a line.

    An empty text is an answer that nothing stands in. Raises RunError for a view of something else than one doc.
    """

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = dict(answers)

    async def ask(self, view: View) -> str | None:
        """Return what the person wrote to the doc of the view."""
        parts = view.sample.split("\x1f")
        if len(parts) < 2 or parts[1] not in self._answers or view.choices:
            raise RunError(f"there is no answer to {view.title!r} in the table", cure="Play this task instead.")
        return self._answers[parts[1]]
