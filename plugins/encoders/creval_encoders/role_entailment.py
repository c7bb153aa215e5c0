"""Entailment by a language model in a role (`role/judge`), and without a model (`exact`)."""

from __future__ import annotations

import asyncio
import hashlib
import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from creval.plugin import Message, ResourceOptions, SampleKey, ScoringError, UsageError
from creval.plugin.encoders import CALLS_A_PAIR, Asker

__all__ = ["ExactEntailment", "RoleEntailment", "read_label"]


class ExactEntailment:
    """`exact`: certain entailment of equal texts (in NFC, case folded, white space collapsed), else certain neutral.

    The lower bound of every clustering by meaning: it merges only texts with the same words.
    """

    cheap = True
    name = "exact"

    def __init__(self, model: str = "", options: ResourceOptions | None = None) -> None:
        pass

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities (entailment, neutral, contradiction) of each pair; shape (n, 3)."""
        rows = np.zeros((len(pairs), 3))
        for row, (premise, hypothesis) in zip(rows, pairs, strict=True):
            row[0 if _plain(premise) == _plain(hypothesis) else 1] = 1.0
        return rows


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


_LABELS = ("entailment", "neutral", "contradiction")

_TRIES = CALLS_A_PAIR[1]

_TARGET = "target"

_PROMPT = """\
Two texts follow. Decide how the second stands to the first.

entailment: if the first text is true, the second must be true.
contradiction: if the first text is true, the second cannot be true.
neutral: the second may be true or not.

First text:
{premise}

Second text:
{hypothesis}

Answer with one of these words alone: entailment, neutral, contradiction."""

_SAID = re.compile(
    r"[\W_]*(?:(?:the|my|final|answer|label|verdict|relation|is)[\W_]+)*(entailment|neutral|contradiction)[\W_]*",
    re.IGNORECASE,
)


class RoleEntailment:
    """`role/<role>`: the probability is 1 for the label from the model in this role. A model must have the role.

    Nothing is cached on disk here: the run's ledger stores every verdict. `name` contains the checksum of the prompt.
    """

    cheap = True

    def __init__(self, model: str, options: ResourceOptions | None = None) -> None:
        if not model or model == _TARGET:
            raise UsageError(
                f"{model!r} is no role that can judge",
                where=f"resource entailment=role/{model}",
                fix="Name another role, e.g. entailment=role/judge, and its model: --role judge=<provider>/<model>.",
            )
        self.role = model
        self.name = f"role/{model}@sha256:{hashlib.sha256(_PROMPT.encode()).hexdigest()[:12]}"

    def bound(self, asker: Asker, task: str) -> _Asking:
        """Return an object that asks the role on behalf of a task ("": of none)."""
        return _Asking(self, asker, task)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Raise UsageError: only a task or a workbench can ask a role."""
        raise UsageError(
            f"{self.name} calls a model, but none is named",
            fix="Open it through the context of a task, or a Workbench with roles.",
        )


class _Asking:
    """The same, bound to an asker. A pair whose verdict was unreadable is not paid again."""

    cheap = True

    def __init__(self, resource: RoleEntailment, asker: Asker, task: str) -> None:
        self.name = resource.name
        self._role = resource.role
        self._asker = asker
        self._key = SampleKey(task, "entailment", "default", 0)  # a verdict does not belong to a single sample
        self._unread: dict[tuple[str, str], str] = {}

    async def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities (entailment, neutral, contradiction) of each pair; shape (n, 3).

        All pairs are requested concurrently, and requests in flight finish before an error is raised. Raises
        ScoringError if two replies for a verdict are unreadable, and the errors of asking.
        """
        found = await asyncio.gather(*(self._label(pair) for pair in pairs), return_exceptions=True)
        rows = np.zeros((len(pairs), len(_LABELS)))
        for row, label in zip(rows, found, strict=True):
            if isinstance(label, BaseException):
                raise label
            row[_LABELS.index(label)] = 1.0
        return rows

    async def _label(self, pair: tuple[str, str]) -> str:
        premise, hypothesis = pair
        messages = [Message("user", _PROMPT.format(premise=premise, hypothesis=hypothesis))]
        for turn in range(_TRIES if pair not in self._unread else 0):
            reply = await self._asker.ask(self._role, messages, self._key)
            label = None if reply.lack else read_label(reply.text)
            if label is not None:
                return label
            said = reply.lack or f"{reply.text.strip()[:80]!r} is none of {', '.join(_LABELS)}"
            self._asker.unreadable(reply, said)
            if turn == _TRIES - 1:
                self._unread[pair] = said
        raise ScoringError(
            f"the verdict of the {self._role} cannot be read, asked {_TRIES} times: {self._unread[pair]}",
            where=self.name,
            fix="Name a model that follows the prompt; resuming the run asks again.",
        )


def read_label(text: str) -> str | None:
    """Return the label that is alone on an answer's first or last line, or None."""
    lines = [line for line in text.splitlines() if line.strip()]
    ends = dict.fromkeys(lines[:1] + lines[-1:])
    said = {found[1].lower() for line in ends if (found := _SAID.fullmatch(line)) is not None}
    return said.pop() if len(said) == 1 else None
