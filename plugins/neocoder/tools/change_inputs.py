#!/usr/bin/env python3
"""Writes the changed cases of published problems and of our own, on whose answers the human solutions agree.

    python plugins/neocoder/tools/change_inputs.py --data FOLDER [--published FILE] [--own FILE]

Of every problem some inputs are changed within their shape (`creval_neocoder.programs.changing`), and every Python
solution answers each by itself, in the sandbox. A changed case is kept where at least 9 of 10 solutions print the same;
at most four are kept of a problem, those first whose answer differs from that to the input which they were made of.

FOLDER holds the authors' files (NeoCoder.json or NeoCoder.json.gz ...).
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from creval.plugin.programs import CaseResult, Limits, Program
from creval_neocoder.own.own_problems import read_own
from creval_neocoder.problem import Case, Problem
from creval_neocoder.programs.changing import changed_lines, in_shape
from creval_neocoder.programs.extraction import is_python
from creval_neocoder.programs.feeding import runs
from creval_neocoder.published.published_files import PublishedFiles
from creval_neocoder.published.published_problems import read_problems
from creval_neocoder.published.samples import any_letter_case
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.probe import find_manner

AGREED, TRIED, KEPT = 0.9, 8, 4
LIMITS = Limits(cpu_seconds=2.0, output_bytes=1 << 16)
PACKAGE = Path(__file__).resolve().parents[1] / "creval_neocoder"

Answer = tuple[str, ...] | None


class Changed(NamedTuple):
    """A changed input, the original's answer, and the solutions' answer to the changed input."""

    lines: tuple[str, ...]
    before: tuple[str, ...]
    answer: Answer = None


def candidates(problem: Problem) -> list[Changed]:
    """Return changed inputs of a problem, the same in each run, without duplicates or published ones."""
    chance = random.Random(problem.name)
    inputs = [case.lines for case in problem.cases]
    found: dict[tuple[str, ...], Changed] = {}
    for number in range(50 * TRIED):
        case = problem.cases[number % len(inputs)]
        lines = changed_lines(case.lines, inputs, chance)
        if len(found) < TRIED and lines not in inputs and in_shape(lines, inputs):
            found.setdefault(lines, Changed(lines, case.words))
    return list(found.values())


def said(result: CaseResult, any_case: bool) -> Answer:
    """Return the words that a solution printed, None if it failed."""
    text = result.stdout.decode("utf-8", "replace")
    return tuple((text.lower() if any_case else text).split()) if result.succeeded else None


def agreed(answers: Sequence[Answer]) -> Answer:
    """Return the output of at least 9 of 10 solutions, None if they do not agree or print nothing."""
    words, count = Counter(answers).most_common(1)[0]
    return words if words and count >= AGREED * len(answers) else None


def changed_cases(problem: Problem, box: BubblewrapSandbox) -> list[Changed]:
    """Return the changed cases to keep for a problem."""
    sources = [source for source in problem.solutions if is_python(source)]
    tried = candidates(problem)
    if not sources or not tried:
        return []
    inputs = [run.stdin for each in tried for run in runs([Case(each.lines, "")], problem.counted)]
    any_case = any_letter_case(problem.statement)
    answers = [[said(result, any_case) for result in box.run_now(Program(s), inputs, LIMITS)] for s in sources]
    kept = [
        each._replace(answer=agreed(column)) for each, column in zip(tried, zip(*answers, strict=True), strict=True)
    ]
    sure = [each for each in kept if each.answer is not None]
    sure.sort(key=lambda each: [word.lower() for word in each.answer or ()] == [word.lower() for word in each.before])
    return sure[:KEPT]


def write(problems: Iterable[Problem], output: Path, box: BubblewrapSandbox) -> None:
    """Write the changed cases of some problems, one problem per line."""
    chosen = [problem for problem in problems if problem.solutions]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda problem: changed_cases(problem, box), chosen))
    with output.open("w", encoding="utf-8") as file:
        for problem, cases in zip(chosen, found, strict=True):
            rows = [{"lines": case.lines, "output": " ".join(case.answer or ())} for case in cases]
            file.write(json.dumps({"problem": problem.name, "cases": rows}) + "\n")
    print(f"{output.name}: {sum(map(len, found))} cases of {sum(map(bool, found))} of {len(chosen)} problems")


def main() -> None:
    """Change inputs, and write what is kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--published", type=Path, default=PACKAGE / "published" / "changed.jsonl")
    parser.add_argument("--own", type=Path, default=PACKAGE / "own" / "changed.jsonl")
    args = parser.parse_args()
    box = BubblewrapSandbox(find_manner(), Path())
    write(read_own(), args.own, box)
    write(read_problems(PublishedFiles(args.data, offline=True)), args.published, box)
    box.close()


if __name__ == "__main__":
    main()
