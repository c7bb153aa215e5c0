"""Answers that no server gives: baselines, people, replays."""

from __future__ import annotations
