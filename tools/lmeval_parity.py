#!/usr/bin/env python3
"""Holds tasks of lm-eval against lm-eval, and writes the table in the README of creval-lmeval and its parity.json.

    CREVAL_PLUGINS=lmeval,likelihoods python tools/lmeval_parity.py           (from the repository's root; some minutes)

Both run the same tasks on the same made-up data with the same seeds against one deterministic server.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
PLUGIN = ROOT / "plugins" / "lmeval"
TABLE = re.compile(r"(<!-- parity -->\n).*?(<!-- /parity -->)", re.DOTALL)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DISABLE_MULTIPROC": "1", "HF_HOME": f"{folder}/hf"}
        os.environ |= {"CREVAL_CACHE": f"{folder}/cache", "CREVAL_STATE": f"{folder}/state"}
        os.chdir(folder)
        from support.lmeval_data import MORE, TASKS, make_data
        from support.lmeval_parity import differences, run_both
        from support.lmeval_server import GeneratingServer

        from creval.scoring import intervals
        from creval_lmeval import aggregation, names
        from creval_lmeval.library import load_task

        aggregation.ITERATIONS = 100
        intervals.REPLICATES = 60  # no interval is compared
        make_data(Path(folder))
        kinds = {kind: [*tasks, *MORE.get(kind, ())] for kind, tasks in TASKS.items()}
        every = [task for tasks in kinds.values() for task in tasks]
        with GeneratingServer() as server:
            both = run_both(every, server, Path(folder) / "run")
        found = names.need_lm_eval()
        rows, held = [], {}
        for kind, tasks in kinds.items():
            for task in tasks:
                aggregates, documents, compared = differences(both, task)
                worst = max(aggregates, documents)
                docs = len(load_task(task).docs)
                rows.append(f"| {task} | {kind} | {docs} | {compared} | {worst:.1g} |")
                held[task] = {"answers": docs, "numbers": compared, "agreement": float(worst <= 1e-9), "worst": worst}
    data = {"lm_eval": found.version, "tasks": held}
    (PLUGIN / "creval_lmeval" / "parity.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    head = ["| task | output type | documents | numbers | largest difference |", "|---|---|---|---|---|"]
    page = PLUGIN / "README.md"
    text = "\n".join([*head, *rows, ""])
    page.write_text(TABLE.sub(lambda match: f"{match[1]}{text}{match[2]}", page.read_text("utf-8")), encoding="utf-8")
    print(f"{len(rows)} tasks, the largest difference {max(each['worst'] for each in held.values()):.2g}")


if __name__ == "__main__":
    main()
