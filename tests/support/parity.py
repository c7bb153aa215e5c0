"""What tests found that hold a task to its original: written down for the script, or held to what the task states."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Parity", "block", "differing"]

Pairs = Sequence[tuple[float, float]]


class Parity:
    """Takes comparisons. `tools/fill_parity.py` names a file by CREVAL_PARITY, to which each is written as a line."""

    def __init__(self, file: str | None) -> None:
        self._file = None if file is None else Path(file)

    @property
    def wanted(self) -> bool:
        """Whether everything is to be compared, and not a sample."""
        return self._file is not None

    def add(
        self,
        task: str,
        about: Mapping[str, str],
        pairs: Pairs,
        within: float,
        answers: int | None = None,
        whole: bool = True,
    ) -> None:
        """Note one comparison: `pairs` of numbers (ours, theirs), which agree where they differ by at most `within`.

        `answers` says over how many answers fewer numbers were made. Where nobody writes it down, a comparison of
        everything (`whole`) is held to the block that the task's file states. Raises AssertionError.
        """
        found = block(about, pairs, within, answers)
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"task": task, **found}) + "\n")
        elif whole:
            lack = differing(found, _stated(task))
            assert not lack, f"{task}: {lack}; run tools/fill_parity.py"


def block(about: Mapping[str, str], pairs: Pairs, within: float, answers: int | None = None) -> dict[str, Any]:
    """Return what a task states of such a comparison."""
    differences = [abs(ours - theirs) for ours, theirs in pairs]
    numbers = {} if answers is None else {"numbers": len(pairs)}
    return {
        **about,
        "answers": len(pairs) if answers is None else answers,
        **numbers,
        "agreement": sum(difference <= within for difference in differences) / len(differences),
        "worst": max(differences),
    }


def differing(found: Mapping[str, Any], stated: Mapping[str, Any]) -> str:
    """Say in what a comparison and a stated block differ; the last digits of `worst` are the machine's."""
    for key in sorted({*found, *stated} - {"worst"}):
        ours, theirs = found.get(key), stated.get(key)
        same = (
            math.isclose(ours, theirs, abs_tol=5e-4)
            if isinstance(ours, float) and theirs is not None
            else ours == theirs
        )
        if not same:
            return f"{key} is {ours!r}, and its file states {theirs!r}"
    worst = float(found["worst"]), float(stated["worst"])
    return "" if math.isclose(*worst, rel_tol=0.5, abs_tol=1e-7) else f"the worst is {worst[0]:.2g}, not {worst[1]:.2g}"


def _stated(task: str) -> Mapping[str, Any]:
    return _index().load(task).parity


@functools.cache
def _index() -> Any:
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    return TaskIndex(load_plugins())
