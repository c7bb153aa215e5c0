"""A model's name as the user writes it: `provider/model`."""

from __future__ import annotations

from dataclasses import dataclass

from creval.errors import UsageError

__all__ = ["ModelSpec"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """`openrouter/openai/gpt-5-mini` is provider `openrouter`, model `openai/gpt-5-mini`."""

    text: str
    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Split a spec. The provider is empty where the text has no slash. Raises UsageError where nothing is named."""
        clean = text.strip()
        provider, slash, model = clean.partition("/")
        if not slash:
            provider, model = "", clean
        if not model or (slash and not provider):
            raise UsageError(
                f"{text!r} is no model",
                where="--model",
                cure="Write provider/model, for example openrouter/openai/gpt-5-mini or ollama_chat/llama3.2.",
            )
        return cls(clean, provider, model)
