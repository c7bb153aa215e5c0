"""Models with scripted answers: written as recorded answers, so that everything but the model is real."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from creval.plugin import UsageError
from creval.plugin.authoring import RunOptions, RunResult, open_plans, run
from creval.plugin.loading import load_plugins

__all__ = ["RunTask", "Says", "Script"]

Said = str | Sequence[str]
Says = Said | Callable[[Mapping[str, Any]], Said] | Mapping[str, Said]
_EACH_TIME = 64
"""How often a single text is repeated within one sample."""


@dataclass(frozen=True, slots=True)
class Script:
    """A role and its answers: one text for every doc, or texts by the doc's fields or id."""

    role: str
    says: Says

    def of(self, doc: str, fields: Mapping[str, Any]) -> list[str]:
        """Return the answers to a doc, call by call. Raises UsageError if the doc is not in the script."""
        if callable(self.says):
            said: Any = self.says(fields)
        elif isinstance(self.says, Mapping):
            if doc not in self.says:
                fix = f"It has: {', '.join(map(str, self.says))}."
                raise UsageError(f"the script has nothing for the doc {doc!r}", where=self.role, fix=fix)
            said = self.says[doc]
        else:
            said = self.says
        return [said] * _EACH_TIME if isinstance(said, str) else list(said)


class RunTask:
    """Runs tasks in a temporary folder when called; see the fixture `run_task`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def __call__(
        self, task: str, model: str | Script | Says, *, judge: str | Script | Says | None = None, **options: Any
    ) -> RunResult:
        """Run one task. Raises the errors of `creval.run`, and UsageError if a doc is not in a script."""
        self._count += 1
        given = RunOptions(**{"offline": True, "output": self._folder / f"run-{self._count}", **options})
        scripts: dict[str, str | Script | Says] = {"target": model, **given.roles}
        if judge is not None:
            scripts["judge"] = judge
        named = {role: self._model(role, says, task, given) for role, says in scripts.items()}
        target = named.pop("target")
        return run([task], target, replace(given, roles=named))

    def _model(self, role: str, says: str | Script | Says, task: str, options: RunOptions) -> str:
        """Return a model's name; for a script, that of a file with its answers to every sample of the run."""
        if isinstance(says, str) and "/" in says and " " not in says:
            return says
        script = says if isinstance(says, Script) else Script(role, says)
        file = self._folder / f"said-{self._count}-{role}.jsonl"
        with file.open("w", encoding="utf-8") as output:
            for plan in open_plans([task], replace(options, roles={}), load_plugins()):
                for index in range(len(plan.dataset)) if plan.indices is None else plan.indices:
                    doc = plan.dataset[index]
                    answers = script.of(doc.id, doc.fields)
                    for condition in plan.task.conditions:
                        for repeat in range(plan.repeats):
                            at = {"doc": doc.id, "condition": condition.name, "repeat": repeat}
                            line = {"task": plan.task.name, **at, "role": role, "answers": answers}
                            output.write(json.dumps(line) + "\n")
        return f"replay/{file}"
