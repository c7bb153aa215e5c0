"""Fields for the prompts of the jury; the prompts themselves are in the task file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Context
from creval_openended.judging.criteria import Criterion, criterion_list
from creval_openended.judging.replies import Analyst

__all__ = ["Wording"]

_SHIFTED: Mapping[Analyst, Analyst] = {"problem": "solution", "solution": "criterion", "criterion": "criterion"}
"""Whose focus the released code gives an analyst."""


class Wording:
    """Fields of the prompts, and the texts that the task's prompts `query` and `focus` give for a role.

    `query` is an analyst's retrieval query, `focus` the text to consider when it rates and decides; both are templates
    with `analyst`, `phase`, `criterion` and `definition`, so that another task may reword them. With `shifted` the
    focus is that of another analyst, as in the released code.
    """

    def __init__(
        self, context: Context, doc: Mapping[str, Any], criteria: Sequence[Criterion], shifted: bool = False
    ) -> None:
        self._shifted = shifted
        self._context = context
        self._doc = doc
        self._criteria = criterion_list(criteria)

    def query(self, phase: str, analyst: Analyst, criterion: Criterion, questions: Sequence[str]) -> str:
        """Return the retrieval query, with the pending questions appended."""
        return ", and ".join([self._text("query", self._names(analyst, criterion, phase)), *questions])

    def shown(self, fragments: Sequence[str], asked: Sequence[tuple[Analyst, str]]) -> str:
        """Return the discussion as an analyst sees it: fragments, nearest first, then questions in their order."""
        lines = [f"Question from the {by} analyst: {question}" for by, question in asked]
        return "\n\n".join([*fragments, *lines])

    def fields(self, analyst: Analyst, criterion: Criterion, shown: str, words: int) -> dict[str, Any]:
        """Return the fields of a prompt."""
        names = self._names(analyst, criterion, "")
        heeded = self._names(_SHIFTED[analyst], criterion, "") if self._shifted else names
        return {**names, "focus": self._text("focus", heeded), "discussion": shown, "words": words}

    def start(self) -> dict[str, Any]:
        """Return the fields of the shared initialisation."""
        return {"criteria": self._criteria}

    def _names(self, analyst: Analyst, criterion: Criterion, phase: str) -> dict[str, str]:
        about = {"criterion": criterion.called, "definition": criterion.definition}
        return {"analyst": analyst, "phase": phase, **about}

    def _text(self, prompt: str, fields: Mapping[str, str]) -> str:
        return self._context.prompt(prompt, self._doc, **fields)[0].text.strip()
