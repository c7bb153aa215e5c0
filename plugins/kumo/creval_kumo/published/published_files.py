"""The authors' published files, games and wording, fetched from their repository one by one, each pinned by its sha256.

`files.jsonl` has a line for each of the 100 domains: the sha256 of the two files of its configuration and, for each
difficulty, of the games and of the knowledge books of seeds 0 to 49, as of commit COMMIT of
github.com/linhaowei1/kumo (Apache-2.0). This package contains none of the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from creval.plugin import UnknownNameError
from creval.plugin.data import PinnedFiles
from creval_kumo.domains import listed
from creval_kumo.published.authors_files import AGENT, AuthorsFiles

__all__ = ["ADDRESS", "COMMIT", "SIZES", "PublishedFiles"]

COMMIT = "8919ff0075c81e10970e80275d6f241ce91124e3"
ADDRESS = f"https://raw.githubusercontent.com/linhaowei1/kumo/{COMMIT}/"
SIZES = {"easy": (4, 6), "hard": (12, 16)}
"""Truths and actions of a game, by difficulty."""

AGENT_SHA256 = "4fce8f995f1314f2de04edba557b82c0755ecbafecabf7791f3ffd0140c66acf"


Pins = Mapping[str, Mapping[str, Any]]


def _read_pins() -> Pins:
    text = files("creval_kumo.published").joinpath("files.jsonl").read_text(encoding="utf-8")
    return {row["domain"]: row for row in map(json.loads, text.splitlines())}


@dataclass(frozen=True, slots=True)
class PublishedFiles:
    """The files of the published games. `folder` stores them as in the repository, `address` is its URL.

    `offline` forbids network access; `fix` is then the advice in the error message. `pins` are the sha256 by domain,
    `agent` is the sha256 of the file AGENT.
    """

    folder: Path
    address: str = ADDRESS
    offline: bool = False
    fix: str = "Run once without --offline."
    pins: Pins = field(default_factory=_read_pins)
    agent: str = AGENT_SHA256

    def names(self, chosen: Sequence[str] | str, difficulty: str | None) -> list[str]:
        """Return the chosen domains; `all` means every domain, or every one with games of `difficulty` if it is given.

        Raises UnknownNameError, and UsageError if a domain is named twice or none is named.
        """
        known = [name for name, row in self.pins.items() if difficulty is None or difficulty in row]
        names = listed(chosen, known, "published games of KUMO")
        for name in names:
            if name not in known:
                kind = f"published KUMO domain with {difficulty} games" if difficulty else "published KUMO domain"
                raise UnknownNameError(kind, name, known)
        return names

    def fetch(self, names: Iterable[str], difficulty: str | None) -> AuthorsFiles:
        """Return the repository's files of some domains; missing or altered files are fetched.

        Without a difficulty these are only the configurations, otherwise also the games, their books and the file with
        the wording of a turn. Raises DataError if a file cannot be fetched (see `PinnedFiles.fetch`).
        """
        wanted = {path: sha256 for name in names for path, sha256 in self._pinned(name, difficulty)}
        if difficulty is not None:
            wanted[AGENT] = self.agent
        return AuthorsFiles(PinnedFiles(self.address, wanted, self.folder, self.offline, self.fix).fetch())

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
