"""Check domain files: `python -m creval_kumo.domains.check_domains FILE...`.

Prints every fault by name with file and line, then a summary per file. The exit code is 0 if all files are sound,
2 otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from creval_kumo.domains.domain import Domain
from creval_kumo.domains.domain_file import domain_faults

__all__ = ["main", "summary"]


def main(arguments: Sequence[str]) -> int:
    """Check the files named in `arguments`; return the exit code."""
    if not arguments:
        print("usage: python -m creval_kumo.domains.check_domains FILE...", file=sys.stderr)
        return 2
    bad = 0
    for name in arguments:
        domain, faults = domain_faults(Path(name))
        for fault in faults:
            print(f"{name}:{fault.line or '-'}: {fault}")
        if domain is not None:
            print(f"{name}: {summary(domain)}; {len(faults)} faults")
        bad += bool(faults)
    return 2 if bad else 0


def summary(domain: Domain) -> str:
    """Return one line about a domain: sizes, types, and how many pairs of truths can be decided in both directions."""
    kinds = [action.type for action in domain.actions]
    outcomes = [outcome for action in domain.actions for outcome in action.outcomes]
    mean = sum(len(outcome.rules_out) for outcome in outcomes) / max(1, len(outcomes))
    total, decided = _one_way_pairs(domain)
    return (
        f"{len(domain.truths)} truths, {len(kinds)} actions ({kinds.count('str')} str, "
        f"{kinds.count('float')} float), {len(outcomes)} outcomes ruling out {mean:.1f} truths on average; "
        f"{decided} of {total} ordered pairs (valid, other) can be decided"
    )


def _one_way_pairs(domain: Domain) -> tuple[int, int]:
    """Return the number of ordered pairs (valid truth, other truth), and of those that some outcome decides.

    An outcome decides a pair if it excludes only the other truth.
    """
    names = [truth.name for truth in domain.truths]
    by_truth = {
        name: {
            (place, index)
            for place, action in enumerate(domain.actions)
            for index, outcome in enumerate(action.outcomes)
            if name in outcome.rules_out
        }
        for name in names
    }
    decided = sum(bool(by_truth[other] - by_truth[valid]) for valid in names for other in names if other != valid)
    return len(names) * (len(names) - 1), decided


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
