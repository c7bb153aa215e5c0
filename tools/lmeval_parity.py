#!/usr/bin/env python3
"""Holds tasks of lm-eval against lm-eval's own command; writes the table of creval-lmeval's README and its parity.json.

    CREVAL_PLUGINS=lmeval,likelihoods python tools/lmeval_parity.py     (from the root; some minutes)

The command `lm_eval run` asks all tasks together, and once more those that generate, in a chat. creval asks the same
made-up data with the same seeds and the same deterministic server. The command resamples 100,000 times where an error
has no formula, and so does creval here; for F1 and Matthews' correlation that takes a quarter of an hour, so tasks with
these are held against lm-eval's library, with 100 resamples.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
PLUGIN = ROOT / "plugins" / "lmeval"
TABLE = re.compile(r"(<!-- parity -->\n).*?(<!-- /parity -->)", re.DOTALL)
GROUP = "wmdp"
"""A group that is named in place of its tasks."""
RESAMPLED = ("mrpc", "cola")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"DISABLE_MULTIPROC": "1", "HF_HOME": f"{folder}/hf", "HF_HUB_OFFLINE": "1"}
        os.environ |= {"CREVAL_CACHE": f"{folder}/cache", "CREVAL_STATE": f"{folder}/state"}
        os.chdir(folder)
        rows, held, group = compared(folder)
        from creval_lmeval.names import need_lm_eval

        write(need_lm_eval().version, rows, held, group)


def compared(folder: Path) -> tuple[list[str], dict[str, Any], float]:
    """Run all; return the rows of the table, the parity blocks, and the largest difference of the group's numbers."""
    from support.lmeval_data import MORE, TASKS, make_data
    from support.lmeval_parity import Both, by_command, group_differences, ours, run_both
    from support.lmeval_server import GeneratingServer

    from creval.scoring import intervals
    from creval_lmeval import aggregation

    intervals.REPLICATES = 60  # no interval is compared
    make_data(folder)
    kinds = {kind: [*tasks, *MORE.get(kind, ())] for kind, tasks in TASKS.items()}
    every = [task for tasks in kinds.values() for task in tasks if not task.startswith(f"{GROUP}_")] + [GROUP]
    every = [task for task in every if task not in RESAMPLED]
    with GeneratingServer() as server:
        aggregation.ITERATIONS = 100
        library = run_both(RESAMPLED, server, folder / "library")
        aggregation.ITERATIONS = 100_000  # as the command
        theirs = by_command(every, server, folder / "theirs", chat=False)
        plain = Both(theirs, ours(every, server, folder / "ours", chat=False))
        generated = kinds["generate_until"]
        theirs = by_command(generated, server, folder / "theirs_chat", chat=True)
        chat = Both(theirs, ours(generated, server, folder / "ours_chat", chat=True))
    held: dict[str, Any] = {}
    rows = [row for kind, tasks in kinds.items() for row in _rows(kind, tasks, (plain, chat, library), held)]
    return rows, held, group_differences(plain, GROUP)


def _rows(kind: str, tasks: list[str], both: Sequence[Any], held: dict[str, Any]) -> Iterator[str]:
    """Yield a row for each task, and note its parity block."""
    from support.lmeval_parity import differences

    from creval_lmeval.library import load_task

    for task in tasks:
        found = [differences(each, task) for each in both if task in each.theirs["samples"]]
        worst = [max(aggregates, documents) for aggregates, documents, _ in found]
        docs, numbers = len(load_task(task).docs), sum(count for _, _, count in found)
        yield f"| {task} | {kind} | {docs} | {numbers} | {' | '.join(f'{each:.1g}' for each in worst)} |"
        held[task] = {
            "answers": docs,
            "numbers": numbers,
            "agreement": float(max(worst) <= 1e-9),
            "worst": max(worst),
        }


def write(version: str, rows: list[str], held: Mapping[str, Any], group: float) -> None:
    """Write the table and the parity blocks; a difference above 1e-9 ends the script with an error."""
    data = {"lm_eval": version, "tasks": held}
    (PLUGIN / "creval_lmeval" / "parity.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    head = [
        "| task | output type | documents | numbers | largest difference | in a chat |",
        "|---|---|---|---|---|---|",
    ]
    rows = [row if row.count("|") == len(head[0].split("|")) - 1 else f"{row} |" for row in rows]
    page = PLUGIN / "README.md"
    text = "\n".join([*head, *rows, ""])
    page.write_text(TABLE.sub(lambda match: f"{match[1]}{text}{match[2]}", page.read_text("utf-8")), encoding="utf-8")
    worst = max(each["worst"] for each in held.values())
    print(f"{len(rows)} tasks, the largest difference {worst:.2g}; numbers of the group {GROUP}: {group:.2g}")
    if max(worst, group) > 1e-9:
        sys.exit("a difference is above 1e-9")


if __name__ == "__main__":
    main()
