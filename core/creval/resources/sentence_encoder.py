"""Sentence embeddings by the sentence-transformers library."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from creval.resources.encoders.torch_free import TorchFreeEncoder
from creval.resources.local_models import find_model, library_absent, model_absent
from creval.resources.options import ResourceOptions
from creval.types.components import Embedding

__all__ = ["SentenceTransformersEmbedding", "open_sentence_encoder"]


def open_sentence_encoder(model: str, options: ResourceOptions) -> Embedding:
    """Open `sentence-transformers/<model>`: by the library, or, where it is not installed, without torch.

    The latter serves the known encoders with equal vectors (`creval.resources.encoders.known`); others raise
    MissingPartError.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        return TorchFreeEncoder(model, options)
    return SentenceTransformersEmbedding(model, options)


class SentenceTransformersEmbedding:
    """`sentence-transformers/<name or folder>`, e.g. `sentence-transformers/all-mpnet-base-v2` or `.../NAME@REVISION`.

    Any model that the library loads. The library is imported and the weights are loaded when first needed; `name`
    carries the hub's revision, or the checksum of the weights in a folder. Vectors are as the model gives them.
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        self._source = find_model(model, options)
        self._options = options
        self._encoder: Any = None

    @property
    def name(self) -> str:
        config = getattr(self._load()[0].auto_model, "config", None)
        return f"sentence-transformers/{self._source.title}@{self._source.revision_of(config)}"

    @property
    def dimension(self) -> int:
        encoder = self._load()
        ask = getattr(encoder, "get_embedding_dimension", None) or encoder.get_sentence_embedding_dimension
        return int(ask())

    def has(self, text: str) -> bool:
        """Always True for a text that is not empty: a sentence encoder has no vocabulary to fall out of."""
        return bool(text)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension)."""
        vectors = self._load().encode(
            list(texts), batch_size=self._options.batch_size, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:
        if self._encoder is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError as error:
                raise library_absent(self._source.title, "sentence-transformers", error) from error
            try:
                self._encoder = SentenceTransformer(
                    self._source.place,
                    device=self._options.device,
                    local_files_only=self._options.offline or self._source.local,
                    revision=self._source.revision,
                )
            except (OSError, ValueError) as error:
                raise model_absent("sentence encoder", self._source, self._options, error) from error
        return self._encoder
