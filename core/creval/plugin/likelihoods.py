"""Log-likelihoods: what a provider that gives them is called with, and the arithmetic of tokens that lm-eval does.

Promised: these names follow semantic versioning.
"""

from __future__ import annotations

from creval.models.local.choice_likelihoods import certain
from creval.models.providers.likelihood_tokens import Piece, cut, rolling_windows, split_texts
from creval.types.likelihoods import LoglikelihoodCall, LoglikelihoodProvider

__all__ = [
    "LoglikelihoodCall",
    "LoglikelihoodProvider",
    "Piece",
    "certain",
    "cut",
    "rolling_windows",
    "split_texts",
]
