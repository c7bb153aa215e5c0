"""Model providers of the core."""

from __future__ import annotations

from creval.plugins.registry import Registry

__all__ = ["register"]

_CHAT = "creval.models.providers.chat_provider"


def register(registry: Registry) -> None:
    """Add them to the registry."""
    add = registry.add
    add("provider", "openrouter", f"{_CHAT}:openrouter", "OpenRouter, over the chat-completions protocol")
    add("provider", "openai", f"{_CHAT}:openai", "OpenAI, over the chat-completions protocol")
    add("provider", "hosted_vllm", f"{_CHAT}:hosted_vllm", "a vLLM server, over the chat-completions protocol")
    add("provider", "ollama_chat", f"{_CHAT}:ollama_chat", "an Ollama server, over the chat-completions protocol")
    add("provider", "chat", f"{_CHAT}:chat", "any chat-completions server at --base-url")
    add("provider", "litellm", "creval.models.providers.litellm_provider:litellm", "every provider that litellm knows")
    add("provider", "replay", "creval.models.local.replay:replay", "answers from a JSONL file")
    add("provider", "baseline", "creval.models.local.baseline_provider:baseline", "a task's own floor or ceiling")
