"""Paths: their triples, identity of names, strings and validity."""

from __future__ import annotations
