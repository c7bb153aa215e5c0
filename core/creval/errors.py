"""Every exception that creval raises on purpose, as one tree.

    CrevalError
    ├── UsageError                 the command or call asks for something impossible
    │   ├── UnknownNameError       no task, model, plugin, component ... of that name
    │   └── MissingPartError       a package, model, vector file or system tool is absent
    ├── TaskError                  a task, suite or template is wrong; carries every problem found
    ├── PluginError                a plugin could not be loaded or breaks the rules
    ├── DataError                  a dataset is missing, altered or malformed
    ├── RunError                   a run folder is locked, damaged or has another format
    │   └── DetachedError          not a failure: batches are pending, resume the run later
    ├── ModelError                 a model call failed
    │   ├── RetryableModelError    may succeed later: 429, 5xx, reset connection, time-out
    │   └── FatalModelError        will not succeed: wrong key, unknown model, bad request
    │       └── ContextLengthError the question is too long for the model
    ├── ScoringError               an answer could not be scored: no vector, no judge, NaN
    │   ├── InterfaceError         a component returned something that the plugin interface forbids
    │   └── SandboxError           a program could not be started in the sandbox
    └── BudgetError                the run reached --max-cost or --max-calls

Two rules hold everywhere. A failed *sample* is data, not a crash: `ModelError` and `ScoringError`
end in the sample's status and reason. A failed *request of the user* is one clear message that says what is wrong,
where, and what to do; the command line prints it without a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from creval.types.messages import LostUsage

__all__ = [
    "BudgetError",
    "ContextLengthError",
    "CrevalError",
    "DataError",
    "DetachedError",
    "FatalModelError",
    "InterfaceError",
    "MissingPartError",
    "ModelError",
    "PluginError",
    "Problem",
    "RetryableModelError",
    "RunError",
    "SandboxError",
    "ScoringError",
    "TaskError",
    "UnknownNameError",
    "UsageError",
    "nearest",
]


def nearest(word: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Return up to `limit` names of `known` that look like `word`, best first; empty if none is similar.

    A qualified name (`plugin/task`) also matches on its last part, so that a right word in the wrong
    namespace is found. A name that differs only in case is the best, and the only one.
    """
    names = list(dict.fromkeys(known))
    same = [name for name in names if name.casefold() == word.casefold()]
    if same and word not in same:
        return tuple(same[:limit])
    lower = {name.casefold(): name for name in names}
    matches = _similar(word, names, limit) or [lower[name] for name in _similar(word.casefold(), list(lower), limit)]
    return tuple(dict.fromkeys(matches))[:limit]


def _similar(word: str, names: Sequence[str], limit: int) -> list[str]:
    import difflib

    tails = {name.rsplit("/", 1)[-1]: name for name in names}
    matches = difflib.get_close_matches(word, names, n=limit, cutoff=0.6)
    matches += [tails[tail] for tail in difflib.get_close_matches(word.rsplit("/", 1)[-1], list(tails), limit, 0.6)]
    if not matches and 1 < len(word) <= 3:  # too short for the ratio: f1 for f2
        matches = [name for name in names if len(name) == len(word) and sum(map(str.__ne__, name, word)) == 1]
    return matches


class CrevalError(Exception):
    """Base of all errors. `what` went wrong, `where` (file, key, URL), and the `fix`: what to do."""

    exit_code = 2

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.fix:
            lines.append(self.fix)
        return "\n".join(lines)


class UsageError(CrevalError):
    """The command or call asks for something that cannot be done."""


_MAX_LISTED = 12


class UnknownNameError(UsageError):
    """Nothing of this kind has this name.

    `known` is the full list of valid names; the fix lists the nearest ones, or all of them if none is similar and there
    are few.
    """

    def __init__(
        self, kind: str, name: str, known: Sequence[str], *, where: str | None = None, hint: str | None = None
    ) -> None:

        similar = nearest(name, known)
        fix = f"Did you mean {' or '.join(repr(n) for n in similar)}?" if similar else None
        if not similar and not hint and 0 < len(known) <= _MAX_LISTED:
            fix = f"There {'is' if len(known) == 1 else 'are'}: {', '.join(known)}."
        if hint:
            fix = f"{fix} {hint}" if fix else hint
        super().__init__(f"unknown {kind} {name!r}", where=where, fix=fix)
        self.kind = kind
        self.name = name
        self.nearest = similar


class MissingPartError(UsageError):
    """A package, model, vector file, key or system tool is absent; the fix is a command to run.

    `fetched` is True if only the network is missing: without --offline the part is fetched on first use.
    """

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None, fetched: bool = False) -> None:
        super().__init__(what, where=where, fix=fix)
        self.fetched = fetched


class Problem(NamedTuple):
    """One fault in a YAML file. `line` and `column` count from 1; `path` is the key path (`score[0].drat.k`)."""

    message: str
    file: Path | None = None
    line: int | None = None
    column: int | None = None
    path: str = ""
    fix: str | None = None

    def __str__(self) -> str:
        position = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        key = f" [{self.path}]" if self.path else ""
        fix = f" {self.fix}" if self.fix else ""
        return f"{position}:{key} {self.message}.{fix}" if position else f"{key} {self.message}.{fix}".strip()


class TaskError(CrevalError):
    """A task or suite file is wrong. All problems of a file are reported at once in `problems`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class PluginError(CrevalError):
    """A plugin could not be loaded, or registers something that breaks the rules."""


class DataError(CrevalError):
    """A dataset is missing, altered (checksum), or malformed."""


class RunError(CrevalError):
    """A run folder is locked by another process, damaged, or does not fit the request."""


class DetachedError(RunError):
    """The run stopped while its batches are pending (`--detach`); the fix collects them."""

    exit_code = 4


class ModelError(CrevalError):
    """A model call failed. `http_status` is the HTTP status, if any, `lost` the usage of failed tries."""

    def __init__(
        self, what: str, *, where: str | None = None, fix: str | None = None, http_status: int | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.http_status = http_status
        self.lost: LostUsage | None = None


class RetryableModelError(ModelError):
    """A call that may succeed later. `retry_after` is the wait in seconds that the server asked for."""

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        fix: str | None = None,
        http_status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(what, where=where, fix=fix, http_status=http_status)
        self.retry_after = retry_after


class FatalModelError(ModelError):
    """A call that will never succeed, however often it is tried.

    `every_call` is True if the cause is not a single sample (wrong key, unknown model, a parameter that the model
    refuses): every further call of the task would fail the same way. `closed` is True if the cause is not the request
    (but the key, the account, the address): no further call to the model can succeed.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        fix: str | None = None,
        http_status: int | None = None,
        every_call: bool = False,
        closed: bool = False,
    ) -> None:
        super().__init__(what, where=where, fix=fix, http_status=http_status)
        self.every_call = every_call or closed
        self.closed = closed


class ContextLengthError(FatalModelError):
    """The question and the space for its answer do not fit into the model's context; a shorter one may."""


class ScoringError(CrevalError):
    """An answer could not be scored: a missing vector, a judge that failed, a value that is not a number."""


class InterfaceError(ScoringError):
    """A component broke the plugin interface: it returned no Score or Parsed, or a score of another name."""


class SandboxError(ScoringError):
    """The sandbox failed before a program started; anything that happens after the start is the program's result."""

    @classmethod
    def before(cls, words: str) -> SandboxError:
        """Return the error with the system's message."""
        return cls(f"a program could not be started: {words}", where="sandbox", fix="Try: creval sandbox check")


class BudgetError(CrevalError):
    """The run reached the spending or call limit that the user set."""

    exit_code = 3
