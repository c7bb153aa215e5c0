"""Sentence encoders and stores of word vectors, for components of kind `embedding`.

Promised: these names follow semantic versioning. It imports numpy.
"""

from __future__ import annotations

from creval.resources.local_models import file_digest
from creval.resources.numpy_encoder import NumpyEncoder
from creval.resources.vector_build import build_store
from creval.resources.word_vectors import list_stores, store_folder

__all__ = ["NumpyEncoder", "build_store", "file_digest", "list_stores", "store_folder"]
