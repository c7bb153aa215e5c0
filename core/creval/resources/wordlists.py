"""Word lists: resources of kind `wordlist`."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from creval.errors import MissingPartError
from creval.resources.resource_options import ResourceOptions

__all__ = ["WordList", "open_word_file"]


class WordList:
    """Distinct words in order, with membership in constant time.

    `name` is the full resource name: the source of the words, their number, and a checksum.
    """

    def __init__(self, title: str, words: Iterable[str]) -> None:
        self.words: Sequence[str] = tuple(dict.fromkeys(words))
        self._set = frozenset(self.words)
        digest = hashlib.sha256("\n".join(self.words).encode()).hexdigest()[:12]
        self.name = f"{title}@sha256:{digest}"

    def __contains__(self, word: object) -> bool:
        return word in self._set

    def __len__(self) -> int:
        return len(self.words)


def open_word_file(model: str, options: ResourceOptions) -> WordList:
    """Open `file/<path>`: one word per line, UTF-8, `.gz` allowed; empty lines and lines starting with # are ignored.

    Raises MissingPartError if the file is absent or not a text.
    """
    path = Path(model).expanduser()
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise MissingPartError(
            f"the word list cannot be read: {error}", where=str(path), fix="Name a UTF-8 text, one word per line."
        ) from error
    lines = (line.strip() for line in text.splitlines())
    return WordList(f"file/{path.name}", (line for line in lines if line and not line.startswith("#")))
