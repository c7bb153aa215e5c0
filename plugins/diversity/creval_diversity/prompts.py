"""The source `noveltybench`: the prompts of NoveltyBench, fetched at one commit and checked, never shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from creval.plugin import DataError
from creval.plugin.data import DataOptions, ListRows, PinnedFiles, Rows

__all__ = ["ADDRESS", "COMMIT", "FOLDER", "PINS", "open_prompts"]

COMMIT = "5b22b53dedd4ec37e1d30a5dbeb2ea6beaa752ca"
ADDRESS = f"https://raw.githubusercontent.com/novelty-bench/novelty-bench/{COMMIT}/"
FOLDER = f"noveltybench-{COMMIT[:12]}"
PINS = {
    "data/curated.jsonl": "ca9b6f470e5d7f7e34a281e2fdaa6f6e51c38bdae075ea580d184139ec391fa7",
    "data/wildchat-1k.jsonl": "8534288089508df3f413c1151a58d5fa5bda9d8f8385ae2815384d4e310a54ca",
}
_FILES = {"curated": "data/curated.jsonl", "wildchat": "data/wildchat-1k.jsonl"}


def open_prompts(choice: Literal["curated", "wildchat"] = "curated", *, base: Path, options: DataOptions) -> Rows:
    """Return the 100 curated prompts, or the 1,000 from WildChat, as docs with `id` and `prompt`.

    The curated ones also have a `category`. Raises DataError if the file is not available or is not the pinned one.
    """
    path = _FILES[choice]
    file = PinnedFiles.of(FOLDER, ADDRESS, PINS, options).fetch([path]) / path
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
        kept = [{name: row[name] for name in ("id", "prompt", "category") if name in row} for row in rows]
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"the prompts cannot be read: {error}", where=str(file)) from error
    return ListRows(kept, f"NoveltyBench {choice} at {COMMIT[:12]}")
