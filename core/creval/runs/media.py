"""The images, audio and files of a run's messages: each once, in media/<sha256>.<ending>."""

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
    """The folder `media` of a run. It may be somebody else's: only files of the right name and digest are read."""

    def __init__(self, run: Path) -> None:
        self.path = run / MEDIA
        self._kept: set[str] = set()

    def keep(self, media: Iterable[MediaPart]) -> None:
        """Write the bytes that are not there yet. Raises RunError where they cannot be written."""
        for part in media:
            if not part.data or part.digest in self._kept:
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
            self._kept.add(part.digest)

    def join(self, other: Path) -> None:
        """Take in the media of another run. Raises RunError where one is no plain file, or cannot be written."""
        if not is_there(other / MEDIA):
            return
        try:
            copy_files(other / MEDIA, self.path)
        except OSError as error:
            raise disk_error(error, self.path) from error

    def find(self, part: Mapping[str, Any], most: int = MAX_MEDIA) -> bytes | None:
        """Return the bytes of a part by what a sample says of it; None where they are not here, or others.

        Raises StrangeFileError where the file is a link, no plain file, or larger than `most` bytes.
        """
        digest = part.get("sha256")
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            return None
        try:
            data = read_bytes(self.path / media_file_name(part), most)
        except FileNotFoundError:
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None
