"""Log-likelihoods: the calls of a provider that returns them, and the reply of one that is certain of its text.

Promised: these names follow semantic versioning.
"""

from __future__ import annotations

from creval.models.local.choice_likelihoods import certain
from creval.types.likelihoods import LoglikelihoodCall, LoglikelihoodProvider, Output

__all__ = ["LoglikelihoodCall", "LoglikelihoodProvider", "Output", "certain"]
