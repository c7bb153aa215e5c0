"""A model's name as the user writes it: `provider/model`."""

from __future__ import annotations

from dataclasses import dataclass

from creval.errors import UsageError

__all__ = ["ModelSpec"]

_WITH_COMMAS = ("replay", "human")  # what follows is a file or a person's name


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """`openrouter/openai/gpt-5-mini` is provider `openrouter`, model `openai/gpt-5-mini`."""

    text: str
    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Split a spec. The provider is empty where the text has no slash. Raises UsageError where not one is named."""
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
        if "," in clean and provider not in _WITH_COMMAS:
            raise UsageError(
                f"{text!r} are several models", where="--model", cure="Name one; make a run for each of the others."
            )
        return cls(clean, provider, model)
