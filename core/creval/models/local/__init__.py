"""Providers without a server: baselines, replay, people."""

from __future__ import annotations
