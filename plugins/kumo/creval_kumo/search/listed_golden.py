"""Listed golden runs of `kumo_hard_16x20`, each of which takes seconds to find."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["LISTED", "digest", "listed_run"]

LISTED = Path(__file__).parents[1] / "tasks" / "golden_runs_16x20.jsonl"
"""A line per game: its id, the digest of everything that its optimal play depends on, and the actions of its golden run
followed by the predicted truth. Written by tools/list_golden_runs.py."""


def digest(game: str) -> str:
    """Return the SHA-256 digest of a game's canonical JSON."""
    return hashlib.sha256(game.encode()).hexdigest()


def listed_run(game: str) -> tuple[tuple[str, ...], str] | None:
    """Return the actions and the prediction of a game's golden run, None if the game (its JSON) is not listed."""
    return _runs().get(digest(game))


@functools.cache
def _runs() -> Mapping[str, tuple[tuple[str, ...], str]]:
    lines = LISTED.read_text(encoding="utf-8").splitlines()
    return {row["game"]: (tuple(row["tests"]), row["prediction"]) for row in map(json.loads, lines)}
