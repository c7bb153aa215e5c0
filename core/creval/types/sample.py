"""A sample: the result of (task, doc, condition, repeat)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from creval.types.sample_key import Condition, SampleKey

if TYPE_CHECKING:
    from creval.types.content import MediaPart
    from creval.types.messages import Reply

__all__ = [
    "CallRecord",
    "ComponentFault",
    "Condition",
    "Doc",
    "MissingScore",
    "Sample",
    "SampleKey",
    "ScoreRecord",
    "Status",
]


class Status(StrEnum):
    """How a sample ended: exactly one status; every metric shows the counts of all six."""

    SCORED = "scored"  # answered, parsed and scored (in samples/: answered, scoring is a later step)
    UNPARSED = "unparsed"  # answered, but the parser chain could not read it
    TRUNCATED = "truncated"  # cut at the token limit (finish_reason "length")
    REFUSED = "refused"  # the model or its filter declined
    ERRORED = "errored"  # a call or the scoring failed
    SKIPPED = "skipped"  # not attempted: the budget was used up, or the task cannot run on this model

    @property
    def is_failure(self) -> bool:
        """Whether the model itself failed, which a metric may count as zero; an errored sample is not its failure."""
        return self in (Status.UNPARSED, Status.TRUNCATED, Status.REFUSED)


@dataclass(frozen=True, slots=True)
class Doc:
    """One item of a dataset: its `id` (unique within the dataset, a string) and its fields."""

    id: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a sample: role, messages sent, the reply, or the error that ended it.

    `reply_data` is the stored reply, `reply` the same as an object.
    `messages` holds only what was not in the previous call of the same role (`kept` counts the messages carried over),
    so that the size of a game with many turns does not grow quadratically. `settings` are the generation settings sent.
    `lost` is the usage of tries that were answered but unusable. `tools` are the tools that the model may call, if they
    differ from those of the previous call. `output` says what was asked for if it is not an answer (`loglikelihood`):
    the completions are then the request's texts, with their tokens.
    """

    role: str
    kept: int
    messages: Sequence[Mapping[str, Any]]
    reply_data: Mapping[str, Any] | None = field(default=None, repr=False)
    error: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    lost: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] = ()
    output: str | None = None

    @property
    def reply(self) -> Reply | None:
        """The reply: completions with finish reasons and log-probabilities, usage, cost. None if the call failed."""
        from creval.types.reply_json import reply_from_json  # built on first use: most readers need no replies

        return None if self.reply_data is None else reply_from_json(self.reply_data)


class ComponentFault(NamedTuple):
    """A component that raised (`scorer bad`), its module, and that module's code: distribution, version and sha256."""

    component: str
    module: str
    code: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A finished sample, one line of `samples/<task>.jsonl`.

    `answers` are the final answer texts in order (one for a chat, three for three chains); the parser
    chain reads each. `outcome` is plain data that a protocol reports beyond texts (e.g. the moves of a game).
    `doc_digest` replaces `doc` if the task stores docs by reference.
    `faults` are the components that raised, if nothing else caused the error: resume makes the sample again once their
    code has changed.
    `status` is SCORED if generation succeeded; scoring may still change it to UNPARSED or ERRORED. `media` are the
    images, audio and files of its messages by digest, in memory until they are in the run folder.
    """

    key: SampleKey
    doc: Mapping[str, Any]
    status: Status
    answers: Sequence[str] = ()
    outcome: Mapping[str, Any] = field(default_factory=dict)
    calls: Sequence[CallRecord] = ()
    reason: str | None = None
    seed: int = 0
    started: str = ""
    seconds: float = 0.0
    doc_digest: str | None = None
    faults: Sequence[ComponentFault] = ()
    media: Mapping[str, MediaPart] = field(default_factory=dict, compare=False, repr=False)


class MissingScore(NamedTuple):
    """Why a sample lacks a score: a status and the reason.

    UNPARSED: the answer is at fault. ERRORED: a component is. SKIPPED: the score does not exist for this doc or
    solution, so the sample is in no metric made from it and does not count as a failure of the model.
    """

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """The score of a sample, one line of `scores/<task>.jsonl`.

    `scores` are named finite numbers. `details` is plain data that explains them (words kept, words
    dropped ...). `route` names the parser that read the answer; `reason` says why a sample has no score. If one scorer
    failed and another did not, `missing` gives the reason for each score of the first. `faults` as in Sample.
    """

    key: SampleKey
    status: Status
    scores: Mapping[str, float] = field(default_factory=dict)
    value: Any = None
    route: str | None = None
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, MissingScore] = field(default_factory=dict)
    faults: Sequence[ComponentFault] = ()

    def status_of(self, name: str) -> Status:
        """Return how the sample ended as far as one score is concerned.

        An errored sample may have scores that were made before the fault or by another scorer; these count.
        """
        if name in self.missing:
            return self.missing[name].status
        keeps_scores = bool(self.missing) or self.status is Status.ERRORED
        return Status.SCORED if keeps_scores and name in self.scores else self.status
