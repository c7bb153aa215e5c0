"""Writes the `parity` of tasks from the tests that hold them to the originals: python tools/fill_parity.py [TEST...].

    python tools/fill_parity.py              all of them; takes some minutes
    python tools/fill_parity.py FILE         those of one file of tests
    python tools/fill_parity.py --check      writes nothing; 1 where a task states something else

Needs the reference data (CREVAL_DATA). The tests, which are those that take `parity`, run on everything and note each
comparison: no number is typed in. What needs more than is here (GloVe 840B, all-mpnet-base-v2) is left as it stands.
Why a task was held against nothing (`none`) is in its file.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
Block = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests; write what they noted, or compare it. Returns pytest's exit code, or 1 where a block differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("tests", nargs="*", type=Path, help="files of tests (all that take `parity`)")
    parser.add_argument("--check", action="store_true", help="write nothing, say what differs")
    given = parser.parse_args(arguments)
    files = given.tests or sorted(ROOT.glob("plugins/*/tests/**/test_*.py"))
    tests = [name for file in files for name in taking_parity(file.resolve())]
    code, noted = run(tests)
    return code or (compare(noted) if given.check else write_all(noted))


def taking_parity(file: Path) -> Iterator[str]:
    """Yield the tests of a file that note what they found."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and "parity" in {argument.arg for argument in node.args.args}:
            yield f"{file.relative_to(ROOT)}::{node.name}"


def run(tests: Sequence[str]) -> tuple[int, dict[str, Block]]:
    """Run the tests and return pytest's exit code and what was noted of each task."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "parity.jsonl"
        file.touch()
        environment = {**os.environ, "CREVAL_PARITY": str(file)}
        done = subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT, env=environment, check=False)
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return done.returncode, joined(lines)


def joined(lines: Sequence[Mapping[str, Any]]) -> dict[str, Block]:
    """Return one block per task, of all the comparisons that were noted of it."""
    found: dict[str, Block] = {}
    for line in lines:
        new = {key: value for key, value in line.items() if key != "task"}
        old = found.setdefault(line["task"], new)
        if old is not new:
            shares = [(each["agreement"], each.get("numbers", each["answers"])) for each in (old, new)]
            count = sum(weight for _, weight in shares)
            old["agreement"] = sum(share * weight for share, weight in shares) / count
            old["answers"] += new["answers"]
            old["worst"] = max(old["worst"], new["worst"])
            if "numbers" in old:
                old["numbers"] = count
    for one in found.values():
        one["agreement"], one["worst"] = round(one["agreement"], 4), float(f"{one['worst']:.2g}")
    return found


def compare(noted: Mapping[str, Block]) -> int:
    """Print what differs from the tasks' files; 1 where anything does."""
    from support.parity import differing

    lacks = [f"{task}: {lack}" for task, found in noted.items() if (lack := differing(found, stated(task)))]
    print("\n".join(lacks) or f"{len(noted)} tasks state what was found")
    return 1 if lacks else 0


def stated(task: str) -> Mapping[str, Any]:
    """Return what a task's file states."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    return TaskIndex(load_plugins()).load(task).parity


def write_all(noted: Mapping[str, Block]) -> int:
    """Write each block into its task's file."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    places = {head.name: head for head in TaskIndex(load_plugins()).headers()}
    for task, found in noted.items():
        place = places[task]
        file = place.file.resolve()
        file.write_text(written(file.read_text(encoding="utf-8"), place.variant, found), encoding="utf-8")
        print(f"{file.relative_to(ROOT)}: {task}: {found['answers']} answers")
    return 0


def written(text: str, variant: str | None, found: Block) -> str:
    """Return a task file with the block under the title of its task, or of one of its variants."""
    lines = text.splitlines()
    indent = "" if variant is None else "    "
    start = 0 if variant is None else next(n for n, line in enumerate(lines) if line == f"  {variant}:")
    title = next(n for n, line in enumerate(lines) if n >= start and re.match(f"{indent}title:", line))
    if lines[title + 1].startswith(f"{indent}parity:"):
        del lines[title + 1]
    lines.insert(title + 1, f"{indent}parity: {json.dumps(found, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
