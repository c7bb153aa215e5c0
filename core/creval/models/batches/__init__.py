"""Batches: calls that wait until many of them can go out at once, at a lower price, and whose answers are collected."""

from __future__ import annotations
