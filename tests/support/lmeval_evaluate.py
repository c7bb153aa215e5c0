"""lm-eval's evaluation without what its users get next to the numbers."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

__all__ = ["evaluate"]


def evaluate(model: Any, **settings: Any) -> Any:
    """Evaluate as lm-eval's `simple_evaluate` does, but do not describe this machine: that starts pip and others."""
    from lm_eval import evaluator

    with patch.object(evaluator, "add_env_info"):
        found = evaluator.simple_evaluate(model, **settings)
    assert found is not None
    return found
