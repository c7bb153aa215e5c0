"""`python -m creval_testing NAME [NAME=RESOURCE...]`: examine an installed plugin, without pytest.

Prints JSON with --json. `embedding=embedded/minilm` replaces a resource of the tasks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from creval.plugin import CrevalError
from creval_testing.rules.examine import examine
from creval_testing.rules.subject import Subject

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Return 0 if every rule is kept, 1 if one is broken, 2 if the plugin cannot be examined."""
    words = [word for word in arguments if not word.startswith("-")]
    names = [word for word in words if "=" not in word]
    if len(names) != 1:
        print("usage: python -m creval_testing NAME [RESOURCE=SPEC...] [--json]", file=sys.stderr)
        return 2
    resources = {name: spec for name, _, spec in (word.partition("=") for word in words if "=" in word)}
    try:
        findings = examine(Subject(names[0], resources))
    except CrevalError as error:
        print(error, file=sys.stderr)
        return 2
    if "--json" in arguments:
        rows = [
            {"rule": each.case.rule, "task": each.case.task, "faults": each.faults, "not_examined": each.not_examined}
            for each in findings
        ]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        for each in findings:
            for line in [*each.faults, *([f"not examined: {each.not_examined}"] if each.not_examined else [])]:
                print(f"{each.case}: {line}")
        broken = sum(bool(each.faults) for each in findings)
        print(f"{len(findings)} cases examined, {broken} with faults")
    return 1 if any(each.faults for each in findings) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
