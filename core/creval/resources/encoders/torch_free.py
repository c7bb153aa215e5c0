"""`sentence-transformers/<known encoder>` where the library is not installed: the same vectors by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from creval.errors import MissingPartError
from creval.resources.encoders.forward import NumpyEncoder
from creval.resources.encoders.known import KNOWN_ENCODERS
from creval.resources.encoders.places import model_folder
from creval.resources.options import ResourceOptions

__all__ = ["TorchFreeEncoder"]


class TorchFreeEncoder:
    """A known encoder (see `creval.resources.encoders.known`) as an `Embedding`; the weights are found when needed.

    `name` is `sentence-transformers/<title>@sha256:<of the weights> (numpy)`: the manifest tells which way was taken.
    Raises MissingPartError where the encoder is not a known one.
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        if model not in KNOWN_ENCODERS:
            known = ", ".join(sorted({encoder.title for encoder in KNOWN_ENCODERS.values()}))
            raise MissingPartError(
                f"the encoder {model!r} needs the package sentence_transformers, which is not installed",
                cure=f"Install it: pip install sentence-transformers (with torch, some GB). Without it work: {known}.",
            )
        self._known = KNOWN_ENCODERS[model]
        self._options = options
        self.name = f"sentence-transformers/{self._known.title}@sha256:{self._known.sha256[:12]} (numpy)"

    @cached_property
    def _encoder(self) -> NumpyEncoder:
        return NumpyEncoder(model_folder(self._known, self._options))

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    def has(self, text: str) -> bool:
        """Always True for a text that is not empty."""
        return bool(text)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension)."""
        return self._encoder.embed(texts)
