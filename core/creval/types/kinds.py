"""The kinds of components that a plugin may register."""

from __future__ import annotations

from typing import Literal

__all__ = ["Kind"]

Kind = Literal[
    "protocol",
    "parser",
    "scorer",
    "aggregation",
    "analysis",
    "source",
    "generator",
    "provider",
    "embedding",
    "entailment",
    "sandbox",
    "wordlist",
    "baseline",
    "executor",
    "batching",
    "likelihoods",
    "screen",
]
"""The kinds of components."""
