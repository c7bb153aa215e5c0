"""Writes the `parity` of tasks from the tests that hold them to the originals: python tools/fill_parity.py.

Needs the reference data (CREVAL_DATA). The tests run on all of it, and note each comparison; nothing is typed in.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    "plugins/association/tests/test_cdat.py::test_the_authors_values_with_minilm",
    "plugins/create/tests/test_judged_answers.py::test_utility_per_query",
    "plugins/kumo/tests/search/test_published_games.py"
    "::test_every_easy_game_has_its_known_value_and_the_golden_runs_are_optimal",
)


def main() -> int:
    """Run the tests and write what they noted; returns pytest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        noted = Path(folder) / "parity.jsonl"
        environment = {**os.environ, "CREVAL_PARITY": str(noted)}
        done = subprocess.run([sys.executable, "-m", "pytest", *TESTS], cwd=ROOT, env=environment, check=False)
        if done.returncode == 0:
            for line in noted.read_text(encoding="utf-8").splitlines():
                data = json.loads(line)
                write(data.pop("task"), data)
        return done.returncode


def write(task: str, data: dict[str, object]) -> None:
    """Put the block under the title of the task, or of the variant that it is."""
    place = next(head for head in TaskIndex(load_plugins()).headers() if head.name == task)
    file = place.file.resolve()
    data["worst"] = float(f"{data['worst']:.2g}")
    block = "parity: " + json.dumps(data, ensure_ascii=False)
    lines = file.read_text(encoding="utf-8").splitlines()
    indent = "" if place.variant is None else "    "
    start = 0 if place.variant is None else next(n for n, line in enumerate(lines) if line == f"  {place.variant}:")
    title = next(n for n, line in enumerate(lines) if n >= start and re.match(f"{indent}title:", line))
    if lines[title + 1].startswith(f"{indent}parity:"):
        del lines[title + 1]
    lines.insert(title + 1, indent + block)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{file.relative_to(ROOT)}: {task}: {data['answers']} answers")


if __name__ == "__main__":
    sys.exit(main())
