"""The authors' four files, from their repository at one commit, pinned by their content.

They are never shipped: statements and solutions belong to Codeforces and its users. A file counts as the published one
if the digest of its content in canonical form matches, whatever its formatting; a copy may be gzipped. A fetched
file must also have the published bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from creval.plugin import DataError
from creval.plugin.data import download

__all__ = ["ADDRESS", "COMMIT", "FILES", "PublishedFiles", "Stamps", "content_digest"]

COMMIT = "23cd8e64dc2129e5c4fae4bcb5dff8cec41f9d4f"
ADDRESS = f"https://raw.githubusercontent.com/JHU-CLSP/NeoCoder/{COMMIT}/datasets/CodeForce/NeoCoder/"
_MAX_BYTES = 8_000_000


class Pin(NamedTuple):
    """The sha256 of a file's bytes as published, and of its content in canonical form."""

    bytes: str
    content: str


FILES = {
    "NeoCoder": Pin(
        "6435476f71b05bf509d819a503327811eaef47cb70a50c47b271c1167732df85",
        "eb8cd311467c5a8de32888c5afcc2f85b119491381aa01af7eb086c45ef105a1",
    ),
    "human_solutions": Pin(
        "24d5d7424fbdb4fc603baeeac4a7327da9e7f86420aeabdacc5c3cc98aa3d83c",
        "68d34a8411dfc5aa0d3db6b9e9f717eb225f1be34d42eba3c8a94475d64dc016",
    ),
    "human_solution_techniques": Pin(
        "d508695c875951b35ef307c7ec0146c766b1b90ac1221cbd8b3c55e7489a42ec",
        "100fccccfc0bca4b7ca13998c3bc30af1407ba6f36fed53df28bb8e0c51eb287",
    ),
    "test_cases_annotated": Pin(
        "ba6b6c81c5301c3fb573ec274d88e923b04614b874ba33aef928eb4c6f4a76ed",
        "590f98cb75ff31216c4890fd0fc4d197d8b4084a610c3298c72ecd0495d2c6a3",
    ),
}


Stamps = tuple[tuple[int, int], ...]
"""The modification time of each file, in nanoseconds, and its size in bytes."""


def content_digest(data: Any) -> str:
    """Return the sha256 of plain data: JSON with sorted keys, no spaces, UTF-8."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class PublishedFiles:
    """The files in `folder` (`NeoCoder.json` or `NeoCoder.json.gz` ...); missing ones are fetched from `address`.

    `copies` is a further folder to search first. `offline` forbids the network; `fix` is then the advice, which names
    a task: all tasks use the same files.
    """

    folder: Path
    copies: Path | None = None
    address: str = ADDRESS
    offline: bool = False
    fix: str = field(default="Run once without --offline.", compare=False)

    def read(self, name: str) -> Any:
        """Return the content of one file. Raises DataError if it is missing, altered or not JSON."""
        path = self._path(name)
        raw = path.read_bytes()
        try:
            data = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        except (ValueError, OSError, EOFError) as error:
            raise DataError(f"it cannot be read: {error}", where=str(path), fix="Remove it and run again.") from error
        if content_digest(data) != FILES[name].content:
            raise DataError(
                f"its content is not that of the published {name}.json at commit {COMMIT[:12]}",
                where=str(path),
                fix="Remove it and run again; another version of the data is another benchmark.",
            )
        return data

    def stamps(self) -> Stamps:
        """Return the modification time and size of each file. Raises DataError if one is missing."""
        found = [self._path(name).stat() for name in FILES]
        return tuple((each.st_mtime_ns, each.st_size) for each in found)

    def _path(self, name: str) -> Path:
        folders = [folder for folder in (self.copies, self.folder) if folder is not None]
        for folder in folders:
            for ending in (".json", ".json.gz"):
                if (folder / f"{name}{ending}").is_file():
                    return folder / f"{name}{ending}"
        file = self.folder / f"{name}.json"
        if self.offline:
            raise DataError(
                f"{name}.json is not here, and --offline forbids the network", where=str(file), fix=self.fix
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        download(f"{self.address}{name}.json", FILES[name].bytes, file, _MAX_BYTES)
        return file
