"""Model providers of the core."""

from __future__ import annotations

from creval.plugins.registry import Registry

__all__ = ["register"]

_LANE = "creval.models.lanes.chat_lane"


def register(registry: Registry) -> None:
    """Add them to the registry."""
    add = registry.add
    add("provider", "openrouter", f"{_LANE}:openrouter", "OpenRouter, over the chat-completions lane")
    add("provider", "openai", f"{_LANE}:openai", "OpenAI, over the chat-completions lane")
    add("provider", "hosted_vllm", f"{_LANE}:hosted_vllm", "a vLLM server, over the chat-completions lane")
    add("provider", "ollama_chat", f"{_LANE}:ollama_chat", "an Ollama server, over the chat-completions lane")
    add("provider", "chat", f"{_LANE}:chat", "any chat-completions server at --base-url")
    add("provider", "litellm", "creval.models.lanes.litellm_lane:litellm", "every provider that litellm knows")
    add("provider", "replay", "creval.models.players.replay:replay", "answers from a JSONL file")
    add("provider", "human", "creval.models.players.human:human", "a person answers: human/NAME")
    add("provider", "baseline", "creval.models.players.baselines:baseline", "a task's own floor or ceiling player")
