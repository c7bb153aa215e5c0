"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components"]


_MEASURED = (
    "minilm=sentence-transformers/all-MiniLM-L6-v2",
    "mpnet=sentence-transformers/all-mpnet-base-v2",
)
"""Equal to 1e-5 in every number of every vector of the test texts (tests/test_encoder.py)."""


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the provider and the embeddings."""
    registry.add(
        "provider",
        "embedded",
        "creval_embedded.provider:EmbeddedProvider",
        "embedded/smollm2, or embedded/<path to a .gguf file>: a language model in this process",
    )
    registry.add(
        "embedding",
        "embedded",
        "creval_embedded.embeddings:open_embedding",
        "embedded/minilm, embedded/mpnet, embedded/glove-6b-50d, or embedded/<folder of a BERT or MPNet encoder>",
        equals=_MEASURED,
    )


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the commands under `creval embedded`."""
    return {"fetch": "creval_embedded.fetch:fetch"}
