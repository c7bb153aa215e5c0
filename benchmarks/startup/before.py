#!/usr/bin/env python3
"""How long `creval --help` and `creval ls` take in this tree and in an earlier one, in one run.

    git worktree add ../before COMMIT
    python -m benchmarks.startup.before ../before      (from the repository's root)

Both trees run with this interpreter, over the plugins that both of them have, with their bytecode on disk as after an
installation; they take turns, and the ratio is the median over the pairs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Timing, timed

HERE = Path(__file__).resolve().parents[2]
COMMANDS = (["--help"], ["ls"])


def plugins_of(tree: Path) -> set[str]:
    """The plugins that are in a tree."""
    return {folder.name for folder in (tree / "plugins").iterdir() if (folder / "pyproject.toml").is_file()}


def environment(tree: Path, plugins: list[str]) -> dict[str, str]:
    """What makes the interpreter take core and plugins from a tree."""
    folders = [tree / "core", *(tree / "plugins" / name for name in plugins)]
    return {
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "CREVAL_PLUGINS": ",".join(plugins),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def pairs_of(arguments: list[str], trees: tuple[Path, Path], plugins: list[str], runs: int) -> list[tuple[Timing, ...]]:
    """Time one command in both trees, in turns; the first turn warms the page cache and writes the bytecode."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(runs + 1):
            pair = tuple(
                timed(
                    [sys.executable, "-m", "creval", *arguments],
                    Path(folder),
                    environment(tree, plugins),
                    Path(folder) / "log",
                )
                for tree in trees
            )
            if turn:
                found.append(pair)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("before", type=Path, help="the root of the earlier tree")
    parser.add_argument("--pairs", type=int, default=25)
    args = parser.parse_args()
    trees = (args.before.resolve(), HERE)
    plugins = sorted(plugins_of(trees[0]) & plugins_of(trees[1]))
    print(f"plugins in both: {', '.join(plugins)}; {args.pairs} pairs\n")
    print("| command | before CPU s | now CPU s | now / before |\n|---|---|---|---|")
    for arguments in COMMANDS:
        pairs = pairs_of(arguments, trees, plugins, args.pairs)
        before, now = (statistics.median(pair[i].cpu for pair in pairs) for i in (0, 1))
        ratio = statistics.median(pair[1].cpu / pair[0].cpu for pair in pairs)
        print(f"| creval {' '.join(arguments)} | {before:.4f} | {now:.4f} | x{ratio:.3f} |")


if __name__ == "__main__":
    main()
