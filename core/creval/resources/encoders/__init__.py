"""Sentence encoders without torch: the forward pass in numpy, their weights, and where those come from."""

from __future__ import annotations
