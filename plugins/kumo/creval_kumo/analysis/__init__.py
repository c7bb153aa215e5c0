"""Analyses of KUMO: what the paper computes from its runs and domains (Figs. 4c-e and 6)."""

from __future__ import annotations
