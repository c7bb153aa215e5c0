"""The settings of a run, as one frozen object."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from creval.engine.planning.shards import parse_shard
from creval.errors import UnknownNameError, UsageError
from creval.escape import control_character
from creval.models.providers.addresses import shown_address
from creval.runs.run_commands import CONSENTS
from creval.tasks.sections.settings import EXTRA, generation_settings

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "MAY_DIFFER",
    "ROLE_KEYS",
    "Consents",
    "Rescoring",
    "Resuming",
    "RunOptions",
    "nested_settings",
    "parse_limit",
]

_NO_SETTINGS = ("model", "messages", "stream")
"""Parts of a request that are not the user's to set; refused by name where the tasks are checked."""
ROLE_KEYS = ("base_url", "api_key_env", "concurrency", "generation")
"""The settings that a role may have in addition to its model; other keys are generation settings."""
MAX_REPEATS = 1_000_000
MAX_SHOTS = 1000
_SHOTS = f"Give a number from 0 to {MAX_SHOTS:,}."
MAX_BATCH = 50_000
"""OpenAI's limit of requests in a batch."""
MAY_DIFFER = frozenset(
    {"output", "command", "concurrency", "timeout", "max_retries", "max_cost", "max_calls", "cache", "cache_folder"}
    | {"allowed_error_share", "offline", "reuse", "base_url", "executor", "executor_options", "batch_size", "detach"}
    | {"rate_limit_wait", *CONSENTS}
)
"""Options that do not affect answers: they may change when a run is resumed, and between its shards."""
_REPEATS_FIX = f"Give at most {MAX_REPEATS:,}."
_LIMIT = re.compile(  # 18 digits: no dataset has more docs, and Python does not read numbers of thousands of digits
    r"(?P<first>first:)?(?:(?P<share>[0-9]{1,3}(?:\.[0-9]{1,9})?)%|(?P<number>[0-9]{1,18}))"
    r"|(?P<low>[0-9]{1,18})-(?P<high>[0-9]{1,18})"
)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """All options of a run except its tasks and its target model. None means: as in the task.

    - `limit`: docs per task: a number or a share (`"10%"`) takes a seeded random subset, `"first:N"` the first ones,
      `"10-20"` the tenth to the twentieth.
    - `few_shot`: the number of examples before the question, in place of the task's own (0: none). `system`: a system
      message at the beginning of every call of the target.
    - `shard`: `"3/16"` runs only the third of sixteen fixed parts of these docs (`creval merge` joins such runs).
    - `repeats`, `generation`: override those of every task (a generation setting of None is not sent); a setting that
      a task varies by its conditions then has this one value. `conditions`: settings to vary, each with its values.
    - `roles`: role -> model (`{"judge": "openai/gpt-5-mini"}`), or a mapping with the role's own settings: `model`,
      `base_url`, `api_key_env` (the name of the variable with its key), `concurrency` and generation settings; they are
      stored in `role_options`. `resources`: name -> resource.
    - `data`: task -> file in the task's own format, in place of its dataset.
    - `docs`: ids of docs; only these are asked, in the order of the data. Not together with `limit`.
    - `reuse`: earlier runs whose judges' verdicts (and other roles' answers) are reused at no cost.
    - `executor`: who carries out the samples: `local`, or a plugin's (`ray`, `ray://HOST:PORT`) with its own
      `executor_options`. The results are the same, so neither is part of a run's identity.
    - `output`: the run folder; by default a new one under `runs/`. An existing run is never overwritten.
    - `concurrency`: the most calls in flight; `timeout`: seconds per call; `max_retries`: further tries of a call;
      `rate_limit_wait`: seconds that calls wait for a provider that answers only 429 (0: it counts as a failed try).
    - `max_cost` (US dollars), `max_calls`: the limits at which the run stops; remaining samples end as skipped.
    - `cache`: store answers in the response cache and reuse them. `cache_folder`: the folder of caches.
    - `batch`: calls over a network are sent as batches of their provider, at its lower price, of at most `batch_size`
      requests each; `detach`: stop once they are sent (DetachedError), to resume the run later.
    - `allowed_error_share`: the share of errored samples (0 to 1) up to which a run counts as done.
    - `allow_code_execution`: model-written programs may run in the sandbox. `trust_remote_code`: program code that
      comes with an encoder, entailment model or model in this process may run, outside the sandbox. Neither is ever
      read from a file.
    """

    limit: int | str | None = None
    docs: Sequence[str] = ()
    shard: str | None = None
    repeats: int | None = None
    seed: int = 0
    offline: bool = False
    output: Path | None = None
    roles: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Path] = field(default_factory=dict)
    reuse: Sequence[Path] = ()
    generation: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    base_url: str | None = None
    concurrency: int = 64
    timeout: float = 600.0
    max_retries: int = 6
    rate_limit_wait: float = 600.0
    max_cost: float | None = None
    max_calls: int | None = None
    cache: bool = False
    cache_folder: Path | None = None
    allowed_error_share: float = 0.0
    batch: bool = False
    batch_size: int = MAX_BATCH
    detach: bool = False
    allow_code_execution: bool = False
    trust_remote_code: bool = False
    command: str = ""
    executor: str = "local"
    executor_options: Mapping[str, str] = field(default_factory=dict)
    role_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    few_shot: int | None = None
    system: str | None = None

    def __post_init__(self) -> None:
        _make_paths(self)
        split_roles(self)
        parse_limit(self.limit)
        if self.few_shot is not None and not 0 <= self.few_shot <= MAX_SHOTS:
            raise UsageError(f"{self.few_shot} is not a number of examples", where="--few-shot", fix=_SHOTS)
        if self.system is not None and not self.system.strip():
            raise UsageError("the system message is empty", where="--system", fix="Write a text, or leave it out.")
        parse_shard(self.shard)
        if self.docs and self.limit is not None:
            fix = "Leave one of them out."
            raise UsageError("a limit cannot be combined with named docs", where="--limit", fix=fix)
        if self.repeats is not None and self.repeats < 1:
            raise UsageError("repeats must be at least 1", where="--repeats")
        if self.seed < 0:
            raise UsageError(f"{self.seed} is not a seed", where="--seed", fix="Give a whole number of 0 or more.")
        sign = control_character(str(self.output or ""))
        if sign is not None:
            raise UsageError(f"the path contains the control character {sign}", where="--output", fix="Leave it out.")
        if self.concurrency < 1:
            raise UsageError("concurrency must be at least 1", where="--concurrency")
        if not (math.isfinite(self.timeout) and self.timeout > 0):
            raise UsageError(f"{self.timeout} is not a valid timeout", where="--timeout", fix="Give seconds.")
        if not (math.isfinite(self.rate_limit_wait) and self.rate_limit_wait >= 0):
            raise UsageError(f"{self.rate_limit_wait} is not a wait", where="--rate-limit-wait", fix="Give seconds.")
        if self.repeats is not None and self.repeats > MAX_REPEATS:
            raise UsageError(f"{self.repeats:,} repeats are too many", where="--repeats", fix=_REPEATS_FIX)
        _check_plain(self.generation)
        if not isinstance(self.generation, _Checked):
            object.__setattr__(self, "generation", _flat(self.generation))
        _check_conditions(self.conditions, self.generation)
        if not 1 <= self.batch_size <= MAX_BATCH:
            fix = f"Give a number from 1 to {MAX_BATCH:,}."
            raise UsageError(f"{self.batch_size:,} is not a valid batch size", where="--batch-size", fix=fix)
        if self.detach and not self.batch:
            raise UsageError(
                "there are no batches to detach from", where="--detach", fix="Add --batch, or leave it out."
            )
        if not 0 <= self.allowed_error_share <= 1:
            raise UsageError("the allowed share of errors lies between 0 and 1", where="--allowed-error-share")

    @property
    def prompt_overrides(self) -> dict[str, Any]:
        """Changes of the prompts by the user, for results and comparisons."""
        overrides = {"few_shot": self.few_shot, "system": self.system}
        return {name: value for name, value in overrides.items() if value is not None}

    def __repr__(self) -> str:
        """Show the options that differ from the defaults."""
        values = ((option.name, getattr(self, option.name), option) for option in fields(self))
        changed = [f"{name}={value!r}" for name, value, option in values if value and value != option.default]
        return f"RunOptions({', '.join(changed)})"


def _make_paths(options: RunOptions) -> None:
    """Convert paths that are given as texts from Python."""
    for name in ("output", "cache_folder"):
        value = getattr(options, name)
        if isinstance(value, str):
            object.__setattr__(options, name, Path(value))
    if any(isinstance(file, str) for file in options.data.values()):
        object.__setattr__(options, "data", {task: Path(file) for task, file in options.data.items()})
    if isinstance(options.reuse, str | Path):
        object.__setattr__(options, "reuse", (Path(options.reuse),))
    elif any(isinstance(run, str) for run in options.reuse):
        object.__setattr__(options, "reuse", tuple(map(Path, options.reuse)))


def split_roles(options: RunOptions | Rescoring) -> None:
    """Keep the models' names in `roles` and move other settings of a role to `role_options`. Raises UsageError."""
    models = {role: value for role, value in options.roles.items() if not isinstance(value, Mapping)}
    mapped = {role: value for role, value in options.roles.items() if isinstance(value, Mapping)}
    models |= {role: str(value["model"]) for role, value in mapped.items() if "model" in value}
    role_options = {role: _role_options(role, value) for role, value in {**options.role_options, **mapped}.items()}
    object.__setattr__(options, "roles", models)
    object.__setattr__(options, "role_options", {role: value for role, value in role_options.items() if value})


def _role_options(role: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a role's own settings except its model, all generation settings under `generation`. Raises UsageError."""
    where = f"--role {role}"
    options = {name: value for name, value in entry.items() if name in ROLE_KEYS}
    settings = options.pop("generation", {})
    if not isinstance(settings, Mapping):
        raise UsageError(
            "generation must be a mapping of settings", where=where, fix="Write generation: {name: value}."
        )
    settings = {**settings, **{name: value for name, value in entry.items() if name not in (*ROLE_KEYS, "model")}}
    _check_plain(settings, where)
    try:
        settings = dict(_flat(settings))
    except UsageError as error:
        error.where = where
        raise
    _check_role(options, where)
    return {**options, **({"generation": nested_settings(settings)} if settings else {})}


def _check_role(options: Mapping[str, Any], where: str) -> None:
    calls = options.get("concurrency", 1)
    if type(calls) is not int or calls < 1:
        raise UsageError("concurrency must be a whole number from 1", where=where)
    for name in ("base_url", "api_key_env"):
        if not isinstance(options.get(name, ""), str):
            raise UsageError(f"{name} must be a text", where=where)
    address = options.get("base_url")
    if address is not None and shown_address(address) != address:
        fix = "Put the key into a variable, and name that: api_key_env: NAME."
        raise UsageError("a role's address is stored in the run, and may contain a secret", where=where, fix=fix)


class _Checked(dict[str, Any]):
    """Settings whose names have been checked, with those under `extra` among the others."""


def nested_settings(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as the user writes them: those unknown to creval under `extra`."""
    if not generation:
        return {}
    known = generation_settings()
    extra = {name: value for name, value in generation.items() if name not in known}
    others = {name: value for name, value in generation.items() if name in known}
    return {**others, "extra": extra} if extra else others


def _flat(generation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings, with those under `extra` among the others, as a task's settings are stored.

    An unknown name outside `extra` may be a typing error that would be sent silently: it is refused.
    """
    if not generation:
        return _Checked()
    known = generation_settings()
    for name in generation:
        if name not in known and name not in (EXTRA, *_NO_SETTINGS):
            raise UnknownNameError(
                "generation setting",
                name,
                list(known),
                where="--generation",
                hint=f"A setting that creval does not know is sent as extra.{name}=...",
            )
    extra = generation.get(EXTRA, {})
    if not isinstance(extra, Mapping):
        raise UsageError("extra must be a mapping of settings", where="--generation", fix="Write extra={name: value}.")
    others = {name: value for name, value in generation.items() if name != EXTRA}
    twice = sorted(others.keys() & extra.keys())
    if twice:
        raise UsageError(f"{twice[0]!r} is set twice, also under extra", where="--generation", fix="Keep one of them.")
    return _Checked({**others, **extra})


def _check_conditions(conditions: Mapping[str, Sequence[Any]], generation: Mapping[str, Any]) -> None:
    where = "--condition"
    for name, values in conditions.items():
        if isinstance(values, str) or not values:
            raise UsageError(f"{name} needs a list of values", where=where, fix=f"Write {name}=0.7,1.0.")
        if name in generation:
            fix = "Keep one of them: --generation sets one value, --condition runs each of several."
            raise UsageError(f"{name} is set by --generation, too", where=where, fix=fix)
        _check_plain({name: list(values)}, where)
        if len({json.dumps(value, sort_keys=True) for value in values}) < len(values):
            raise UsageError(f"a value of {name} occurs twice", where=where, fix="Keep one of them.")


def _check_plain(generation: Mapping[str, Any], where: str = "--generation") -> None:
    try:
        json.dumps(dict(generation), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"a generation setting cannot be sent: {error}",
            where=where,
            fix="Use plain finite values; put a text such as a date in quotes.",
        ) from None


class Limit(NamedTuple):
    """Which docs of a task: a number, a share in percent, or (`span`) those between two positions, from 1.

    `first`: the first ones instead of a random subset.
    """

    number: int | None = None
    percent: Fraction | None = None
    span: tuple[int, int] | None = None
    first: bool = False

    def count(self, docs: int) -> int:
        """Return how many of `docs` docs the limit allows; at least one for a share."""
        return self.number if self.percent is None else math.ceil(docs * self.percent / 100)  # type: ignore[return-value]


def parse_limit(limit: int | str | None) -> Limit | None:
    """Return a limit as written by the user, parsed, or None. Raises UsageError."""
    if limit is None:
        return None
    text = str(limit)
    match = _LIMIT.fullmatch(text)
    if match is not None:
        first = match["first"] is not None
        if match["share"] and 0 < (percent := _percent(match["share"])) <= 100:
            return Limit(percent=percent, first=first)
        if match["number"] and int(match["number"]):
            return Limit(int(match["number"]), first=first)
        if match["low"] and 0 < int(match["low"]) <= int(match["high"]):
            return Limit(span=(int(match["low"]), int(match["high"])))
    fix = "Give a number of docs of at least 1, a share (10%), places (10-20), or the first ones (first:10, first:10%)."
    raise UsageError(f"{text!r} is not a limit", where="--limit", fix=fix)


def _percent(text: str) -> Fraction:
    from fractions import Fraction  # not at the top: few runs have a share as their limit

    return Fraction(text)


class Consents(TypedDict, total=False):
    """Consent to run programs of models' answers or of encoders. It is valid for one command."""

    allow_code_execution: bool
    trust_remote_code: bool


class Resuming(Consents, total=False):
    """Options of resuming a run: limits and executor that replace its own, consents, its address if it was not stored
    completely, and whether to stop again while batches are pending.
    """

    max_cost: float | None
    max_calls: int | None
    base_url: str | None
    detach: bool
    executor: str | None
    executor_options: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class Rescoring:
    """How saved answers are scored again: other resources and models of roles, and the limits.

    `max_cost` and `max_calls` apply to this scoring alone (None: the run's own limits, from zero), as do consent to run
    programs, `batch` and `detach` (as in RunOptions). `executor` replaces the run's own (None: unchanged). `task_files`
    are other YAML files for tasks of the run that ask the same; `output` is a new run folder for the scores (None: they
    replace the old ones). `tasks` are further tasks that ask the same as a task of the run.
    """

    resources: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    max_cost: float | None = None
    max_calls: int | None = None
    reuse: Sequence[Path] = ()
    allow_code_execution: bool = False
    trust_remote_code: bool = False
    task_files: Sequence[Path] = ()
    output: Path | None = None
    executor: str | None = None
    executor_options: Mapping[str, str] | None = None
    batch: bool = False
    detach: bool = False
    role_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tasks: Sequence[str] = ()

    def __post_init__(self) -> None:
        split_roles(self)

    def role_words(self) -> Iterator[tuple[str, str]]:
        """Yield the roles as arguments of `--role`: `judge` and a model, or the role's settings as JSON."""
        for role in dict.fromkeys([*self.roles, *self.role_options]):
            model = {"model": self.roles[role]} if role in self.roles else {}
            settings = self.role_options.get(role)
            yield role, json.dumps({**model, **settings}, ensure_ascii=False) if settings else self.roles[role]

    def words(self) -> str:
        """Return the equivalent options of `creval score`, without limits, consents, and where the scores go."""
        words = ["--batch"] if self.batch else []
        words += [f"--resource {shlex.quote(f'{name}={value}')}" for name, value in self.resources.items()]
        words += [f"--role {shlex.quote(f'{name}={value}')}" for name, value in self.role_words()]
        words += [f"--reuse {shlex.quote(str(path))}" for path in self.reuse]
        words += [f"--task-file {shlex.quote(str(path))}" for path in self.task_files]
        words += [f"--task {shlex.quote(name)}" for name in self.tasks]
        return " ".join(words)

    def applied(self, options: RunOptions) -> RunOptions:
        """Return a run's options with these replaced."""
        return replace(
            options,
            resources={**options.resources, **self.resources},
            roles={**options.roles, **self.roles},
            role_options={
                **{role: settings for role, settings in options.role_options.items() if role not in self.roles},
                **self.role_options,
            },
            max_cost=options.max_cost if self.max_cost is None else self.max_cost,
            max_calls=options.max_calls if self.max_calls is None else self.max_calls,
            reuse=(*options.reuse, *self.reuse),
            batch=self.batch,
            detach=self.detach,
            allow_code_execution=self.allow_code_execution,
            trust_remote_code=self.trust_remote_code,
            executor=self.executor or options.executor,
            executor_options=options.executor_options if self.executor_options is None else self.executor_options,
        )
