"""Dataset sources of the core."""

from __future__ import annotations

from typing import Any

from creval.plugins.registry import Registry

__all__ = ["register"]

_FORMAT = {
    "description": "format of the file, where its ending does not tell",
    "enum": ["jsonl", "json", "csv", "tsv", "parquet"],
}


def _object(required: list[str], remote: bool = False, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {**schema, "x-remote": True} if remote else schema


def _named_file(description: str) -> dict[str, Any]:
    """Parameters of a source that reads one file, named in the YAML."""
    file = {"description": description, "type": "string", "minLength": 1, "x-file": True}
    return _object(["file"], file=file, format=_FORMAT)


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_local(registry)
    _register_remote(registry)


def _register_local(registry: Registry) -> None:
    registry.add(
        "source",
        "package",
        "creval.data.sources:open_package_file",
        "a file that ships with the task",
        parameters=_named_file("name relative to the task file or to the plugin's package"),
    )
    registry.add(
        "source",
        "file",
        "creval.data.sources:open_local_file",
        "a local file",
        parameters=_named_file("name, relative to the folder of the YAML file"),
    )
    registry.add(
        "source",
        "generator",
        "creval.data.sources:open_generator",
        "docs made by a generator",
        parameters=_object(
            ["generator"],
            generator={"description": "a component of kind generator", "x-component": "generator"},
        ),
    )


def _register_remote(registry: Registry) -> None:
    registry.add(
        "source",
        "url",
        "creval.data.download:open_url",
        "a file from the web, pinned by its sha256",
        parameters=_object(
            ["url", "sha256"],
            remote=True,
            url={
                "description": "an http or https address without a user name",
                "type": "string",
                "pattern": "^https?://[^/@\\s]+(/\\S*)?$",
            },
            sha256={
                "description": "the sha256 of the file: 64 hexadecimal digits",
                "type": "string",
                "pattern": "^[0-9a-fA-F]{64}$",
            },
            format=_FORMAT,
            max_bytes={"description": "the largest size accepted", "type": "integer", "minimum": 1},
        ),
    )
    registry.add(
        "source",
        "huggingface",
        "creval.data.huggingface:open_huggingface",
        "a data set of the Hugging Face hub, pinned by its commit",
        parameters=_object(
            ["dataset", "revision", "split"],
            remote=True,
            dataset={
                "description": "its name on the hub: owner/name",
                "type": "string",
                "pattern": "^[A-Za-z0-9][\\w.-]*(/[A-Za-z0-9][\\w.-]*)?$",
            },
            revision={
                "description": "a full commit hash of 40 digits (branches and tags move)",
                "type": "string",
                "pattern": "^[0-9a-f]{40}$",
            },
            split={"description": "the split, e.g. test", "type": "string", "minLength": 1},
            config={"description": "the configuration (subset)", "type": "string", "minLength": 1},
        ),
    )
