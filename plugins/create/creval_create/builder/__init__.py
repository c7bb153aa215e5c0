"""Algorithm 1: new queries from a knowledge graph that is read as a stream."""

from __future__ import annotations
