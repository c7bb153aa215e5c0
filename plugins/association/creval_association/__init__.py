"""Tests of association for language models: DAT, CDAT, PACE, RAT, DRAT, AUT."""

from __future__ import annotations
