"""The analysis that creval-agreement registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the analysis `judge-agreement`."""
    registry.add(
        "analysis",
        "judge-agreement",
        "creval_agreement.judge_agreement:JudgeAgreement",
        "Agreement of a judge with people, and with itself.",
    )
