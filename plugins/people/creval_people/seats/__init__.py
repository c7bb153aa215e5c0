"""Seats of people: the terminal and the web page."""

from __future__ import annotations
