"""The components of the core, registered like those of a plugin under the name `core`: names and targets only."""

from __future__ import annotations

from creval.plugins import parameters as params
from creval.plugins.builtin import parsers, scorers
from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add every component of the core to the registry."""
    register_sources(registry)
    register_providers(registry)
    register_baselines(registry)
    register_protocols(registry)
    parsers.register(registry)
    scorers.register(registry)
    register_resources(registry)
    register_executors(registry)


_FORMAT = params.one_of(
    "jsonl", "json", "csv", "tsv", "parquet", about="format of the file, if its extension does not show it"
)


def register_sources(registry: Registry) -> None:
    """Add them to the registry."""
    _register_local(registry)
    _register_remote(registry)


def _register_local(registry: Registry) -> None:
    shipped = params.text(1, file=True, about="name relative to the task file or to the plugin's package")
    registry.add(
        "source",
        "package",
        "creval.data.local_sources:open_package_file",
        "a file that ships with the task",
        parameters=params.schema(file=shipped, format=_FORMAT, required=("file",)),
    )
    local = params.text(1, file=True, about="name, relative to the folder of the YAML file")
    registry.add(
        "source",
        "file",
        "creval.data.local_sources:open_local_file",
        "a local file",
        parameters=params.schema(file=local, format=_FORMAT, required=("file",)),
    )
    registry.add(
        "source",
        "generator",
        "creval.data.local_sources:open_generator",
        "docs made by a generator",
        parameters=params.schema(
            generator=params.component("generator", about="a component of kind generator"), required=("generator",)
        ),
    )


def _register_remote(registry: Registry) -> None:
    registry.add(
        "source",
        "url",
        "creval.data.download:open_url",
        "a file from the web, pinned by its sha256",
        parameters=params.schema(
            url=params.text(
                pattern=r"^https?://[^/@\s]+(/\S*)?$", about="an http or https address without a user name"
            ),
            sha256=params.text(pattern="^[0-9a-fA-F]{64}$", about="the sha256 of the file: 64 hexadecimal digits"),
            format=_FORMAT,
            max_bytes=params.integer(1, about="the largest size accepted"),
            required=("url", "sha256"),
            remote=True,
        ),
    )


_CHAT = "creval.models.providers.chat_provider"


def register_providers(registry: Registry) -> None:
    """Add them to the registry."""
    add = registry.add
    add("provider", "openrouter", f"{_CHAT}:openrouter", "OpenRouter, over the chat-completions protocol")
    add("provider", "ollama_chat", f"{_CHAT}:ollama_chat", "an Ollama server, over the chat-completions protocol")
    add("provider", "openai", f"{_CHAT}:openai", "OpenAI, over the chat-completions protocol")
    add("provider", "hosted_vllm", f"{_CHAT}:hosted_vllm", "a vLLM server, over the chat-completions protocol")
    add("provider", "chat", f"{_CHAT}:chat", "any chat-completions server at --base-url")
    for name, target, summary in (
        ("replay", "creval.models.local.replay:replay", "answers from a JSON Lines file"),
        ("baseline", "creval.models.local.baseline_provider:baseline", "a task's own floor or ceiling"),
    ):
        add("provider", name, target, summary, loglikelihood=True)


_HOME = "creval.models.local.baseline_provider"


def register_baselines(registry: Registry) -> None:
    """Add them to the registry."""
    form = params.text(1, about="how the answer is written: a template over the doc's fields and `answer`")
    registry.add(
        "baseline",
        "fixed",
        f"{_HOME}:Fixed",
        "the same answer to every doc",
        parameters=params.schema(text=params.text(1), required=("text",)),
        positional="text",
    )
    registry.add(
        "baseline",
        "target",
        f"{_HOME}:Target",
        "the doc's target",
        parameters=params.schema(field=params.text(1), form=form),
        positional="field",
    )
    registry.add(
        "baseline",
        "one_of",
        f"{_HOME}:OneOf",
        "one item of a field of the doc, at random (letters)",
        parameters=params.schema(field=params.text(1), form=form),
        positional="field",
    )


def register_protocols(registry: Registry) -> None:
    """Add them to the registry."""
    registry.add(
        "protocol",
        "chat",
        "creval.engine.generation.generate:Chat",
        "one prompt, one answer (or n of them)",
        parameters=params.schema(
            n=params.integer(1),
            tolerate=params.list_of(
                params.one_of("length", "refusal", "empty"), about="which unfinished answers count as answers"
            ),
        ),
        prompts=("prompt",),
        n=lambda parameters: parameters.get("n") or 1,
    )


def register_resources(registry: Registry) -> None:
    """Add them to the registry."""
    registry.add("wordlist", "file", "creval.resources.wordlists:open_word_file", "a text file, one word per line")


def register_executors(registry: Registry) -> None:
    """Add it to the registry."""
    registry.add(
        "executor",
        "local",
        "creval.engine.execution:LocalExecutor",
        "the event loop of the command itself",
    )
