"""Sentence encoders and stores of word vectors, for components of kind `embedding`.

Promised: these names follow semantic versioning. It imports numpy.
"""

from __future__ import annotations

from creval.resources.local_models import file_digest
from creval.resources.numpy_encoder import NumpyEncoder
from creval.resources.word_vectors import STORE_FORMAT, VectorStore, list_stores, store_folder

__all__ = ["STORE_FORMAT", "NumpyEncoder", "VectorStore", "file_digest", "list_stores", "store_folder"]
