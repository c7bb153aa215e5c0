"""What the scorer of creval-reasoning-gym gives a read answer."""

from __future__ import annotations

from typing import Any

from creval.plugin import Condition, SampleKey, ScorerInput
from creval_reasoning_gym.library import Made
from creval_reasoning_gym.verifier import Verifier

__all__ = ["scored"]


def scored(made: Made, answer: Any) -> tuple[float, Any]:
    """Return the score and the details for the first item of a data set."""
    about = {"name": made.name, "index": 0, "size": made.size, "seed": made.seed, "settings": made.settings}
    doc = {"made": about, **({} if made.level is None else {"levels": {}})}
    item = ScorerInput(SampleKey("t", "d", "default", 0), doc, Condition("", {"level": made.level}), (answer,), (), {})
    (found,) = Verifier().score([item], None)  # type: ignore[arg-type]
    return found.scores["score"], found.details
