"""Techniques: the vocabulary, their detection in a program, and the formulas over them."""

from __future__ import annotations
