"""Images, audio and files in the data: bytes in columns, paths next to the data file, addresses, data URLs."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from creval.tasks.task_paths import strays
from creval.types.content import MAX_MEDIA, MEDIA_TYPES, UNKNOWN, Media, read_data_url

__all__ = ["HUB_MEDIA", "as_media", "hub_media", "media_of"]

HUB_MEDIA = {"bytes", "path"}
"""The keys by which the Hub stores an image or audio in a table."""
_SHOWN = 60


def hub_media(value: Mapping[str, Any]) -> Any:
    """Return an image or audio as the Hub stores it; without bytes its path. False: bytes of no known type."""
    data, path = value["bytes"], value["path"]
    if isinstance(data, bytes | bytearray | memoryview) and data:
        found = Media.of(_bounded(bytes(data)), Path(str(path)).name if path else "")
        return found if found["media_type"] != UNKNOWN else False
    return str(path) if path else None


def media_of(data: bytes) -> Media | None:
    """Return bytes of a column as media; None where they begin like none of the known types."""
    found = Media.of(data) if len(data) <= MAX_MEDIA else None
    return found if found is not None and found["media_type"] in MEDIA_TYPES else None


def as_media(value: Any, folder: Path | None) -> Any:
    """Return media in place of the texts that name them; what is empty becomes None.

    Paths are relative to `folder`, that of the data file, and lead to a plain file in it. Raises ValueError.
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
    """Return the media in a file of the data's folder, which is read again whenever its bytes are needed."""
    shown = repr(name[:_SHOWN])
    if folder is None:
        raise ValueError(f"{shown} is a path, and these data have no folder that it could be in")
    path = folder / name
    if strays(path, [folder]):
        raise ValueError(f"the file {shown} is outside of the data file's folder")

    def read() -> bytes:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError(f"{shown} is no plain file")
            return _bounded(file.read(MAX_MEDIA + 1))

    try:
        data = read()
    except OSError as error:
        raise ValueError(f"the file {shown} cannot be read: {error.strerror}") from None
    return Media.of(data, path.name, read)


def _bounded(data: bytes) -> bytes:
    """Return the bytes. Raises ValueError where there are none, or too many."""
    if not data or len(data) > MAX_MEDIA:
        raise ValueError("a media file is empty" if not data else f"a media file is larger than {MAX_MEDIA:,} bytes")
    return data
