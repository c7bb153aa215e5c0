"""Judging: requests, replies, and verdicts stored by path."""

from __future__ import annotations
