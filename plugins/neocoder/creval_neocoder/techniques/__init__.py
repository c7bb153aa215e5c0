"""Techniques: the vocabulary, how they are found in a program, and the formulas over them."""

from __future__ import annotations
