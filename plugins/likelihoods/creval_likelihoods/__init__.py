"""Log-likelihoods of given texts: providers, the protocol `choices`, scorers, perplexity."""

from __future__ import annotations
