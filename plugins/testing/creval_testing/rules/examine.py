"""The rules by name, and their examination."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from creval.plugin import CrevalError
from creval_testing.rules import package_rules, task_rules
from creval_testing.rules.subject import NotExaminedError, Subject

__all__ = ["OF_PLUGIN", "OF_TASK", "Case", "Finding", "cases", "examine", "faults_of"]


class _OfTask(NamedTuple):
    """A rule on a task. `leading`: in a file with variants, examine only the first task."""

    check: Callable[[Subject, str], Iterable[str]]
    leading: bool = False


OF_PLUGIN: Mapping[str, Callable[[Subject], Iterable[str]]] = {
    "discovery": package_rules.discovery,
    "bounds": package_rules.bounds,
    "targets": package_rules.targets,
    "face": package_rules.face,
    "task_files": task_rules.task_files,
    "sources": task_rules.sources,
    "parsers": task_rules.parsers,
    "wheel": package_rules.wheel,
}
"""Rules that are examined once per plugin."""
OF_TASK: Mapping[str, _OfTask] = {
    "templates": _OfTask(task_rules.templates),
    "examples": _OfTask(task_rules.examples),
    "answers": _OfTask(task_rules.answers, leading=True),
    "frame": _OfTask(task_rules.frame, leading=True),
    "repeatable": _OfTask(task_rules.repeatable, leading=True),
}
"""Rules that are examined once per task."""


class Case(NamedTuple):
    """A rule, and the task on which it is examined (None: the whole plugin)."""

    rule: str
    task: str | None = None

    def __str__(self) -> str:
        return self.rule if self.task is None else f"{self.rule}: {self.task}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of examining a case: its faults (empty: the rule is kept), or why it could not be examined here."""

    case: Case
    faults: Sequence[str] = ()
    not_examined: str | None = None


def cases(subject: Subject) -> list[Case]:
    """Return every case of a plugin; those of a task are consecutive, since they share its data.

    Raises UnknownNameError if the plugin is not installed or failed to load.
    """
    assert subject.info
    leading = set(subject.leading)
    of_tasks = [
        Case(name, task)
        for task in subject.tasks
        for name, rule in OF_TASK.items()
        if task in leading or not rule.leading
    ]
    return [*(Case(name) for name in OF_PLUGIN), *of_tasks]


def faults_of(subject: Subject, case: Case) -> list[str]:
    """Examine one case and return its faults. Raises NotExaminedError if that cannot be done here."""
    try:
        if case.task is None:
            return list(OF_PLUGIN[case.rule](subject))
        return list(OF_TASK[case.rule].check(subject, case.task))
    except NotExaminedError:
        raise
    except CrevalError as error:
        return [" ".join(str(error).split())]


def examine(subject: Subject) -> list[Finding]:
    """Examine every case of a plugin."""
    findings = []
    for case in cases(subject):
        try:
            findings.append(Finding(case, faults_of(subject, case)))
        except NotExaminedError as error:
            findings.append(Finding(case, not_examined=error.what))
    subject.close()
    return findings
