"""The images, audio and files of a run's messages, each stored once in media/<sha256>.<extension>."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from creval.opener import copy_files, is_there, open_new, read_bytes, rename
from creval.runs.jsonl import disk_error
from creval.types.content import MAX_MEDIA, MediaPart, media_file_name

__all__ = ["MEDIA", "MediaFolder"]

MEDIA = "media"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class MediaFolder:
    """The folder `media` of a run, perhaps a foreign one: only files with the right name and digest are read."""

    def __init__(self, run: Path) -> None:
        self.path = run / MEDIA
        self._stored: set[str] = set()

    def keep(self, media: Iterable[MediaPart]) -> None:
        """Write media that are not stored yet. Raises RunError if they cannot be written."""
        for part in media:
            if not part.data or part.digest in self._stored:
                continue
            path = self.path / media_file_name(part.to_json())
            half = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                if not is_there(path):
                    with open_new(half) as file:
                        file.write(part.data)
                    rename(half, path)
            except OSError as error:
                raise disk_error(error, path) from error
            self._stored.add(part.digest)

    def join(self, other: Path) -> None:
        """Copy the media of another run. Raises RunError if one is not a regular file, or cannot be written."""
        if not is_there(other / MEDIA):
            return
        try:
            copy_files(other / MEDIA, self.path)
        except OSError as error:
            raise disk_error(error, self.path) from error

    def find(self, part: Mapping[str, Any], most: int = MAX_MEDIA) -> bytes | None:
        """Return the bytes of a sample's part, or None if they are missing or differ.

        Raises UnsafeFileError if the file is a link, not a regular file, or larger than `most` bytes.
        """
        digest = part.get("sha256")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            return None
        try:
            data = read_bytes(self.path / media_file_name(part), most)
        except FileNotFoundError:
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None
