"""Which worker runs which file: the longest first, so that no worker is left alone with a long one at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

__all__ = ["COSTS", "longest_first", "read_costs", "unit_of", "write_costs"]

COSTS = Path(__file__).parent / "costs.txt"
_LEAST = 1.0
"""Files that take less than so many seconds are not listed."""
_TOGETHER = {
    "plugins/ray/tests/": "plugins/ray/tests",
    "plugins/lmeval/tests/": "lm-eval",
    "plugins/likelihoods/tests/test_parity_lm_eval.py": "lm-eval",
    "plugins/hf/tests/": "torch",
    "plugins/encoders/tests/": "torch",
}
"""Files that one worker runs, one after the other: they share what takes long to start or to import."""


def read_costs(file: Path = COSTS) -> Mapping[str, float]:
    """Return the processor seconds of test files as they were last measured. Those that take few are not there."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else ()
    return {name: float(seconds) for seconds, name in (line.split(maxsplit=1) for line in lines)}


def write_costs(costs: Mapping[str, float], file: Path = COSTS) -> None:
    """Write what `read_costs` reads."""
    listed = sorted((name for name in costs if costs[name] >= _LEAST), key=lambda name: (-costs[name], name))
    file.write_text("".join(f"{costs[name]:.0f} {name}\n" for name in listed), "utf-8")


def longest_first(tests: list[pytest.Item]) -> None:
    """Sort the tests: files by what they took, then by their number of tests. Within a file the order stays."""
    costs, counts = read_costs(), Counter(unit_of(test.nodeid) for test in tests)
    taken: Counter[str] = Counter()
    for name, seconds in costs.items():
        taken[unit_of(name)] += seconds  # type: ignore[assignment]

    def rank(test: pytest.Item) -> tuple[float, int, str]:
        unit = unit_of(test.nodeid)
        return -taken[unit], -counts[unit], unit

    tests.sort(key=rank)


def unit_of(nodeid: str) -> str:
    """Return what one worker runs at a stretch: the file of a test, or its folder."""
    file = nodeid.partition("::")[0]
    return next((unit for start, unit in _TOGETHER.items() if file.startswith(start)), file)
