"""Reads safetensors files without a library: memory-mapped arrays by name."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from creval.errors import DataError

__all__ = ["read_safetensors"]

_TYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4"}
_LARGEST_HEADER = 100 * 2**20


def read_safetensors(path: Path) -> Mapping[str, np.ndarray]:
    """Return the tensors of a file; nothing is read before it is used.

    The format: 8 bytes little-endian length of the header, the header as JSON (name -> dtype, shape, begin and
    end), then the data. Raises DataError where the file is of another format or damaged.
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
            f"the weights cannot be read: {error}", where=str(path), cure="Install or fetch the model again."
        ) from error


def _tensor(data: np.ndarray, entry: Mapping[str, object]) -> np.ndarray:
    begin, end = (int(position) for position in entry["data_offsets"])  # type: ignore[attr-defined]
    shape = tuple(int(length) for length in entry["shape"])  # type: ignore[attr-defined]
    dtype = np.dtype(_TYPES[str(entry["dtype"])])
    if not 0 <= begin <= end <= data.size or math.prod(shape) * dtype.itemsize != end - begin:
        raise ValueError("a tensor does not fit into the file")
    return data[begin:end].view(dtype).reshape(shape)
