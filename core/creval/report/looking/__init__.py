"""Looking at the samples of a run: which there are, and one of them whole."""

from __future__ import annotations
