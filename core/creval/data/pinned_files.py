"""Files of a public repository at one commit, each pinned by its sha256, fetched when they are wanted and kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from creval.data.data_options import DataOptions
from creval.data.download import download
from creval.data.mirror import offline_fix, sha256_of
from creval.errors import DataError

__all__ = ["PinnedFiles"]

_AT_ONCE = 8
_MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class PinnedFiles:
    """The files of `pins` (path in the repository -> sha256), served below `address` and kept in `folder`.

    `offline` forbids the network. `fix` is the advice when files are missing offline. A file appears in `folder` only
    after its sha256 was found right.
    """

    address: str
    pins: Mapping[str, str]
    folder: Path
    offline: bool = False
    fix: str = "Run once without --offline."

    @classmethod
    def of(cls, name: str, address: str, pins: Mapping[str, str], options: DataOptions) -> PinnedFiles:
        """Return files that are kept in the user's cache as `name`, fetched as the options of a dataset allow."""
        return cls(address, pins, options.cache / "data" / name, options.offline, offline_fix(options))

    def fetch(self, paths: Iterable[str] | None = None) -> Path:
        """Fetch those of the files (None: all) that are missing or altered, and return `folder`.

        Files that are here stay when another one fails. Raises DataError for what cannot be fetched or is not the
        pinned file, and where files are missing and the network is forbidden.
        """
        wanted = list(dict.fromkeys(self.pins if paths is None else paths))
        missing = [path for path in wanted if not self._is_here(path)]
        if missing and self.offline:
            what = f"{len(missing)} of {len(wanted)} published files are missing or damaged in the cache"
            raise DataError(f"{what}, and --offline forbids the network", where=self.address, fix=self.fix)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            fetching = [pool.submit(self._fetch, path) for path in missing]
            try:
                for each in fetching:
                    each.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return self.folder

    def _is_here(self, path: str) -> bool:
        file = self.folder / path
        return file.is_file() and sha256_of(file) == self.pins[path]

    def _fetch(self, path: str) -> None:
        download(self.address.rstrip("/") + "/" + quote(path), self.pins[path], self.folder / path, _MAX_BYTES)
