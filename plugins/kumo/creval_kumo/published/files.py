"""The authors' published files, fetched from their repository one by one, each pinned by its sha256.

`files.jsonl` has a line for each of the 100 domains: the sha256 of the two files of its configuration, and
for each difficulty that of the games and of the knowledge books of seeds 0 to 49, as they are at commit COMMIT of
github.com/linhaowei1/kumo (Apache-2.0). None of the files travels with this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from creval.plugin import DataError, UnknownNameError
from creval.plugin.data import download, sha256_of
from creval_kumo.domains import listed
from creval_kumo.published.authors_files import AuthorsFiles

__all__ = ["ADDRESS", "COMMIT", "SIZES", "PublishedFiles"]

COMMIT = "8919ff0075c81e10970e80275d6f241ce91124e3"
ADDRESS = f"https://raw.githubusercontent.com/linhaowei1/kumo/{COMMIT}/"
SIZES = {"easy": (4, 6), "hard": (12, 16)}
"""Truths and actions of a game, by difficulty."""

_MAX_BYTES = 2_000_000
_AT_ONCE = 8


Pins = Mapping[str, Mapping[str, Any]]


def _read_pins() -> Pins:
    text = files("creval_kumo.published").joinpath("files.jsonl").read_text(encoding="utf-8")
    return {row["domain"]: row for row in map(json.loads, text.splitlines())}


@dataclass(frozen=True, slots=True)
class PublishedFiles:
    """The files of the published games. `folder` keeps them as they lie in the repository, `address` serves it.

    `offline` forbids the network; `fix` is then the advice beside the error. `pins` are the sha256 by domain.
    """

    folder: Path
    address: str = ADDRESS
    offline: bool = False
    fix: str = "Run once without --offline."
    pins: Pins = field(default_factory=_read_pins)

    def names(self, chosen: Sequence[str] | str, difficulty: str | None) -> list[str]:
        """Return the domains chosen; `all` stands for every one, that has games of this difficulty where one is given.

        Raises UnknownNameError, and UsageError where a domain is named twice or none is.
        """
        known = [name for name, row in self.pins.items() if difficulty is None or difficulty in row]
        names = listed(chosen, known, "published games of KUMO")
        for name in names:
            if name not in known:
                kind = f"published KUMO domain with {difficulty} games" if difficulty else "published KUMO domain"
                raise UnknownNameError(kind, name, known)
        return names

    def fetch(self, names: Iterable[str], difficulty: str | None) -> AuthorsFiles:
        """Return the repository's files of some domains; those that are missing or altered are fetched.

        Without a difficulty these are the configurations alone.

        A file appears only after its sha256 was found right, and those that are here stay when another one fails.
        Raises DataError for what cannot be fetched, and where files are missing and the network is forbidden.
        """
        wanted = [(path, sha256) for name in names for path, sha256 in self._pinned(name, difficulty)]
        missing = [(path, sha256) for path, sha256 in dict(wanted).items() if not self._here(path, sha256)]
        if missing and self.offline:
            raise DataError(
                f"{len(missing)} of {len(wanted)} published files are missing or damaged in the cache, and --offline "
                "forbids the network",
                where=self.address,
                fix=self.fix,
            )
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            fetching = [pool.submit(self._fetch, path, sha256) for path, sha256 in missing]
            try:
                for each in fetching:
                    each.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return AuthorsFiles(self.folder)

    def _pinned(self, name: str, difficulty: str | None) -> Iterator[tuple[str, str]]:
        row = self.pins[name]
        yield from row["configuration"].items()
        if difficulty is None:
            return
        truths, actions = SIZES[difficulty]
        games, books = AuthorsFiles.places(name, truths, actions)
        yield games, row[difficulty]["games"]
        for seed, sha256 in enumerate(row[difficulty]["books"]):
            yield f"{books}/seed={seed}.txt", sha256

    def _here(self, path: str, sha256: str) -> bool:
        file = self.folder / path
        return file.is_file() and sha256_of(file) == sha256

    def _fetch(self, path: str, sha256: str) -> None:
        download(self.address.rstrip("/") + "/" + quote(path), sha256, self.folder / path, _MAX_BYTES)
