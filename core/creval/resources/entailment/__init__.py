"""Entailment: whether one text follows from another, by a classifier, by a model in a role, or without a model."""

from __future__ import annotations
