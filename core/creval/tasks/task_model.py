"""The model of a task: frozen, resolved and validated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple

from creval.errors import Problem, UnknownNameError
from creval.types.content import PartKind
from creval.types.sample import Condition, Status
from creval.types.tools import Tool, ToolCall

__all__ = [
    "Bounds",
    "ChoicesRef",
    "CombinedMetric",
    "ComponentRef",
    "DatasetRef",
    "Example",
    "FewShot",
    "FieldRef",
    "HumanWording",
    "MetricSpec",
    "PromptMessage",
    "PromptPart",
    "Said",
    "ScorerRef",
    "SuiteMetric",
    "SuitePart",
    "Task",
    "TaskSource",
]

_MEDIA_KINDS = frozenset({"image", "audio", "file"})
_ORIGIN = re.compile(r"(.*):(\d+)")


@dataclass(frozen=True, slots=True)
class ComponentRef:
    """A component named in YAML with its parameters (already checked against its schema)."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScorerRef(ComponentRef):
    """A scorer of a task: the reading of the answers that it scores, and the names of its scores.

    `label` (YAML: `as`) is the name of its score, or a prefix if it produces several (`single` is false). `suffix` is
    the reading, appended to the names: `exact_match@strict`. `position` is its place in the file.
    """

    reading: str = ""
    label: str = ""
    suffix: str = ""
    single: bool = False
    position: int = 0

    @property
    def renames(self) -> bool:
        """Whether its scores have other names than in the component."""
        return bool(self.label or self.suffix)

    def named(self, score: str) -> str:
        """Return the task's name for a score of the component."""
        name = score if not self.label else self.label if self.single else f"{self.label}_{score}"
        return f"{name}@{self.suffix}" if self.suffix else name

    def own(self, name: str) -> str | None:
        """Return the component's name for a score of the task, or None if it is not one of its scores."""
        if self.suffix and not name.endswith(f"@{self.suffix}"):
            return None
        name = name.removesuffix(f"@{self.suffix}") if self.suffix else name
        if not self.label:
            return name
        return name.removeprefix(f"{self.label}_") if name.startswith(f"{self.label}_") else None


SPLIT_WORDS = ("lines", "numbered")
"""The words that `split` of a field accepts besides separators."""


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of the docs that the task file defines: from the row's field `source`, or with a fixed `value`.

    `source` may be a path such as `answers.0.text`. `pattern` selects from its text the match of its first group
    (without a group the whole match), with `find_all` every match. `replace` are pairs (pattern, replacement). `split`
    turns the text into a list: by a separator, `lines`, or `numbered`. `number` reads it as a number. All this applies
    to each member of a list.
    """

    name: str
    source: str | None = None
    pattern: str | None = None
    number: bool = False
    value: Any = None
    find_all: bool = False
    replace: Sequence[tuple[str, str]] = ()
    split: str | None = None


@dataclass(frozen=True, slots=True)
class ChoicesRef:
    """A multiple-choice question: the field with the choices (or a field for each), and the field of the answer.

    `answer_is` says what the latter holds: the index from 0 (`index`) or 1 (`number`), a letter, a label, the text of
    the choice, or a list with 1 for each right choice and 0 for the others (`flags`). With `duplicates` a wrong choice
    may have the same text as the right one.
    `labels` replace A, B, C before the choices: a list in order, or a field with one label per choice. With a `seed`
    the choices of each doc are shuffled in an order of their own; the labels keep their order.
    """

    source: str | Sequence[str]
    answer: str
    answer_is: Literal["index", "number", "letter", "label", "text", "flags"] = "index"
    seed: int | None = None
    labels: str | Sequence[str] | None = None
    duplicates: bool = False


class PromptPart(NamedTuple):
    """A part of a templated message: a text, or media that the template names through a field of the doc."""

    kind: Literal["text"] | PartKind
    template: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One templated message of a prompt; `file` and `line` locate its text, possibly in an included file.

    If a message has `parts`, `template` is the templates of all parts, one after the other.
    """

    role: Literal["system", "user", "assistant"]
    template: str
    line: int | None = None
    file: Path | None = None
    parts: Sequence[PromptPart] = ()


@dataclass(frozen=True, slots=True)
class FewShot:
    """Examples before the question: how many, from which data, drawn with which seed (None: the first), in which form.

    `pool` is set if they come from other data than the task's. `same` names a field: a doc gets examples with the same
    value of it. `turns`: as messages of user and assistant, else as text before the question. `answer` is the template
    of an example's answer, `header` that of a text that precedes all examples.
    """

    number: int
    seed: int | None = None
    pool: DatasetRef | None = None
    pool_name: str = ""
    same: str | None = None
    turns: bool = True
    answer: PromptMessage = PromptMessage("assistant", " {{ target }}")
    header: PromptMessage | None = None


@dataclass(frozen=True, slots=True)
class DatasetRef:
    """Where docs come from: `source` (a component of kind `source`) and its parameters.

    `id_field` names the field that identifies a doc; without it docs are numbered from 0.
    Relative files are looked up in `base`, the folder of the YAML file that names the data. `package` is the folder of
    the task's plugin package (None: a task outside every plugin), `task` the task's short name. `sample` is (number,
    seed) of a fixed subset of the docs, None for all of them. `fields` and `choices` define fields made from a row,
    `few_shot` the source of each doc's examples. `mirrored_by_task`: in a local mirror only a file with the task's name
    fits, since files with the dataset's name hold another split. `media` are the fields from which prompts take images,
    audio or files. `where`, `columns` and `take` select rows and columns.
    """

    source: str
    parameters: Mapping[str, Any]
    base: Path
    id_field: str | None = None
    package: Path | None = None
    task: str = ""
    sample: tuple[int, int] | None = None
    fields: Sequence[FieldRef] = ()
    choices: ChoicesRef | None = None
    few_shot: FewShot | None = None
    mirrored_by_task: bool = False
    media: Sequence[str] = ()
    where: Mapping[str, Any] | None = None
    columns: Sequence[str] | Mapping[str, str] | None = None
    take: int | None = None


@dataclass(frozen=True, slots=True)
class HumanWording:
    """The wording for people, in place of the prompt (YAML: `human`).

    `words` is the number of boxes for single words (0: free text); `guide` is further help in plain text.
    """

    prompt: PromptMessage
    words: int = 0
    guide: str = ""


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One metric: the score `source` (YAML: from), how it is aggregated, and how failed samples count.

    `failed`: `zero` counts a sample without a score as 0, `exclude` leaves it out.
    `failed_value` replaces the 0 if 0 is not the worst value (e.g. of a count). `ci` is the method of the interval,
    `range` the bounds of the metric (None: no bound), `binary` says that each score is 0 or 1. `weight` is the score
    that weights each sample in the mean. `group` is a field of the docs: docs with the same value of it form one
    cluster. `by` is a field of the docs: the metric is also reported for each of its values, and as means over these;
    `average` says which of the means the metric itself is. `stated` are the keys that the file states.
    """

    name: str
    source: str
    aggregate: ComponentRef
    ci: str = "auto"
    failed: Literal["zero", "exclude"] = "zero"
    failed_value: float = 0.0
    higher_is_better: bool | None = True
    primary: bool = False
    unit: str | None = None
    description: str = ""
    range: tuple[float | None, float | None] = (None, None)
    binary: bool = False
    weight: str | None = None
    group: str | None = None
    by: str | None = None
    average: Literal["micro", "macro", "weighted"] = "micro"

    stated: frozenset[str] = frozenset()

    def content(self) -> Mapping[str, Any]:
        """Return the part of the metric that is in the task's hash.

        It always has the keys of the first version of the format, with that version's defaults (`_SILENT`) for keys
        that the file does not state, so that defaults may change. It has a later key only if the file states it, and
        never one that concerns only intervals. So runs made by an earlier version remain runs of the task.
        """
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        content = {key: said[key] for key in ("name", "source", "primary")}
        content["aggregate"] = asdict(self.aggregate)
        stated = self.stated - ({"ci"} if self.ci == "auto" else set())  # the default, written out
        content |= {key: said[key] if key in stated else silent for key, silent in _SILENT.items()}
        later = said.keys() - content.keys() - _NEVER_HASHED
        return content | {key: said[key] for key in later & self.stated}


_SILENT: Mapping[str, Any] = {
    "ci": "cluster_bootstrap",
    "failed": "zero",
    "failed_value": 0.0,
    "higher_is_better": True,
    "unit": None,
    "description": "",
}
"""The optional keys of the first format, with the values that the hash uses for unstated keys; never changed."""
_NEVER_HASHED = frozenset({"range", "binary", "stated"})


@dataclass(frozen=True, slots=True)
class CombinedMetric:
    """A metric computed (by `how`) from other metrics of the task, named in `parts` (YAML: `of`)."""

    name: str
    how: str
    parts: Sequence[str]
    ci: str = "auto"
    higher_is_better: bool | None = True
    primary: bool = False
    unit: str | None = None
    description: str = ""
    by: str | None = None


class SuitePart(NamedTuple):
    """Metrics of some tasks in a number of a suite (YAML: an entry of `of`); their mean is weighted by `share`.

    Each metric is scaled to 0 to 1 by `range`, or by the metric's own range.
    """

    share: float
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    range: tuple[float, float] | None = None


class SuiteMetric(NamedTuple):
    """One number of a suite (YAML: `metrics` of a suite): the mean of the metric `source` of its tasks.

    `average`: tasks count equally (`macro`) or by their number of values (`weighted`), or the number is made of
    `parts`.
    """

    suite: str
    title: str
    name: str
    source: str
    average: Literal["macro", "weighted", "parts"] = "macro"
    parts: tuple[SuitePart, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskSource:
    """Where the task comes from in the literature."""

    paper: str = ""
    section: str = ""
    licence: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds (inclusive) of a score in a test; equal bounds require exactly this value."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Said:
    """One completion in a test. With `when` it answers every question whose last message contains this text.

    `logprobs` are the tokens with their natural-log probabilities and the alternatives at their positions.
    """

    text: str = ""
    finish_reason: str = "stop"
    logprobs: Sequence[Sequence[Any]] | None = None
    when: str | None = None
    tool_calls: Sequence[ToolCall] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """An entry of `tests:`: what a model might say, and the expected outcome.

    `doc` is the id of a doc, the fields of one, or None for the dataset's first; `condition` the name of a grid cell,
    None for the first. `answers` are the model's answers, call by call (several completions if a call asks for
    several), unless `baseline` names the baseline (`floor`, `ceiling`) that answers instead. `roles` are the answers of
    other models. `scores` are the bounds of scores by name.
    """

    name: str
    doc: str | Mapping[str, Any] | None
    answers: Sequence[Sequence[Said]]
    status: Status
    scores: Mapping[str, Bounds] = field(default_factory=dict)
    baseline: str | None = None
    condition: str | None = None
    roles: Mapping[str, Sequence[Said]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """A task file, resolved: includes merged, defaults filled, every name and parameter checked.

    `name` is the short name, `qualified` is `plugin/name`. `hash` is the content hash of the resolved YAML and
    plugin version (the dataset's fingerprint joins it when the data are opened). `resolved` is the merged plain data,
    `origins` gives the file and line of the value at every key path. `role_models` are the models that the task itself
    names for its roles (recorded like resources), `role_settings` its generation settings for them, `role_prompts`
    their prompts by name, `making_roles` the roles that the protocol asks. `by_reference`: run folders hold digests in
    place of the docs' text. `examples` are the task's tests.
    `human` is the wording for people. `tools` are the tools that the target may call. `readings` are named parser
    chains over the same answers; `parse` is then the first of them. `combined` are the metrics made of others, `suites`
    the suites' numbers that include the task. `base` is the plugin's task that a task from outside the plugin changes,
    by `include` or by a suite's overrides.
    `template`: meant to be included; a task that includes it is not compared with it. `cluster` is the independent
    unit: docs, or trials (if every doc asks the same question). With `keep_reasoning` (YAML: `reasoning: keep`)
    thinking that a model writes into its answer stays there. A task with a suite's overrides is called `name@label`;
    `short_name` is the name without the label.
    """

    name: str
    plugin: str
    plugin_version: str
    version: str
    title: str
    file: Path
    hash: str
    dataset: DatasetRef
    protocol: ComponentRef
    prompts: Mapping[str, Sequence[PromptMessage]]
    generation: Mapping[str, Any]
    conditions: Sequence[Condition]
    repeats: int
    parse: Sequence[ComponentRef]
    resources: Mapping[str, str]
    score: Sequence[ComponentRef]
    metrics: Sequence[MetricSpec]
    baselines: Mapping[str, ComponentRef]
    description: str = ""
    measures: Sequence[str] = ()
    source: TaskSource = TaskSource()
    requires: Sequence[str] = ()
    roles: Sequence[str] = ()
    resolved: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    role_models: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[Example] = ()
    short_name: str = ""
    cluster: Literal["doc", "trial"] = "doc"
    base: Task | None = None
    template: bool = False
    keep_reasoning: bool = False
    role_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    role_prompts: Mapping[str, Mapping[str, Sequence[PromptMessage]]] = field(default_factory=dict)
    making_roles: Sequence[str] = ()
    by_reference: bool = False
    human: HumanWording | None = None
    tools: Sequence[Tool] = ()
    readings: Mapping[str, Sequence[ComponentRef]] = field(default_factory=dict)
    combined: Sequence[CombinedMetric] = ()
    suites: Sequence[SuiteMetric] = ()

    @property
    def every_metric(self) -> Sequence[MetricSpec | CombinedMetric]:
        """The metrics of scores, then those made of others."""
        return (*self.metrics, *self.combined)

    @property
    def chains(self) -> Mapping[str, Sequence[ComponentRef]]:
        """The parsers of each reading; without readings those of `parse`, under ""."""
        return self.readings or {"": self.parse}

    @property
    def parity(self) -> Mapping[str, Any]:
        """What the task was compared with, by its own file alone; or `none` with the reason, which is inherited."""
        stated: Mapping[str, Any] = self.resolved.get("parity", {})
        own = {key for key in stated if self.origins[f"parity.{key}"].rpartition(":")[0] == str(self.file)} - {"none"}
        if {"against", "answers", "agreement", "worst"} <= own:
            return {key: value for key, value in stated.items() if key in own}
        return {"none": stated["none"]} if "none" in stated else {}

    def media_kinds(self, role: str | None = None) -> frozenset[str]:
        """Return the kinds of media in the task's own prompts (and those it requires), or in a role's prompts."""
        prompts = self.prompts if role is None else self.role_prompts.get(role, {})
        found = {p.kind for messages in prompts.values() for each in messages for p in each.parts} - {"text"}
        return frozenset(found | (_MEDIA_KINDS & set(self.requires) if role is None else set()))

    @property
    def few_shot(self) -> FewShot | None:
        """The examples before the question."""
        return self.dataset.few_shot

    def find_prompt(self, name: str) -> Sequence[PromptMessage]:
        """Return a prompt of the task or of one of its roles. Raises UnknownNameError."""
        if name in self.prompts:
            return self.prompts[name]
        of_roles = {key: prompt for own in self.role_prompts.values() for key, prompt in own.items()}
        if name not in of_roles:
            raise UnknownNameError("prompt", name, [*self.prompts, *of_roles], where=str(self.file))
        return of_roles[name]

    @property
    def qualified(self) -> str:
        return f"{self.plugin}/{self.name}"

    def problem_at(self, path: str, message: str, fix: str | None = None) -> Problem:
        """Return a problem at the YAML value of a key path, or at the first value below it."""
        below = (f"{path}.", f"{path}[")
        origin = next((place for key, place in self.origins.items() if key == path or key.startswith(below)), "")
        match = _ORIGIN.fullmatch(origin)
        if match is None:
            return Problem(message, self.file, path=path, fix=fix)
        return Problem(message, Path(match[1]), int(match[2]), path=path, fix=fix)
