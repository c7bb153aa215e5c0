"""Writes the task files of single domains and the suite of all of them: `python plugins/kumo/tools/make_tasks.py`.

Run it after a domain was added. `--check` writes nothing and fails where a file differs; a test calls that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import creval_kumo
from creval_kumo.domains import domain_names, load_domain

FOLDER = Path(creval_kumo.__file__).parent / "tasks"
SIZES = {"easy": (4, 6), "hard": (12, 16)}
"""Truths and actions of the paper's two difficulties."""


def task_file(name: str, difficulty: str) -> str:
    """The task of one domain: the same games as its part of kumo_easy or kumo_hard where it is one of those five."""
    truths, actions = SIZES[difficulty]
    return f"""\
# yaml-language-server: $schema=../../schemas/task.schema.json
# Written by plugins/kumo/tools/make_tasks.py.
include: _game.yaml
task: kumo_{difficulty}_{name}
version: 1.0.1
title: "KUMO, {difficulty} ({truths} truths, {actions} actions): {load_domain(name).title}"
dataset:
  source: generator
  generator: {{kumo: {{domains: {name}, truths: {truths}, actions: {actions}, count: 50, seed: 1}}}}
  id: id
"""


def suite_file() -> str:
    """The suite of all single domains."""
    tasks = [f"kumo_{difficulty}_{name}" for difficulty in SIZES for name in domain_names()]
    listed = "\n".join(f"  - {task}" for task in tasks)
    return f"""\
# yaml-language-server: $schema=../../../schemas/suite.schema.json
# Written by plugins/kumo/tools/make_tasks.py.
schema: 1
suite: kumo_all
version: 1.0.0
title: KUMO in all {len(domain_names())} domains, easy and hard, one task a domain
description: >-
  Fifty easy games (4 truths, 6 actions) and fifty hard games (12 truths, 16 actions) in each domain, each played five
  times. The paper plays the easy games in a hundred domains of its own and the hard games in five.
measures: [reasoning]
tasks:
{listed}
"""


def files() -> Iterator[tuple[Path, str]]:
    """Every file with its text."""
    for difficulty in SIZES:
        for name in domain_names():
            yield FOLDER / f"kumo_{difficulty}_{name}.yaml", task_file(name, difficulty)
    yield FOLDER / "suites" / "kumo_all.yaml", suite_file()


def main() -> int:
    """Write or check the files; the exit code is 1 where a check finds a difference."""
    different = [(file, text) for file, text in files() if not file.exists() or file.read_text("utf-8") != text]
    if "--check" in sys.argv[1:]:
        for file, _ in different:
            print(f"differs: {file}")
        return 1 if different else 0
    for file, text in different:
        file.write_text(text, encoding="utf-8")
        print(f"written: {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
