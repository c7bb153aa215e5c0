"""Names of models (`provider/model`), and the options with which they are opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from creval.errors import UsageError
from creval.models.budget import Budget
from creval.models.limiter import LimiterPool
from creval.models.retries import Clock, RetryPolicy, SystemClock
from creval.plugins.registry import Registry
from creval.tasks.task_model import Task
from creval.types.components import Baseline, Context

if TYPE_CHECKING:
    from creval.types.screens import Seat

__all__ = ["BaselineFinder", "ModelOptions", "ModelSpec", "ProviderOptions", "RunTasks"]


_WITH_COMMAS = ("replay", "human")  # followed by a file or a person's name


class ModelSpec(NamedTuple):
    """`openrouter/openai/gpt-5-mini` is provider `openrouter`, model `openai/gpt-5-mini`."""

    text: str
    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Split a spec. The provider is empty if the text has no slash. Raises UsageError unless it names one model."""
        clean = text.strip()
        provider, slash, model = clean.partition("/")
        if not slash:
            provider, model = "", clean
        if not model or (slash and not provider):
            raise UsageError(
                f"{text!r} is not a model",
                where="--model",
                fix="Write provider/model, for example openrouter/openai/gpt-5-mini or ollama_chat/llama3.2.",
            )
        if "," in clean and provider not in _WITH_COMMAS:
            raise UsageError(
                f"{text!r} names several models", where="--model", fix="Name one; make a run for each of the others."
            )
        return cls(clean, provider, model)


BaselineFinder = Callable[[str, str], tuple[Baseline, Context]]
"""(task name, `floor` or `ceiling`) -> (the task's baseline, its context). Raises KeyError if there is none."""


class RunTasks(NamedTuple):
    """The tasks of a run by name, and the registry of their components, from which people get a task's screen."""

    tasks: Mapping[str, Task]
    registry: Registry


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """The options that a provider's factory gets in addition to the model's name.

    `base_url` and `api_key_env` (the *name* of the environment variable that holds the key) are those of the user.
    `timeout` is the limit of one try in seconds. `concurrency` is the most calls in flight. `max_response_bytes` limits
    the body of one reply. `trust_remote_code`: program code that comes with a model may run in this process. `seat` and
    `run_tasks` are for people: where they answer, and the tasks of the run.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    offline: bool = False
    timeout: float = 600.0
    concurrency: int = 32
    max_response_bytes: int = 32 * 1024 * 1024
    trust_remote_code: bool = False
    find_baseline: BaselineFinder | None = None
    seat: Seat | None = None
    run_tasks: RunTasks | None = None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of one model. Models of one run share `budget` and `limiters` (dataclasses.replace keeps them).

    `max_retries` is the number of tries after the first. The back-off before retry k is uniform between 0 and
    min(`backoff_cap`, `backoff_base` * 2^(k-1)) seconds; a server's Retry-After is followed up to `retry_after_cap`
    seconds. While a provider answers 429, calls wait for it up to `rate_limit_wait` seconds without spending tries (0:
    each 429 is a failed try). `cache` is the sqlite file of answers, None for no cache. `find_baseline` finds the
    baseline of a task for `baseline/floor` and `baseline/ceiling`. `seat` is where a person (`human/NAME`) answers,
    None for the terminal; `run_tasks` are the tasks of the run. Models with a different `own_limit` do not share a
    limiter.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    offline: bool = False
    timeout: float = 600.0
    max_retries: int = 6
    backoff_base: float = 1.0
    backoff_cap: float = 60.0
    retry_after_cap: float = 120.0
    rate_limit_wait: float = 600.0
    concurrency: int = 32
    own_limit: str = ""
    max_response_bytes: int = 32 * 1024 * 1024
    trust_remote_code: bool = False
    cache: Path | None = None
    budget: Budget = field(default_factory=Budget)
    find_baseline: BaselineFinder | None = None
    seat: Seat | None = None
    run_tasks: RunTasks | None = None
    limiters: LimiterPool = field(default_factory=LimiterPool)
    clock: Clock = field(default_factory=SystemClock)

    def retry_policy(self) -> RetryPolicy:
        """Return the retry policy of these options."""
        return RetryPolicy(
            self.max_retries, self.backoff_base, self.backoff_cap, self.retry_after_cap, self.rate_limit_wait
        )

    def for_provider(self) -> ProviderOptions:
        """Return the part that a provider may see."""
        return ProviderOptions(
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            offline=self.offline,
            timeout=self.timeout,
            concurrency=self.concurrency,
            max_response_bytes=self.max_response_bytes,
            trust_remote_code=self.trust_remote_code,
            find_baseline=self.find_baseline,
            seat=self.seat,
            run_tasks=self.run_tasks,
        )
