"""Sentence embeddings by the sentence-transformers library."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from creval.errors import UsageError
from creval.resources.known_encoders import TorchFreeEncoder
from creval.resources.local_models import find_model, is_local_only, library_absent, not_loaded
from creval.resources.resource_options import ResourceOptions
from creval.types.components import Embedding

__all__ = ["SentenceTransformersEmbedding", "open_sentence_encoder"]


def open_sentence_encoder(model: str, options: ResourceOptions) -> Embedding:
    """Open `sentence-transformers/<model>`: by the library, or, where it is not installed, without torch.

    The latter serves the known encoders with equal vectors (`creval.resources.known_encoders`); others raise
    MissingPartError.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        return TorchFreeEncoder(model, options)
    return SentenceTransformersEmbedding(model, options)


class SentenceTransformersEmbedding:
    """`sentence-transformers/<name or folder>`, e.g. `sentence-transformers/all-mpnet-base-v2` or `.../NAME@REVISION`.

    Any model that the library loads. The library is imported and the weights are loaded when first needed; `name`
    carries the hub's revision, or the checksum of the weights in a folder. Vectors are as the model gives them. A model
    that wants its texts introduced has prompts by name: `NAME#s2s_query` or `NAME@REVISION#s2s_query` takes that one.
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        model, self._prompt = _split_prompt(model)
        self._source = find_model(model, options)
        self._options = options
        self._encoder: Any = None

    @property
    def name(self) -> str:
        config = getattr(self._load()[0].auto_model, "config", None)
        prompt = f"#{self._prompt}" if self._prompt else ""
        return f"sentence-transformers/{self._source.title}@{self._source.revision_of(config)}{prompt}"

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
            list(texts),
            prompt_name=self._prompt,
            batch_size=self._options.batch_size,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def _load(self) -> Any:
        if self._encoder is None:
            try:
                from sentence_transformers import SentenceTransformer
            except ImportError as error:
                raise library_absent(self._source.title, "sentence-transformers", error) from error
            try:
                encoder = SentenceTransformer(
                    self._source.place,
                    device=self._options.device,
                    local_files_only=is_local_only(self._source, self._options),
                    revision=self._source.revision,
                    trust_remote_code=self._options.trust_remote_code,
                )
            except (OSError, ValueError) as error:
                raise not_loaded("sentence encoder", self._source, self._options, error) from error
            self._check_prompt(encoder.prompts)
            self._encoder = encoder
        return self._encoder

    def _check_prompt(self, prompts: Mapping[str, str]) -> None:
        if self._prompt is not None and self._prompt not in prompts:
            known = ", ".join(name for name, text in prompts.items() if text)
            raise UsageError(
                f"the encoder has no prompt {self._prompt!r}",
                where=f"sentence-transformers/{self._source.title}#{self._prompt}",
                cure=f"It has: {known}." if known else "It has none: leave out # and what follows.",
            )


def _split_prompt(model: str) -> tuple[str, str | None]:
    """Return the model, and the name of the prompt behind `#`; a folder may have a # in its own name."""
    if Path(model).expanduser().is_dir():
        return model, None
    name, _, prompt = model.rpartition("#") if "#" in model else (model, "", "")
    return name, prompt or None
