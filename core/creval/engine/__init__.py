"""The engine: plan -> generate -> score -> aggregate, with a file between each step."""

from __future__ import annotations
