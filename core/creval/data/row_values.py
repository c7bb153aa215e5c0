"""Converts values of rows to JSON data and media: bytes in columns, paths next to the data file, URLs."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from creval.tasks.task_paths import strays
from creval.types.content import MAX_MEDIA, MEDIA_TYPES, UNKNOWN_TYPE, Media, read_data_url

__all__ = ["InfiniteError", "NoDataError", "as_media", "plain_value"]

_HUB_MEDIA = {"bytes", "path"}
"""The keys with which the Hub stores an image or audio in a table."""
_SHOWN = 60


class NoDataError(Exception):
    """A value that cannot be JSON: bytes, images, objects. Its text names the kind."""


class InfiniteError(NoDataError):
    """An infinite number, which cannot be JSON either; a fault of a single row if a task uses the column."""

    def __init__(self) -> None:
        super().__init__("an infinite number")


def plain_value(value: Any, field: str) -> Any:
    """Return a value as JSON data. NaN means a missing value (tables have no other) and becomes None.

    A decimal becomes a number if a float holds it exactly, else its digits as a text; a duration becomes seconds.
    Raises InfiniteError for an infinite number, NoDataError for bytes and other values that are not data.
    """
    kind = type(value)  # nearly all values are of these four types, and opening a dataset mostly consists of this check
    if kind is str or kind is int:
        return value
    if kind is list:
        return [member if type(member) is str else plain_value(member, field) for member in value]
    if kind is dict:
        if value.keys() == _HUB_MEDIA and (media := _hub_media(value)) is not False:
            return media
        return {
            str(key): member if type(member) is str else plain_value(member, f"{field}.{key}")
            for key, member in value.items()
        }
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isinf(value):
            raise InfiniteError
        return None if math.isnan(value) else value
    if isinstance(value, Mapping) and not isinstance(value, Media):
        return {str(key): plain_value(member, f"{field}.{key}") for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(member, field) for member in value]
    return _plain_object(value, field)


def _plain_object(value: Any, field: str) -> Any:
    if isinstance(value, Media):
        return value
    if isinstance(value, Decimal):
        return _plain_decimal(value, field)
    if isinstance(value, timedelta):
        return _plain_decimal(Decimal(value // timedelta(microseconds=1)).scaleb(-6), field)
    if getattr(getattr(value, "dtype", None), "kind", "") == "m" and not getattr(value, "shape", None):  # of numpy
        return _plain_decimal(Decimal(int(value.astype("timedelta64[ns]").astype(int))).scaleb(-9), field)
    if isinstance(value, bytes | bytearray | memoryview):
        found = _media_of(bytes(value))
        if found is None:
            raise NoDataError("bytes")
        return found
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return plain_value(value.tolist(), field)
    raise NoDataError(f"{type(value).__name__} objects")


def _plain_decimal(value: Decimal, field: str) -> int | float | str | None:
    if value.is_nan():
        return None
    if value.is_infinite():
        raise InfiniteError
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)


# --- media ---


def _hub_media(value: Mapping[str, Any]) -> Any:
    """Return an image or audio stored by the Hub, or its path without bytes; False for bytes of an unknown type."""
    data, path = value["bytes"], value["path"]
    if isinstance(data, bytes | bytearray | memoryview) and data:
        found = Media.of(_bounded(bytes(data)), Path(str(path)).name if path else "")
        return found if found["media_type"] != UNKNOWN_TYPE else False
    return str(path) if path else None


def _media_of(data: bytes) -> Media | None:
    """Return bytes of a column as media, or None for an unknown type."""
    found = Media.of(data) if len(data) <= MAX_MEDIA else None
    return found if found is not None and found["media_type"] in MEDIA_TYPES else None


def as_media(value: Any, folder: Path | None) -> Any:
    """Return media in place of the texts that name them; empty ones become None.

    Paths are relative to `folder`, that of the data file, and must name a regular file in it. Raises ValueError.
    """
    if isinstance(value, list):
        return [as_media(each, folder) for each in value]
    if value is None or isinstance(value, Media) or (isinstance(value, str) and not value.strip()):
        return value or None
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:_SHOWN]!r} names no image, audio or file")
    if value.startswith(("https://", "http://")):
        return Media({"url": value})
    if value.startswith("data:"):
        data = read_data_url(value)
        if data is None:
            raise ValueError("a data URL is not in base64")
        return Media.of(_bounded(data))
    return _of_file(value, folder)


def _of_file(name: str, folder: Path | None) -> Media:
    """Return the media of a file in the data's folder, which is read again whenever its bytes are needed."""
    shown = repr(name[:_SHOWN])
    if folder is None:
        raise ValueError(f"{shown} is a path, and these data have no folder that it could be in")
    path = folder / name
    if strays(path, [folder]):
        raise ValueError(f"the file {shown} is outside of the data file's folder")

    def read() -> bytes:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{shown} is not a plain file")
            return _bounded(file.read(MAX_MEDIA + 1))

    try:
        data = read()
    except OSError as error:
        raise ValueError(f"the file {shown} cannot be read: {error.strerror}") from None
    return Media.of(data, path.name, read)


def _bounded(data: bytes) -> bytes:
    """Return the bytes. Raises ValueError if there are none or too many."""
    if not data or len(data) > MAX_MEDIA:
        raise ValueError("a media file is empty" if not data else f"a media file is larger than {MAX_MEDIA:,} bytes")
    return data
