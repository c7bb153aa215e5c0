"""What a component of each kind must be able to do.

A component is registered by name and kind (see `creval.plugins.registry`) as `"module:attribute"`. The
attribute is called with the parameters of the task YAML as keywords and returns an object with the
methods below: typing protocols, no base class is needed.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from creval.types.likelihoods import Loglikelihood, LoglikelihoodRequest, Output
from creval.types.messages import Completion, GenerateRequest, Message, Reply
from creval.types.programs import CaseResult, Limits, Program
from creval.types.sample import CallRecord, Condition, Doc, MissingScore, SampleKey
from creval.types.tools import Tool

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Aggregation",
    "Analysis",
    "AnalysisOutput",
    "Baseline",
    "Context",
    "Embedding",
    "Entailment",
    "Expected",
    "FieldSpec",
    "Generator",
    "JudgedPart",
    "Parsed",
    "Parser",
    "Provider",
    "Sandbox",
    "Score",
    "Scorer",
    "ScorerInput",
    "Session",
    "TaskProtocol",
    "Turn",
]


class Context(Protocol):
    """What scorers, protocols and baselines may reach: the task's resources and models."""

    @property
    def task(self) -> str: ...

    @property
    def seed(self) -> int: ...

    def resource(self, name: str) -> Any:
        """Return the resource that the task calls `name` (`embedding`, `sandbox`, ...), opened once a run.

        Raises MissingPartError where the part behind it is not installed.
        """

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        """Render a prompt of the task (one of `prompts`, or of a role's) with these fields; `extra` come on top."""

    def model_of(self, role: str) -> str:
        """Return the name of the model that plays a role (`target` too), "" where none does; no model is opened."""

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        key: SampleKey,
        draw: int = 0,
        tools: Sequence[Tool] = (),
        **settings: Any,
    ) -> Reply:
        """Ask the model that plays `role` (e.g. `judge`) on behalf of a sample. Settings override those of the role.

        `tools` are what it may call; its calls are in `reply.tool_calls`, and their results go into further messages.

        The same question (model, settings, messages) is paid once a run and its answer given again, also when the run
        is resumed or scored again; another `draw` is another, independent answer. With `apart=True` so is the answer
        of another role, although the same model plays both.
        Raises ModelError where the call failed, UsageError where no model plays the role.
        """

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Say that an answer of `ask` cannot be read: it is not given again; the same question gets a new answer."""


# --- protocols --------------------------------------------------------------------------------------


class Session(Protocol):
    """One sample being made; handed to `TaskProtocol.run`.

    Every call and answer is recorded on the way. A `ModelError` may be left to rise: the sample ends as
    errored. Truncation and refusal of the target end the sample by themselves.
    """

    @property
    def doc(self) -> Doc: ...

    @property
    def condition(self) -> Condition: ...

    @property
    def repeat(self) -> int: ...

    @property
    def random(self) -> random.Random:
        """A random stream of this sample's own, derived from the run's seed and the sample's key."""

    @property
    def context(self) -> Context: ...

    def prompt(self, name: str = "prompt", **extra: Any) -> list[Message]:
        """Render a prompt template of the task (`prompt`, or a named one of `prompts`) for this doc."""

    async def ask(
        self,
        messages: Sequence[Message],
        role: str = "target",
        tolerate: Collection[str] = (),
        tools: Sequence[Tool] | None = None,
        **settings: Any,
    ) -> Reply:
        """Ask a model. Settings override those of the task and condition, or of the role. `n` may be among them.

        `tools` are what the model may call: the target's are those of the task (YAML: `tools`) where none are given,
        and none with an empty list. The calls are in `reply.tool_calls` as the model wrote them: a name may be none of
        the tools, and `values` of arguments that are no JSON object are None. A reply that calls tools is not empty.

        A completion of the target that was cut, refused or empty ends the sample, unless `tolerate` names `length`,
        `refusal` or `empty`: then it comes back, with its finish reason. Of another role the answer to the same
        question of this sample is kept as `Context.ask` says; asked again within the sample it gets a new answer.
        """

    async def loglikelihood(
        self, requests: Sequence[LoglikelihoodRequest], output: Output = "loglikelihood", **settings: Any
    ) -> Sequence[Loglikelihood]:
        """Ask the target how likely given texts are; one answer for each, in order.

        The texts after one context are one call. A protocol that asks so is registered with `loglikelihood=True`, so
        that a model that cannot say it is refused before the first call. Settings: see `LoglikelihoodCall`.
        """

    def parse(self, text: str) -> Parsed:
        """Read a text with the task's parser chain."""

    def answer(self, text: str) -> None:
        """Append a final answer."""

    def report(self, **outcome: Any) -> None:
        """Add plain data to the sample's outcome."""

    def unparsed(self, reason: str) -> None:
        """End as unparsed: the model answered, but not in a form that the protocol can continue with."""


class TaskProtocol(Protocol):
    """Kind `protocol`: how the model is engaged for one sample.

    A method `expected_calls(fields)` gives a dry run the fewest and the most calls to expect of a sample of a doc with
    these fields, as (fewest, most); without it a sample is one call. A method `doc_fault(fields)` says what keeps a doc
    from being asked, or gives None; such a doc is refused before the first call.
    """

    async def run(self, session: Session) -> None: ...


# --- parsing ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a parser (or a chain of them) made of a text: a value, or a reason why there is none.

    `route` names the parser, and its branch, that succeeded: `json_array`, `json_array/fenced`.
    """

    value: Any = None
    ok: bool = True
    reason: str | None = None
    route: str = ""

    @classmethod
    def failure(cls, reason: str, route: str = "") -> Parsed:
        return cls(None, False, reason, route)


class Parser(Protocol):
    """Kind `parser`: text -> value; in a chain, a later one may also get the value of the one before."""

    def parse(self, text: Any) -> Parsed: ...


# --- scoring ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScorerInput:
    """One answered sample, ready for scoring. `values` are the parsed answers in order.

    `parsed` says of each answer what the parsers made of it; one that they could not read has no value in `values`
    (only scorers registered with `reads_some=True` are given such samples). `calls` are all calls of the sample with
    their replies: log-probabilities, finish reasons, tokens.
    """

    key: SampleKey
    doc: Mapping[str, Any]
    condition: Condition
    values: Sequence[Any]
    answers: Sequence[str]
    outcome: Mapping[str, Any]
    parsed: Sequence[Parsed] = ()
    calls: Sequence[CallRecord] = ()

    @property
    def value(self) -> Any:
        return self.values[0] if self.values else None


@dataclass(frozen=True, slots=True)
class Score:
    """Named finite numbers for one sample, or the reason why it has none.

    `failure` None: scored. Otherwise the sample ends as `unparsed` (the answer is at fault: fewer valid words
    than the test needs) or, with `errored`, as errored (a part is at fault: no vectors). Scores of an answer that
    fails so are kept (how many valid words it had); those of an errored one are not. `missing` says of single scores
    why there is none though the others stand; one that is SKIPPED is in no metric, also where the answer fails.
    """

    scores: Mapping[str, float]
    details: Mapping[str, Any] | None = None
    failure: str | None = None
    errored: bool = False
    missing: Mapping[str, MissingScore] = field(default_factory=dict)


class Expected(NamedTuple):
    """What a dry run knows of a sample to come: the protocol that makes it, and the answers in one of its calls."""

    protocol: TaskProtocol
    answers: int


class JudgedPart(NamedTuple):
    """A part of a sample that a judge rated, as `creval analyse judge-agreement` compares it with people's labels.

    `names` holds what a file of labels may call it, by column, the outer columns first:
    `{"path": ("1", "1/1"), "triple": ("2",)}` is the second triple of path 1. `ratings` are the judge's, by name.
    """

    names: Mapping[str, Sequence[str]]
    ratings: Mapping[str, float]

    @property
    def unit(self) -> str:
        """What kind of part it is: the innermost column."""
        return list(self.names)[-1]


class Scorer(Protocol):
    """Kind `scorer`: samples -> named numbers. Called with batches so that embeddings can be batched.

    Returns one Score for each item, in order. A coroutine function where it asks a judge. What it states about itself
    (`unit`, `waits`, `batch_size` ...) are arguments of `registry.add`. A batch that fails as a whole is tried again
    sample by sample. Methods say more, where there are any:

    - `expected_role_calls(fields, expected)` gives a dry run the fewest and the most calls for a sample of a doc with
      these fields, by role: `{"judge": (2, 4)}`, with None for the most where the answers alone decide. A protocol may
      have one too. `expected_pairs(fields, expected)` gives in the same way how many pairs of texts an entailment
      resource judges, by its name: each is a call where a role is behind it. `expected`: see `Expected`.
    - `doc_fault(fields)` says what keeps a doc from being scored, or gives None; such a doc is refused before the
      first call.
    - `judged_parts(details)` lists from the details of a stored score the parts that a judge rated by themselves
      (`JudgedPart`), so that `creval analyse judge-agreement` takes labels of them.
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score] | Awaitable[Sequence[Score]]: ...


class Aggregation(Protocol):
    """Kind `aggregation`: the values of one metric, clustered by doc, -> one number.

    `clusters` holds one float array a doc (its repeats, conditions pooled). Must not return NaN: None where
    undefined. An aggregation may say more, by methods:

    - `parts(clusters)` gives the numerator and the denominator of each doc where the number is a ratio of their sums;
      `resample(clusters, draws)` the number in each resample. Either makes the bootstrap fast.
    - `interval(clusters, confidence)` gives the ends of an interval of its own, or None.
    - `read(records)` takes the stored scores (ScoreRecord) that the values are made of, with their details; the values
      are then the places of these, from 0.
    - `effective_docs(clusters)` and `degrees_of_freedom(clusters)` say how many docs an interval rests on.

    and by attributes of the object, which its YAML parameters may decide: `minimum_repeats` (docs with fewer values are
    left out, and a run with fewer repeats is refused), `minimum_clusters` (fewer docs have no interval), and `share`
    (the number is a share of successes, whatever the values are).
    """

    def value(self, clusters: Sequence[np.ndarray]) -> float | None: ...

    def standard_error(self, clusters: Sequence[np.ndarray]) -> float | None: ...


# --- data -------------------------------------------------------------------------------------------


class Generator(Protocol):
    """Kind `generator`: makes docs from a seed alone; the same on every machine and Python."""

    def docs(self) -> Iterable[Doc]: ...


# --- models -----------------------------------------------------------------------------------------


class Provider(Protocol):
    """Kind `provider`: one seam to a family of models.

    The factory is called as `factory(model=<part after the slash>, options=ProviderOptions)`. `generate` makes
    exactly one try: retries, limits, cache and budget are the core's. Raises RetryableModelError or
    FatalModelError.

    A provider that gives log-likelihoods has a method `loglikelihood(call)` as well (`LoglikelihoodProvider`), and its
    component states `loglikelihood=True`.

    An attribute `traits` (`ProviderTraits`) says how the core treats this model: whether calls cost something, whether
    answers are worth caching. An attribute `secrets` holds texts that are masked in all that is stored (keys).

    A provider may have three methods more, without parameters. `check`, called by a dry run, raises a UsageError for
    what a first call would lack and making the provider does not show. `prepare`, called when a first call is about to
    come, does what takes long and that a run which asks nothing need not wait for; `rest`, when no further call is
    expected, lets go of what can be made again. A call may come without the one and after the other.
    """

    async def generate(self, request: GenerateRequest) -> Reply: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What a baseline sees: the doc (answer key included) and the conversation so far.

    `call` counts the calls of the sample from 0, `completion` the answers that one call asks for (`n`). `requests` are
    the texts whose likelihoods are asked for, where they are: the reply is the label of one of them, or the text.
    """

    doc: Mapping[str, Any]
    condition: Condition
    messages: Sequence[Message]
    key: SampleKey
    call: int
    random: random.Random
    context: Context
    completion: int = 0
    requests: Sequence[LoglikelihoodRequest] = ()


class Baseline(Protocol):
    """Kind `baseline`: plays a task without a language model (floor: chance; ceiling: the best known).

    A baseline whose task reads log-probabilities returns a Completion that has them.
    """

    def reply(self, turn: Turn) -> str | Completion: ...


# --- resources --------------------------------------------------------------------------------------


class Embedding(Protocol):
    """Kind `embedding`: texts -> vectors.

    The factory is called with the part of the name after the provider (`minilm` of `embedded/minilm`).
    `name` is the full resource name with revision or checksum. An attribute `cheap = True` says that a look-up costs
    next to nothing (word vectors), so that vectors are not stored on disk.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def has(self, text: str) -> bool:
        """Whether the text has a vector (False: out of vocabulary; sentence encoders: always True)."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension), not necessarily of unit length.

        Raises ScoringError where a text has no vector.
        """


class Entailment(Protocol):
    """Kind `entailment`: probabilities (entailment, neutral, contradiction), shape (n, 3), rows sum to 1.

    `predict` may be a coroutine function where the resource asks others: what it gives is then awaited. An attribute
    `classes` = 2 says that it distinguishes entailment from all else alone, which stands as neutral; a rule that needs
    contradictions refuses it. An attribute `cheap = True` says that what it gives need not be stored on disk. A method
    `bound(asker, task)` returns the resource that asks a model on behalf of a task, where it asks a role.
    """

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray | Awaitable[np.ndarray]: ...


class Sandbox(Protocol):
    """Kind `sandbox`: runs untrusted programs away from the user's files, network and environment.

    `name` is the full name: back-end, its mode, interpreter and libraries with their versions.
    """

    @property
    def name(self) -> str: ...

    async def run(self, program: Program, cases: Sequence[bytes], limits: Limits | None = None) -> Sequence[CaseResult]:
        """Run a program once for each case, whose bytes are its standard input; one result a case, in order.

        What a program does after its first instruction is its own result. Raises SandboxError before it.
        """


# --- analyses ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One option of an analysis on the command line: `--name`, its JSON type, default and help.

    A number below `minimum` or above `maximum` is refused with a message, as a seed below 0 is.
    """

    name: str
    type: str = "string"
    default: Any = None
    help: str = ""
    multiple: bool = False
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class AnalysisOutput:
    """What an analysis found: a title, columns and rows of plain values, notes for the reader, and files written."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    data: Mapping[str, Any] | None = None


class Analysis(Protocol):
    """Kind `analysis`: several run folders (and options) -> numbers. Found by `creval analyse NAME`."""

    def options(self) -> Sequence[FieldSpec]: ...

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput: ...
