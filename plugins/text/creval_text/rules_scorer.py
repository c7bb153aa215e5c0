"""Scorer `rules`: which of the doc's rules the answer keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import Context, CrevalError, Score, ScorerInput, UsageError
from creval_text.ifeval import rule_of
from creval_text.rules import Rule, read_rules

__all__ = ["Rules", "loose_forms"]


_MOST_CHARACTERS = 200_000


class Rules:
    """Scores whether an answer keeps its rules, with a strict and a loose reading.

    `rules` are rules for all docs; `field` is the field with the rules of a doc (a list). `instructions` and
    `arguments` are fields in the form of IFEval's data: identifiers, and a mapping of arguments for each.

    `rules` is 1 if all are kept, `rules_each` the share of kept rules; `rules_loose` and `rules_each_loose` are the
    same for the loose reading, in which a rule is kept if any of `loose_forms` keeps it. `rules_count` is the number
    of rules: weighted by it, the mean of `rules_each` is the share of all rules of all docs.
    """

    def __init__(
        self,
        field: str | None = None,
        rules: Any = (),
        instructions: str | None = None,
        arguments: str = "kwargs",
    ) -> None:
        self._shared = read_rules(rules)
        self._field = field if field is not None or self._shared or instructions else "rules"
        self._instructions = instructions
        self._arguments = arguments

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: a missing field or an invalid rule; None if it can."""
        try:
            rules = self._rules(fields)
        except CrevalError as error:
            return f"{error.what}. {error.fix}" if error.fix else error.what
        except KeyError as error:
            return f"it has no field {error}; it has {', '.join(fields)}"
        return None if rules else "it has no rule"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def _score(self, item: ScorerInput) -> Score:
        fault = self.doc_fault(item.doc)
        if fault is not None:
            return Score({}, failure=f"the doc cannot be scored: {fault}", errored=True)
        rules = self._rules(item.doc)
        texts = [
            value if isinstance(value, str) else answer
            for value, answer in zip(item.values, item.answers, strict=False)
        ]
        if not texts:
            return Score({}, failure="the sample has no answer")
        longest = max(map(len, texts))
        if longest > _MOST_CHARACTERS:
            return Score({}, failure=f"the answer has {longest} characters; rules read at most {_MOST_CHARACTERS}")
        strict: list[list[bool]] = []
        loose: list[list[bool]] = []
        try:
            for text in texts:
                strict.append([rule.kept(text) for rule in rules])
                forms = loose_forms(text)
                loose.append(
                    [
                        kept or any(rule.kept(form) for form in forms)
                        for rule, kept in zip(rules, strict[-1], strict=True)
                    ]
                )
        except ValueError as error:
            return Score({}, failure=str(error), errored=True)
        scores = {
            "rules": sum(map(all, strict)) / len(strict),
            "rules_loose": sum(map(all, loose)) / len(loose),
            "rules_each": _share(strict),
            "rules_each_loose": _share(loose),
            "rules_count": float(len(rules)),
        }
        kept = [
            dict(zip(map(str, rules), map(_outcome_word, *pair), strict=True))
            for pair in zip(strict, loose, strict=True)
        ]
        return Score(scores, {"rules": kept})

    def _rules(self, fields: Mapping[str, Any]) -> Sequence[Rule]:
        """Return a doc's rules. Raises KeyError for a missing field, UsageError for an invalid rule."""
        own = read_rules(fields[self._field] or ()) if self._field is not None else ()
        if self._instructions is None:
            return (*self._shared, *own)
        names, arguments = fields[self._instructions], fields[self._arguments]
        if (
            not isinstance(names, list | tuple)
            or not isinstance(arguments, list | tuple)
            or len(names) != len(arguments)
        ):
            raise UsageError(
                f"{self._instructions!r} and {self._arguments!r} are not lists of one length",
                where="rules",
                fix="Give a mapping of arguments for each instruction.",
            )
        return (*self._shared, *own, *(rule_of(name, given) for name, given in zip(names, arguments, strict=True)))


def _outcome_word(strictly: bool, loosely: bool) -> str:
    return "strict" if strictly else "loose" if loosely else "broken"


def _share(kept: Sequence[Sequence[bool]]) -> float:
    return sum(map(sum, kept)) / sum(map(len, kept))


def loose_forms(text: str) -> Sequence[str]:
    """Return the other texts of IFEval's loose reading: without the first line, the last, both, and asterisks."""
    lines = text.split("\n")
    cut = ["\n".join(lines[start:end]).strip() for start, end in ((1, None), (0, -1), (1, -1))]
    forms = [text.replace("*", ""), *cut, *(form.replace("*", "") for form in cut)]
    return [form for form in dict.fromkeys(forms) if form.strip() and form != text]
