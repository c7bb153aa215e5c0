"""Juries: several models that judge an answer, and their combined verdict."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

from creval.plugin import Context, UsageError, counted
from creval.plugin.judging import Raters, derive
from creval_judges.alpha import agreement_of

__all__ = ["Jury", "combined"]

_JUDGE = "judge"
_TARGET = "target"
Combine = Literal["mean", "median", "majority", "each"]


@dataclass(frozen=True, slots=True)
class Jury:
    """The judging models: `roles`, of which each doc draws `draw`, by the run's seed.

    `combine` combines their numbers; `each` gives only the numbers of the jurors. With `except_target` the target model
    is never a juror. `level` is the difference of two verdicts for Krippendorff's alpha. Scorers with the same `panel`
    draw the same roles for a doc.
    """

    roles: Sequence[str]
    combine: Combine
    draw: int | None
    several: bool
    except_target: bool
    level: str
    name: str
    panel: str

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Jury:
        """Return the jury in the parameters of a scorer `judge`; without `roles`, the single judge."""
        roles = tuple(parameters.get("roles", (_JUDGE,)))
        level = parameters.get("agreement") or ("nominal" if "scale" not in parameters else "ordinal")
        excluded = parameters.get("except") == _TARGET
        name = parameters.get("name", _JUDGE)
        rest = (excluded, level, name, parameters.get("panel", name))
        return cls(roles, parameters.get("combine", "mean"), parameters.get("draw"), "roles" in parameters, *rest)

    @staticmethod
    def check_stated(parameters: Mapping[str, Any]) -> None:
        """Raise UsageError for jury parameters without a jury, and for a role that is named twice."""
        alone = [name for name in ("combine", "draw", "panel", "except", "agreement") if name in parameters]
        if alone and "roles" not in parameters:
            raise UsageError(f"{alone[0]} needs a jury", fix="Name its roles: roles: [a, b, c].")
        twice = [role for role, count in Counter(parameters.get("roles", ())).items() if count > 1]
        if twice:
            raise UsageError(
                f"the role {twice[0]!r} occurs twice", fix="For several verdicts of one model write repeat."
            )

    def check(self) -> None:
        """Raise UsageError if a pool is smaller than the number drawn from it."""
        if self.draw is not None and self.draw > len(self.roles):
            raise UsageError(
                f"a jury of {self.draw} cannot be drawn from {counted(len(self.roles), 'roles')}",
                fix="Name more roles, or lower draw.",
            )

    def drawn(self, doc: str, context: Context) -> Sequence[str]:
        """Return the jurors of a doc, in the order of the file. Raises UsageError if too few models are left."""
        left = [role for role in self.roles if not (self.except_target and self._is_target(role, context))]
        least = self.draw or 1
        if len(left) < least:
            raise UsageError(
                f"the jury of {self.name!r} needs {counted(least, 'models')} in addition to the target, "
                f"and has {len(left)}",
                where="roles",
                fix="Name further roles in the task, or give them other models: --role ROLE=MODEL",
            )
        if self.draw is None or self.draw == len(left):
            return left
        order = list(self.roles)  # shuffled before any is left out, so that other targets change little
        random.Random(derive(context.seed, "jury", context.task, self.panel, doc)).shuffle(order)
        taken = [role for role in order if role in left][: self.draw]
        return [role for role in self.roles if role in taken]

    def has_twin(self, role: str, context: Context) -> bool:
        """Return whether an earlier juror is the same model, whose verdict would be repeated."""
        before = self.roles[: self.roles.index(role)]
        return bool(before) and context.model_of(role) in [context.model_of(other) for other in before]

    def _is_target(self, role: str, context: Context) -> bool:
        return context.model_of(role) == context.model_of(_TARGET)

    def raters(self) -> Raters | None:
        """Return the scores whose agreement the run reports; None for a single judge."""
        if len(self.roles) < 2:
            return None
        return Raters(self.name, {role: f"{self.name}@{role}" for role in self.roles}, self.level, agreement_of)


def combined(how: str, numbers: Sequence[float]) -> float:
    """Return the mean, the median, or the mode (the mean of several modes)."""
    if how == "median":
        return float(median(numbers))
    if how == "majority":
        counts = Counter(numbers)
        most = max(counts.values())
        return fmean(number for number, count in counts.items() if count == most)
    return fmean(numbers)
