"""Join the pieces of a streamed chat completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from creval.plugin import Completion, ModelError, TokenLogprob, Usage
from creval.plugin.models import ContextLengthError, FatalModelError

__all__ = ["Gathered"]


@dataclass(slots=True)
class _Answer:
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] | None = None
    finish_reason: str | None = None


class Gathered:
    """The pieces of one call so far. `error` is set if the runtime reported one."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._answers: dict[int, _Answer] = {}
        self.usage = Usage()
        self.error: ModelError | None = None

    def add(self, chunk: Any) -> None:
        """Add a chunk (or a list of chunks) from the runtime."""
        for part in chunk if isinstance(chunk, list) else [chunk]:
            if isinstance(part, Mapping):
                self._add(part)

    def completions(self) -> list[Completion]:
        """Return the answers in the order of their index."""
        return [
            Completion(
                text="".join(answer.text),
                finish_reason=answer.finish_reason or "stop",
                reasoning="".join(answer.reasoning) or None,
                logprobs=None if answer.logprobs is None else tuple(answer.logprobs),
            )
            for _, answer in sorted(self._answers.items())
        ]

    def _add(self, part: Mapping[str, Any]) -> None:
        if isinstance(error := part.get("error"), Mapping):
            self.error = self._explain(error)
            return
        usage = part.get("usage")
        if isinstance(usage, Mapping):
            # There is one report per completion; they share the prompt.
            prompt, made = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
            self.usage = Usage(prompt, self.usage.output_tokens + made)
        for choice in part.get("choices") or ():
            answer = self._answers.setdefault(int(choice.get("index", 0)), _Answer())
            delta = choice.get("delta") or {}
            answer.text.append(delta.get("content") or "")
            answer.reasoning.append(delta.get("reasoning_content") or "")
            answer.finish_reason = choice.get("finish_reason") or answer.finish_reason
            tokens = (choice.get("logprobs") or {}).get("content")
            if tokens:
                answer.logprobs = answer.logprobs if answer.logprobs is not None else []
                answer.logprobs += [_token(token) for token in tokens]

    def _explain(self, error: Mapping[str, Any]) -> ModelError:
        said = str(error.get("message", error))[:300]
        code = error.get("code")
        too_long = "context" in str(error.get("type", "")) or "context size" in said
        fix = "The request is not accepted; see llama.cpp's message."
        if too_long:
            fix = "The question is too long for this model; use one with a longer context."
        kind = ContextLengthError if too_long else FatalModelError
        status = code if isinstance(code, int) else None
        return kind(f"llama.cpp said: {said}", where=self._where, fix=fix, http_status=status)


def _token(token: Mapping[str, Any]) -> TokenLogprob:
    top = tuple((str(other["token"]), float(other["logprob"])) for other in token.get("top_logprobs") or ())
    # Rounding in the runtime can give a certain token a logarithm just above 0.
    return TokenLogprob(str(token["token"]), min(0.0, float(token["logprob"])), top)
