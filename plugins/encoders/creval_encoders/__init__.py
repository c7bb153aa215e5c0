"""Sentence encoders, stores of word vectors and entailment models, as resources of creval.

    from creval_encoders import NumpyEncoder, VectorStore

These names follow semantic versioning. They are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from creval_encoders.numpy_encoder import NumpyEncoder
    from creval_encoders.word_vectors import STORE_FORMAT, VectorStore, list_stores, store_folder

__all__ = ["STORE_FORMAT", "NumpyEncoder", "VectorStore", "list_stores", "store_folder"]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'creval_encoders' has no attribute {name!r}")
    module = "numpy_encoder" if name == "NumpyEncoder" else "word_vectors"
    return getattr(importlib.import_module(f"creval_encoders.{module}"), name)
