"""What a component of each kind must be able to do.

A component is registered by name and kind (see `creval.plugins.registry`) as `"module:attribute"`. The
attribute is called with the parameters of the task YAML as keywords and returns an object with the methods below. They
are typing protocols: no base class is needed.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from creval.types.likelihoods import Loglikelihood, LoglikelihoodRequest, Output
from creval.types.messages import Completion, GenerateRequest, Message, Reply
from creval.types.sample import CallRecord, Condition, Doc, MissingScore, SampleKey
from creval.types.tools import Tool

if TYPE_CHECKING:
    import numpy as np

    from creval.types.programs import CaseResult, Limits, Program

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
    """What scorers, protocols and baselines may use: the task's resources and models."""

    @property
    def task(self) -> str: ...

    @property
    def seed(self) -> int: ...

    def resource(self, name: str) -> Any:
        """Return the resource that the task calls `name` (`embedding`, `sandbox`, ...), opened once per run.

        Raises MissingPartError if the component behind it is not installed.
        """

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        """Render a prompt of the task (one of `prompts`, or of a role's) with these fields and those in `extra`."""

    def model_of(self, role: str) -> str:
        """Return the name of the model that plays a role (also `target`), or "" if none does. Opens no model."""

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

        `tools` are the tools that it may call. Its calls are in `reply.tool_calls`; send their results in further
        messages.

        The same question (model, settings, messages) is paid for once per run and its answer is reused, also when the
        run is resumed or scored again. Another `draw` gets an independent answer. With `apart=True` the role
        gets an answer of its own, even if the same model plays another role.
        Raises ModelError if the call fails, UsageError if no model plays the role.
        """

    def unreadable(self, reply: Reply, reason: str) -> None:
        """Mark an answer of `ask` as unreadable: it is not reused, and the same question gets a new answer."""


# --- protocols --------------------------------------------------------------------------------------


class Session(Protocol):
    """The sample that a protocol runs; passed to `TaskProtocol.run`.

    Every call and answer is recorded. A protocol need not catch `ModelError`: it ends the sample as errored. If the
    target's answer is cut or refused, the sample ends as well.
    """

    @property
    def doc(self) -> Doc: ...

    @property
    def condition(self) -> Condition: ...

    @property
    def repeat(self) -> int: ...

    @property
    def random(self) -> random.Random:
        """A random stream for this sample alone, derived from the run's seed and the sample's key."""

    @property
    def context(self) -> Context: ...

    def prompt(self, name: str = "prompt", **extra: Any) -> list[Message]:
        """Render a prompt of the task for this doc: `prompt`, or the one of `prompts` with this name."""

    async def ask(
        self,
        messages: Sequence[Message],
        role: str = "target",
        tolerate: Collection[str] = (),
        tools: Sequence[Tool] | None = None,
        **settings: Any,
    ) -> Reply:
        """Ask a model. Settings (`n` too) override those of the task and condition, or those of the role.

        `tools` are the tools that the model may call: None gives the target those of the task (YAML: `tools`), an empty
        list gives it none. The calls are in `reply.tool_calls` as the model wrote them: a call may name an unknown
        tool, and `values` is None if its arguments are not a JSON object. A reply that calls tools is not empty.

        A completion of the target that was cut, refused or empty ends the sample, unless `tolerate` names `length`,
        `refusal` or `empty`: then it is returned with its finish reason. The answers of other roles are reused as for
        `Context.ask`, but a question that the sample repeats gets a new answer.
        """

    async def loglikelihood(
        self, requests: Sequence[LoglikelihoodRequest], output: Output = "loglikelihood", **settings: Any
    ) -> Sequence[Loglikelihood]:
        """Ask the target how likely texts are; return one answer for each, in order.

        Texts that share a context are sent in one call. Register a protocol that uses this with `loglikelihood=True`,
        so that a model without log-likelihoods is refused before the first call. Settings: see `LoglikelihoodCall`.
        """

    def parse(self, text: str) -> Parsed:
        """Read a text with the task's parser chain."""

    def answer(self, text: str) -> None:
        """Append a final answer."""

    def report(self, **outcome: Any) -> None:
        """Add plain data to the sample's outcome."""

    def unparsed(self, reason: str) -> None:
        """End the sample as unparsed: the model answered, but in a form from which the protocol cannot continue."""


class TaskProtocol(Protocol):
    """Kind `protocol`: sends the requests of one sample and records its answers.

    An optional method `expected_calls(fields)` returns how many calls a sample of a doc with these fields makes, as
    (fewest, most); a dry run uses it, and assumes one call without it. An optional method `doc_fault(fields)` returns
    why a doc cannot be asked, or None; a doc with a fault is refused before the first call.
    """

    async def run(self, session: Session) -> None: ...


# --- parsing ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of a parser (or a chain of parsers): a value, or a reason why there is none.

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
    """Kind `parser`: text -> value. In a chain, a later parser may get the value of the parser before it."""

    def parse(self, text: Any) -> Parsed: ...


# --- scoring ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScorerInput:
    """One answered sample, ready for scoring. `values` are the parsed answers in order.

    `parsed` holds the parsers' result for each answer. An answer that they could not read has no value in `values`;
    only scorers registered with `reads_some=True` get samples with such answers. `calls` are all calls of the sample
    with their replies: log-probabilities, finish reasons, tokens.
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

    If `failure` is None, the sample is scored. Otherwise it ends as `unparsed` (the answer is at fault, e.g. fewer
    valid words than the test needs) or, with `errored`, as errored (a component is at fault, e.g. no vectors). An
    unparsed answer keeps its scores (e.g. how many valid words it had), an errored one does not. `missing` says why
    single scores are missing while the others exist; a SKIPPED one is in no metric, even if the answer fails.
    """

    scores: Mapping[str, float]
    details: Mapping[str, Any] | None = None
    failure: str | None = None
    errored: bool = False
    missing: Mapping[str, MissingScore] = field(default_factory=dict)


class Expected(NamedTuple):
    """What a dry run knows about a future sample: the protocol that makes it, and the number of answers per call."""

    protocol: TaskProtocol
    answers: int


class JudgedPart(NamedTuple):
    """A part of a sample that a judge rated; `creval analyse judge-agreement` compares it with people's labels.

    `names` holds the names by which a file of labels may refer to it, by column, outer columns first: `{"path": ("1",
    "1/1"), "triple": ("2",)}` is the second triple of path 1. `ratings` are the judge's ratings by name.
    """

    names: Mapping[str, Sequence[str]]
    ratings: Mapping[str, float]

    @property
    def unit(self) -> str:
        """The kind of part: the innermost column."""
        return list(self.names)[-1]


class Scorer(Protocol):
    """Kind `scorer`: samples -> named numbers. Called with batches so that embeddings can be batched.

    Returns one Score for each item, in order. `score` is a coroutine function if it asks a judge. Traits of a scorer
    (`unit`, `waits`, `batch_size` ...) are arguments of `registry.add`. A batch that fails as a whole is tried again
    sample by sample. Optional methods:

    - `expected_role_calls(fields, expected)` returns for a dry run the fewest and the most calls of a sample of a doc
      with these fields, by role: `{"judge": (2, 4)}`; the most is None if it depends on the answers. A protocol may
      have this method too. `expected_pairs(fields, expected)` returns in the same form how many pairs of texts an
      entailment resource judges, by the resource's name; if a role is behind the resource, each pair is a call. For
      `expected` see `Expected`.
    - `doc_fault(fields)` returns why a doc cannot be scored, or None; a doc with a fault is refused before the first
      call.
    - `judged_parts(details)` lists the parts that a judge rated one by one (`JudgedPart`), from the details of a stored
      score; `creval analyse judge-agreement` then accepts labels for them.
    """

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score] | Awaitable[Sequence[Score]]: ...


class Aggregation(Protocol):
    """Kind `aggregation`: the values of one metric, clustered by doc, -> one number.

    `clusters` holds one float array per doc (its repeats, conditions pooled). Return None if the number is
    undefined, never NaN. Optional methods:

    - `parts(clusters)` returns the numerator and the denominator of each doc if the number is a ratio of their sums;
      `resample(clusters, draws)` returns the number in each resample. Either makes the bootstrap fast.
    - `interval(clusters, confidence)` returns the ends of its own kind of interval, or None.
    - `read(records)` receives the stored scores (ScoreRecord) behind the values, with their details; the values are
      then indices into them, from 0.
    - `effective_docs(clusters)` and `degrees_of_freedom(clusters)` return the effective number of docs of an interval,
      and its degrees of freedom.

    Optional attributes of the object, which may depend on its YAML parameters: `minimum_repeats` (docs with fewer
    values are left out, and a run with fewer repeats is refused), `minimum_clusters` (with fewer docs there is no
    interval), and `share` (the number is a share of successes, whatever the values are).
    """

    def value(self, clusters: Sequence[np.ndarray]) -> float | None: ...

    def standard_error(self, clusters: Sequence[np.ndarray]) -> float | None: ...


# --- data -------------------------------------------------------------------------------------------


class Generator(Protocol):
    """Kind `generator`: makes docs from a seed alone, the same on every machine and Python version."""

    def docs(self) -> Iterable[Doc]: ...


# --- models -----------------------------------------------------------------------------------------


class Provider(Protocol):
    """Kind `provider`: the client for a family of models.

    The factory is called as `factory(model=<part after the slash>, options=ProviderOptions)`. `generate` makes exactly
    one try; the core handles retries, limits, cache and budget. Raises RetryableModelError or FatalModelError.

    A provider of log-likelihoods also has a method `loglikelihood(call)` (`LoglikelihoodProvider`) and is registered
    with `loglikelihood=True`.

    An attribute `traits` (`ProviderTraits`) says how the core treats this model: whether calls cost something, whether
    answers are worth caching. An attribute `secrets` holds texts (keys) that are masked in everything that is stored.

    A provider may have three more methods, without parameters. A dry run calls `check`, which raises a UsageError if
    something that the first call needs is missing and the creation of the provider does not report it. `prepare` is
    called shortly before the first call, for slow work that a run without calls does not need. `rest` is called when no
    further call is expected; it releases what can be created again. A call may still come without `prepare` or after
    `rest`.
    """

    async def generate(self, request: GenerateRequest) -> Reply: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Turn:
    """What a baseline sees: the doc (answer key included) and the conversation so far.

    `call` counts the calls of the sample from 0, `completion` the answers within one call (`n`). `requests` are the
    texts of a call for likelihoods: the reply is then the label of one of them, or its text.
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

    For a task that reads log-probabilities it returns a Completion that has them.
    """

    def reply(self, turn: Turn) -> str | Completion: ...


# --- resources --------------------------------------------------------------------------------------


class Embedding(Protocol):
    """Kind `embedding`: texts -> vectors.

    The factory is called with the part of the name after the provider (`minilm` of `embedded/minilm`).
    `name` is the full resource name with revision or checksum. An attribute `cheap = True` says that a look-up costs
    almost nothing (word vectors); vectors are then not cached on disk.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def has(self, text: str) -> bool:
        """Whether the text has a vector (False: out of vocabulary; sentence encoders: always True)."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension), not necessarily of unit length.

        Raises ScoringError if a text has no vector.
        """


class Entailment(Protocol):
    """Kind `entailment`: probabilities (entailment, neutral, contradiction), shape (n, 3), rows sum to 1.

    `predict` may be a coroutine function, for a resource that asks a model. An attribute `classes` = 2 says that it
    separates only entailment from the rest, which is reported as neutral; a rule that needs contradictions refuses
    it. An attribute `cheap = True` says that its results need not be cached on disk. If it asks a role, a method
    `bound(asker, task)` returns the resource that asks the model on behalf of a task.
    """

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray | Awaitable[np.ndarray]: ...


class Sandbox(Protocol):
    """Kind `sandbox`: runs untrusted programs away from the user's files, network and environment.

    `name` is the full name: back-end, its mode, interpreter and libraries with their versions.
    """

    @property
    def name(self) -> str: ...

    async def run(self, program: Program, cases: Sequence[bytes], limits: Limits | None = None) -> Sequence[CaseResult]:
        """Run a program once for each case, whose bytes are its standard input; return one result per case, in order.

        Anything a program does after it has started is part of its result. Raises SandboxError if it cannot be started.
        """


# --- analyses ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One option of an analysis on the command line: `--name`, its JSON type, default and help.

    A number below `minimum` or above `maximum` is refused with a message (e.g. a seed below 0).
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
    """The result of an analysis: a title, columns and rows of plain values, notes for the reader, and files written."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    data: Mapping[str, Any] | None = None


class Analysis(Protocol):
    """Kind `analysis`: several run folders (and options) -> numbers. Run by `creval analyse NAME`."""

    def options(self) -> Sequence[FieldSpec]: ...

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput: ...
