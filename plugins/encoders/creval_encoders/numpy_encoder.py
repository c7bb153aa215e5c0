"""Sentence encoders (BERT and MPNet with mean pooling) as a forward pass in numpy.

Texts of one batch are grouped by their number of tokens, so that no padding or mask is needed.

This module also reads safetensors files without a library, as memory-mapped arrays by name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from creval.plugin import DataError, MissingPartError, UsageError

__all__ = ["NumpyEncoder", "read_safetensors"]


_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4"}

_LARGEST_HEADER = 100 * 2**20


def read_safetensors(path: Path) -> Mapping[str, np.ndarray]:
    """Return the tensors of a file; data are read only when used.

    The format: 8 bytes little-endian length of the header, the header as JSON (name -> dtype, shape, begin and
    end), then the data. Raises DataError if the file has another format or is damaged.
    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
        size = int.from_bytes(data[:8].tobytes(), "little")
        if not 2 <= size <= min(_LARGEST_HEADER, data.size - 8):
            raise ValueError("the header does not fit into the file")
        header = json.loads(data[8 : 8 + size].tobytes())
        return {
            name: _tensor(data[8 + size :], entry)
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] in _TYPES
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"the weights cannot be read: {error}", where=str(path), fix="Install or fetch the model again."
        ) from error


def _tensor(data: np.ndarray, entry: Mapping[str, object]) -> np.ndarray:
    begin, end = (int(position) for position in entry["data_offsets"])  # type: ignore[attr-defined]
    shape = tuple(int(length) for length in entry["shape"])  # type: ignore[attr-defined]
    dtype = np.dtype(_TYPES[str(entry["dtype"])])
    if not 0 <= begin <= end <= data.size or math.prod(shape) * dtype.itemsize != end - begin:
        raise ValueError("a tensor does not fit into the file")
    return data[begin:end].view(dtype).reshape(shape)


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the tensors of one architecture."""

    query: str
    key: str
    value: str
    output: str
    norm: str


_ARCHITECTURES = {
    "bert": _Names(
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.output.LayerNorm",
    ),
    "mpnet": _Names(
        "attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm"
    ),
}


class NumpyEncoder:
    """A sentence encoder from a folder in the layout of the sentence-transformers library.

    Supported: architectures BERT and MPNet, mean pooling, optional normalisation, float32. Raises MissingPartError
    if the folder lacks a file, UsageError for an unsupported model.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._config = self._json("config.json")
        kind = str(self._config.get("model_type"))
        if kind not in _ARCHITECTURES or self._config.get("hidden_act", "gelu") != "gelu":
            raise UsageError(
                f"the architecture {kind!r} is not supported here",
                where=str(folder),
                fix=f"Use sentence-transformers/{folder} (needs torch), or a model of {' or '.join(_ARCHITECTURES)}.",
            )
        self._kind, self._names = kind, _ARCHITECTURES[kind]
        pooling = self._json("1_Pooling/config.json")
        if not pooling.get("pooling_mode_mean_tokens"):
            raise UsageError("only mean pooling is supported here", where=str(folder), fix="Use another model.")
        modules = [str(module.get("type", "")) for module in self._json("modules.json")]
        self._normalise = any(module.endswith("Normalize") for module in modules)
        self._tensors = read_safetensors(self._file("model.safetensors"))
        self._tokenizer = self._open_tokenizer()
        self.dimension = int(self._config["hidden_size"])

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dimension)."""
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch([text.strip() for text in texts])]
        by_length: dict[int, list[int]] = {}
        for i, ids in enumerate(encoded):
            by_length.setdefault(len(ids), []).append(i)
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for rows in by_length.values():
            out[rows] = self._forward(np.array([encoded[i] for i in rows], dtype=np.int64))
        return out

    def _forward(self, ids: np.ndarray) -> np.ndarray:
        """Return the sentence vectors of one batch of token ids of equal length, shape (batch, tokens)."""
        length = ids.shape[1]
        # MPNet counts positions from after the padding id (1), BERT from 0.
        first = 2 if self._kind == "mpnet" else 0
        hidden = self._tensors["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + self._tensors["embeddings.position_embeddings.weight"][first : first + length]
        if self._kind == "bert":
            hidden = hidden + self._tensors["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        bias = self._position_bias(length)
        for layer in range(int(self._config["num_hidden_layers"])):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.", bias)
        pooled = hidden.mean(axis=1, dtype=np.float32)
        if self._normalise:
            pooled /= np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return np.asarray(pooled, dtype=np.float32)

    def _layer(self, hidden: np.ndarray, prefix: str, bias: np.ndarray | float) -> np.ndarray:
        batch, length, width = hidden.shape
        heads = int(self._config["num_attention_heads"])
        names = self._names

        def split(x: np.ndarray) -> np.ndarray:
            return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

        query = split(self._linear(hidden, prefix + names.query))
        key = split(self._linear(hidden, prefix + names.key))
        value = split(self._linear(hidden, prefix + names.value))
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(width // heads)) + bias
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
        hidden = self._norm(hidden + self._linear(mixed, prefix + names.output), prefix + names.norm)
        inner = _gelu(self._linear(hidden, prefix + "intermediate.dense"))
        return self._norm(hidden + self._linear(inner, prefix + "output.dense"), prefix + "output.LayerNorm")

    def _linear(self, x: np.ndarray, name: str) -> np.ndarray:
        # One product of two matrices: with three axes numpy would compute one small product per text.
        flat = x.reshape(-1, x.shape[-1]) @ self._tensors[name + ".weight"].T
        return np.asarray(flat + self._tensors[name + ".bias"]).reshape(*x.shape[:-1], -1)

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + float(self._config["layer_norm_eps"]))
        return np.asarray(centred / spread * self._tensors[name + ".weight"] + self._tensors[name + ".bias"])

    def _position_bias(self, length: int) -> np.ndarray | float:
        """Return MPNet's relative position bias, shape (heads, tokens, tokens); 0 for BERT."""
        if self._kind != "mpnet":
            return 0.0
        table = self._tensors["encoder.relative_attention_bias.weight"]
        buckets = _relative_buckets(length, int(self._config.get("relative_attention_num_buckets", 32)))
        return np.asarray(table[buckets].transpose(2, 0, 1))

    def _open_tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingPartError(
                "the package tokenizers is not installed", where="encoders", fix="Install it: pip install tokenizers"
            ) from error
        tokenizer = Tokenizer.from_file(str(self._file("tokenizer.json")))
        tokenizer.no_padding()
        longest = int(self._json("sentence_bert_config.json").get("max_seq_length") or 512)
        tokenizer.enable_truncation(max_length=longest)
        return tokenizer

    def _file(self, name: str) -> Path:
        path = self._folder / name
        if not path.is_file():
            raise MissingPartError(
                f"the model folder has no {name}", where=str(self._folder), fix="Name a complete model folder."
            )
        return path

    def _json(self, name: str) -> Any:
        content: Mapping[str, Any] = json.loads(self._file(name).read_text("utf-8"))
        return content


def _gelu(x: np.ndarray) -> np.ndarray:
    from scipy.special import erf

    return np.asarray(x * 0.5 * (1.0 + erf(x * np.float32(1 / math.sqrt(2)))), dtype=np.float32)


def _relative_buckets(length: int, count: int, furthest: int = 128) -> np.ndarray:
    """Return T5's buckets of relative positions (memory minus query), shape (tokens, tokens)."""
    positions = np.arange(length)
    distance = positions[:, None] - positions[None, :]  # query minus memory
    half = count // 2
    side = np.where(distance < 0, half, 0)
    distance = np.abs(distance)
    exact = half // 2
    with np.errstate(divide="ignore"):
        grown = exact + (np.log(distance / exact) / math.log(furthest / exact) * (half - exact))
    far = np.minimum(np.where(distance > 0, grown, 0).astype(np.int64), half - 1)
    return np.asarray(side + np.where(distance < exact, distance, far))
