#!/usr/bin/env python3
"""Writes creval_neocoder/published/cases.jsonl: what the accepted human solutions say about each published case.

    python plugins/neocoder/tools/classify_cases.py --data FOLDER [--output FILE]

Every Python solution to a problem is run on each of its cases by itself, in the sandbox. A case is

    sound            at least 9 of 10 solutions print what is expected
    letter_case      they do but for the case of letters
    input_broken     at least half of the solutions cannot read the input (line breaks were lost in the crawl)
    other_consensus  at least 9 of 10 agree on another answer
    several_answers  the solutions run, and disagree: several answers are right, and one is stored
    mixed            none of these

FOLDER holds the authors' files (NeoCoder.json or NeoCoder.json.gz ...).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from creval.plugin.programs import CaseResult, Limits, Program
from creval_neocoder.problem import Case, Problem
from creval_neocoder.programs.extraction import is_python
from creval_neocoder.programs.feeding import runs
from creval_neocoder.published.published_files import PublishedFiles
from creval_neocoder.published.published_problems import read_problems
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.probe import find_manner

AGREED = 0.9
LIMITS = Limits(cpu_seconds=5.0)
OUTPUT = Path(__file__).resolve().parents[1] / "creval_neocoder" / "published" / "cases.jsonl"

Answer = tuple[str, ...] | None


def answer(result: CaseResult) -> Answer:
    """Return the words that a solution printed, None if it failed."""
    return tuple(result.stdout.decode("utf-8", "replace").split()) if result.succeeded else None


def classify(answers: Sequence[Answer], case: Case) -> str:
    """Return the class of a case from the solutions' answers to it."""
    total = len(answers)
    folded = [None if words is None else tuple(word.lower() for word in words) for words in answers]
    if sum(words == case.words for words in answers) >= AGREED * total:
        return "sound"
    if sum(words == tuple(word.lower() for word in case.words) for words in folded) >= AGREED * total:
        return "letter_case"
    if sum(words is None for words in answers) >= total / 2:
        return "input_broken"
    if Counter(words for words in folded if words is not None).most_common(1)[0][1] >= AGREED * total:
        return "other_consensus"
    return "several_answers" if sum(words is not None for words in answers) >= AGREED * total else "mixed"


def classes(problem: Problem, box: BubblewrapSandbox) -> list[str]:
    """Return the class of each case of a problem."""
    inputs = [run.stdin for case in problem.cases for run in runs([case], problem.counted)]
    sources = [source for source in problem.solutions if is_python(source)]
    results = [box.run_now(Program(source), inputs, LIMITS) for source in sources]
    return [classify([answer(found[i]) for found in results], case) for i, case in enumerate(problem.cases)]


def main() -> None:
    """Classify and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args()
    problems = [problem for problem in read_problems(PublishedFiles(args.data, offline=True)) if problem.solutions]
    box = BubblewrapSandbox(find_manner(), Path())
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda problem: classes(problem, box), problems))
    box.close()
    with args.output.open("w", encoding="utf-8") as file:
        for problem, names in zip(problems, found, strict=True):
            file.write(json.dumps({"problem": problem.name, "cases": names}) + "\n")
    print(Counter(name for names in found for name in names))


if __name__ == "__main__":
    main()
