"""Read and check the sampling settings of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from creval.plugin.models import FatalModelError

__all__ = ["DEFAULT_MAX_TOKENS", "Sampling", "read_sampling"]

DEFAULT_MAX_TOKENS = 512
"""The longest answer without `max_tokens`: a rambling small model would fill its context."""
_OF_PROMPTS = frozenset({"chat_template", "chat_template_kwargs", "reasoning_effort"})
_READ = frozenset(
    {"temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed", "stop", "logprobs"}
    | {"top_logprobs", "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "n"}
)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is sampled. `temperature` 0: the most probable token each time; `seed` None: not fixed."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    top: int = 0
    presence: float = 0.0
    frequency: float = 0.0
    repetition: float = 1.0
    bias: Mapping[int, float] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Return whether the most probable token is taken unchanged, without log-probabilities."""
        changed = self.presence or self.frequency or self.repetition != 1.0 or self.bias
        return self.temperature == 0 and not self.logprobs and not changed


def read_sampling(settings: Mapping[str, Any], makers: Any, where: str) -> Sampling:
    """Return the sampling of a call. `makers` is the generation config from the model's makers.

    With a stated temperature, the rest is plain (no top-k, top-p or min-p cut); without one, the makers' setting
    applies, and without that the most probable token is taken. Raises FatalModelError for unsupported settings.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    other = sorted(given.keys() - _READ - _OF_PROMPTS)
    if other:
        what = f"a model in this process does not support the setting {other[0]!r}"
        fix = f"Remove it: --generation {other[0]}=null, or ask a server, e.g. hosted_vllm/<model>."
        raise FatalModelError(what, where=where, fix=fix, every_call=True)
    try:
        return _sampling(given, makers)
    except (TypeError, ValueError) as error:
        what = f"a generation setting cannot be read: {error}"
        raise FatalModelError(what, where=where, fix="Correct it: --generation NAME=VALUE.", every_call=True) from None


def _sampling(given: Mapping[str, Any], makers: Any) -> Sampling:
    stated = "temperature" in given
    own = not stated and bool(getattr(makers, "do_sample", False))

    def of_makers(name: str, default: float) -> float:
        value = getattr(makers, name, None) if own else None
        return default if value is None else value

    stop = given.get("stop", ())
    limit = given.get("max_tokens", given.get("max_completion_tokens", DEFAULT_MAX_TOKENS))
    penalty = given.get("repetition_penalty", getattr(makers, "repetition_penalty", None) or 1.0)
    top = int(given.get("top_logprobs", 0))
    return Sampling(
        max_tokens=int(limit),
        temperature=float(given.get("temperature", of_makers("temperature", 1.0) if own else 0.0)),
        top_p=float(given.get("top_p", of_makers("top_p", 1.0))),
        top_k=int(given.get("top_k", of_makers("top_k", 50) if own else 0)),
        min_p=float(given.get("min_p", of_makers("min_p", 0.0))),
        seed=None if given.get("seed") is None else int(given["seed"]),
        stop=(stop,) if isinstance(stop, str) else tuple(map(str, stop)),
        logprobs=bool(given.get("logprobs")) or top > 0,
        top=top,
        presence=float(given.get("presence_penalty", 0.0)),
        frequency=float(given.get("frequency_penalty", 0.0)),
        repetition=float(penalty),
        bias={int(token): float(value) for token, value in given.get("logit_bias", {}).items()},
    )
