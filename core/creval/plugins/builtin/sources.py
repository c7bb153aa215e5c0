"""Dataset sources of the core."""

from __future__ import annotations

from creval.plugins import parameters as params
from creval.plugins.registry import Registry

__all__ = ["register"]

_FORMAT = params.one_of(
    "jsonl", "json", "csv", "tsv", "parquet", about="format of the file, where its ending does not tell"
)


def register(registry: Registry) -> None:
    """Add them to the registry."""
    _register_local(registry)
    _register_remote(registry)


def _register_local(registry: Registry) -> None:
    beside = params.text(1, file=True, about="name relative to the task file or to the plugin's package")
    registry.add(
        "source",
        "package",
        "creval.data.sources:open_package_file",
        "a file that ships with the task",
        parameters=params.schema(file=beside, format=_FORMAT, required=("file",)),
    )
    local = params.text(1, file=True, about="name, relative to the folder of the YAML file")
    registry.add(
        "source",
        "file",
        "creval.data.sources:open_local_file",
        "a local file",
        parameters=params.schema(file=local, format=_FORMAT, required=("file",)),
    )
    registry.add(
        "source",
        "generator",
        "creval.data.sources:open_generator",
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
    registry.add(
        "source",
        "huggingface",
        "creval.data.huggingface:open_huggingface",
        "a data set of the Hugging Face hub, pinned by its commit",
        parameters=params.schema(
            dataset=params.text(
                pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$", about="its name on the hub: owner/name"
            ),
            revision=params.text(
                pattern="^[0-9a-f]{40}$", about="a full commit hash of 40 digits (branches and tags move)"
            ),
            split=params.text(1, about="the split, e.g. test"),
            config=params.text(1, about="the configuration (subset)"),
            required=("dataset", "revision", "split"),
            remote=True,
        ),
    )
