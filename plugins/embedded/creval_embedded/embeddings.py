"""The embeddings of this plugin by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from creval.plugin import Embedding, MissingPartError, ResourceOptions, UnknownNameError
from creval.plugin.data import sha256_of
from creval_embedded.weight_files import MINILM

__all__ = ["SentenceEncoder", "open_embedding"]


class SentenceEncoder:
    """A numpy encoder as an `Embedding`; weights are mapped at the first use.

    `name` is `embedded/<title>@sha256:<of the weights>`.
    """

    def __init__(self, title: str, folder: Path) -> None:
        from creval_encoders import NumpyEncoder

        self._encoder = NumpyEncoder(folder)
        self.name = f"embedded/{title}@sha256:{sha256_of(folder / 'model.safetensors')[:12]}"
        self.dimension = self._encoder.dimension

    def has(self, text: str) -> bool:
        """Return True for any non-empty text."""
        return bool(text)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension)."""
        return self._encoder.embed(texts)


def _minilm(options: ResourceOptions) -> Embedding:
    return _packaged("minilm", MINILM.path().parent)


@functools.cache
def _packaged(title: str, folder: Path) -> SentenceEncoder:
    """Return the encoder of a package, whose files do not change: read and hashed once per process."""
    return SentenceEncoder(title, folder)


def _mpnet(options: ResourceOptions) -> Embedding:
    folder = options.folder / "models" / "all-mpnet-base-v2"
    if not folder.is_dir():
        raise MissingPartError(
            "all-mpnet-base-v2 is not installed",
            where=str(folder),
            fix="Fetch it once (about 400 MB): creval embedded fetch mpnet",
        )
    return SentenceEncoder("mpnet", folder)


def _glove(options: ResourceOptions) -> Embedding:
    from creval_embedded.glove import PackagedGlove

    return PackagedGlove()


_BY_NAME: Mapping[str, Callable[[ResourceOptions], Embedding]] = {
    "minilm": _minilm,
    "mpnet": _mpnet,
    "glove-6b-50d": _glove,
}


def open_embedding(model: str, options: ResourceOptions) -> Embedding:
    """Open `embedded/<name>` or `embedded/<folder>`.

    Raises UnknownNameError, or MissingPartError with the command that installs the missing part.
    """
    if model in _BY_NAME:
        return _BY_NAME[model](options)
    if model.startswith(("/", "./", "../", "~")):
        folder = Path(model).expanduser().resolve()
        if not folder.is_dir():
            raise MissingPartError(f"there is no model folder {folder}", where=model, fix="Correct the path.")
        return SentenceEncoder(folder.name, folder)
    raise UnknownNameError(
        "embedding", f"embedded/{model}", [f"embedded/{name}" for name in _BY_NAME], hint="Or name a model folder."
    )
