"""Stages that a language model writes: domains, seed configurations, knowledge books (role `augmenter`)."""

from __future__ import annotations
