"""The figures of a dry run: calls, tokens and prices, from the least to the most, and those of other roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from creval.engine.generation.session import TaskRuntime
from creval.models.prices import Price
from creval.resources.entailment.role import CALLS_A_PAIR, PROMPT_BYTES
from creval.tasks.sections.parts import role_behind
from creval.types.components import Expected
from creval.types.execution import Work
from creval.types.messages import Usage

__all__ = [
    "BYTES_A_TOKEN",
    "FREE",
    "NOTHING",
    "Figures",
    "RoleCalls",
    "answer_limit",
    "answers_of",
    "price_of_calls",
    "settings_of",
]

BYTES_A_TOKEN = (5, 3)
"""UTF-8: of a long and of a short token."""

FREE = Price("free", 0.0, 0.0)


class Figures(NamedTuple):
    """A lower and an upper figure. `high` None: not known, as no limit is set; both None: nothing is known."""

    low: float | None
    high: float | None

    def __add__(self, other: object) -> Figures:
        if not isinstance(other, Figures):
            return NotImplemented
        sums = [None if a is None or b is None else a + b for a, b in zip(self, other, strict=True)]
        return Figures(*sums)

    def times(self, factor: float) -> Figures:
        """Return both figures times a number."""
        return Figures(*(None if figure is None else figure * factor for figure in self))


NOTHING = Figures(0, 0)


def price_of_calls(into: Figures, out: Figures, calls: Figures, price: Price | None) -> Figures:
    """Price the mean call of each figure: a table may charge long calls by another rate."""
    if price is None:
        return Figures(None, None)
    if price is FREE:
        return NOTHING
    costs = [
        None if a is None or b is None or n is None else price.cost(Usage(round(a / n), round(b / n))) * n if n else 0.0
        for a, b, n in zip(into, out, calls, strict=True)
    ]
    return Figures(*costs)


def settings_of(runtime: TaskRuntime, work: Work) -> dict[str, Any]:
    """Return the generation settings of the target's calls for a sample."""
    cell = {name: value for name, value in work.condition.settings.items() if name in runtime.condition_names}
    return {**runtime.generation, **cell, **runtime.overrides}


def answer_limit(settings: Mapping[str, Any]) -> int | None:
    """Return the most tokens of an answer, None where no limit is set."""
    limit = settings.get("max_completion_tokens") or settings.get("max_tokens")
    return None if limit is None else int(limit)


def answers_of(runtime: TaskRuntime, settings: Mapping[str, Any]) -> int:
    """Return how many answers one call of the target gives."""
    return int(settings.get("n") or getattr(runtime.protocol, "n", 1) or 1)


class RoleCalls:
    """What the components of a task say of their calls to other roles: by themselves, and through an instrument that
    asks a role (`entailment=role/judge`).
    """

    def __init__(self, runtime: TaskRuntime, asking: Sequence[Any]) -> None:
        self._runtime = runtime
        self._own = [each for each in asking if callable(getattr(each, "expected_role_calls", None))]
        self._pairs = [each for each in asking if callable(getattr(each, "expected_pairs", None))]

    def of_sample(self, role: str, work: Work) -> tuple[Figures, Figures, Figures] | None:
        """Return calls, input tokens and output tokens of a role for one sample, None where nothing is said of them.

        Its prompts hold what the target will say: at most the doc and an answer of the full length more than the
        template.
        """
        parts = [part for part in (self._prompted(role, work), self._judged(role, work)) if part is not None]
        if not parts:
            return None
        calls, into, out = (sum((part[i] for part in parts), start=NOTHING) for i in range(3))
        return calls, into, out

    def _prompted(self, role: str, work: Work) -> tuple[Figures, Figures, Figures] | None:
        """The calls with prompts of the task."""
        doc = work.doc.fields
        calls = _sum([each.expected_role_calls(doc, self._expected(work)).get(role) for each in self._own])
        if calls is None:
            return None
        prompts = self._runtime.task.role_prompts.get(role, {}).values()
        sizes = [sum(len(each.template.encode("utf-8", "replace")) for each in messages) for messages in prompts] or [0]
        more = len(str(dict(doc)).encode("utf-8", "replace"))
        return self._of_calls(role, work, calls, (min(sizes), max(sizes) + more, 1))

    def _judged(self, role: str, work: Work) -> tuple[Figures, Figures, Figures] | None:
        """The calls with pairs of texts."""
        said = [each.expected_pairs(work.doc.fields, self._expected(work)) for each in self._pairs]
        pairs = _sum([each.get(name) for each in said for name in self._behind(role)])
        if pairs is None:
            return None
        fewest, most = CALLS_A_PAIR
        calls = Figures((pairs.low or 0) * fewest, None if pairs.high is None else pairs.high * most)
        return self._of_calls(role, work, calls, (PROMPT_BYTES, PROMPT_BYTES, 2))

    def _of_calls(
        self, role: str, work: Work, calls: Figures, size: tuple[int, int, int]
    ) -> tuple[Figures, Figures, Figures]:
        """Return calls and tokens; `size` are the bytes of the shortest and longest prompt, and its answers."""
        shortest, longest, answers = size
        answer = answer_limit(settings_of(self._runtime, work))
        limit = answer_limit(self._runtime.task.role_settings.get(role, {}))
        most = None if answer is None else longest // BYTES_A_TOKEN[1] + 1 + answers * answer
        fewest = calls.low or 0
        return (
            calls,
            Figures(fewest * (shortest // BYTES_A_TOKEN[0] + 1), _product(calls.high, most)),
            Figures(fewest, _product(calls.high, limit)),
        )

    def _behind(self, role: str) -> list[str]:
        """The resources of the task that ask this role."""
        return [name for name, spec in self._runtime.context.specs.items() if role_behind(spec) == role]

    def _expected(self, work: Work) -> Expected:
        return Expected(self._runtime.protocol, answers_of(self._runtime, settings_of(self._runtime, work)))


def _sum(ranges: Sequence[tuple[int, int | None] | None]) -> Figures | None:
    """Return the sum of what is stated, None where nothing is; what one does not know is not known of all."""
    stated = [Figures(*each) for each in ranges if each is not None]
    return sum(stated, start=NOTHING) if stated else None


def _product(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one * other
