"""Files over http(s), pinned by their sha256 and kept in the cache: the source `url`, and files of a repository."""

from __future__ import annotations

import os
import socket
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote, urlsplit

from creval.data.data_options import DataOptions
from creval.data.mirror import check_sha256, offline_fix, sha256_of
from creval.data.row_types import Rows
from creval.data.table_files import FORMATS, open_file
from creval.errors import DataError

__all__ = ["MAX_BYTES", "PinnedFiles", "download", "open_url"]

MAX_BYTES = 2_000_000_000
_MAX_PINNED_BYTES = 20_000_000
_AT_ONCE = 8
_CHUNK = 1 << 20
_SECONDS = 60.0
_SCHEMES = ("http", "https")
_PAUSES = (1.0, 3.0, 9.0)
"""Seconds between tries, if the server does not state a time to wait."""
_LONGEST_PAUSE = 60.0


class _TemporaryError(DataError):
    """A failed fetch that may succeed when retried; `after` is the wait in seconds that the server asks for."""

    after: float | None = None


def open_url(
    url: str, sha256: str, *, base: Path, options: DataOptions, format: str | None = None, max_bytes: int = MAX_BYTES
) -> Rows:
    """Open a pinned file from the web. It is fetched once and then read from the cache, with its sha256 checked."""
    ending = PurePosixPath(urlsplit(url).path).suffix.lower()
    known = {known for endings in FORMATS.values() for known in endings}
    file = options.cache / "data" / f"{sha256.lower()}{ending if ending in known else ''}"
    if not (file.is_file() and sha256_of(file) == sha256.lower()):
        if options.offline:
            raise DataError(
                "the data are not in the cache, and --offline forbids the network",
                where=url,
                fix=offline_fix(options),
            )
        download(url, sha256, file, max_bytes)
    return open_file(file, format)


def download(url: str, pin: str | Callable[[Path], None], file: Path, max_bytes: int = MAX_BYTES) -> None:
    """Fetch a file completely or not at all: it gets its name only after it was verified.

    `pin` is the sha256 of its bytes or, if only the content is known, a check that raises DataError. A connection that
    breaks, 429 (its Retry-After is honoured) and 5xx are tried again, three times. Raises DataError for addresses other
    than http(s), for a refused or broken connection, for more than `max_bytes`, and for other content than the pinned
    one.
    """
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise DataError("only http and https addresses can be fetched", where=url)
    if parts.username or parts.password:
        raise DataError("the address holds a user name or password", where=parts.hostname, fix="Remove it.")
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".download-")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as output:
            _fetch_again(url, output, max_bytes)
            output.flush()
            os.fsync(output.fileno())
        try:
            if callable(pin):
                pin(partial)
            else:
                check_sha256(partial, pin)
        except DataError as error:
            raise DataError(error.what, where=url, fix=error.fix) from None
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _fetch_again(url: str, output: IO[bytes], max_bytes: int) -> None:
    for pause in _PAUSES:
        try:
            return _fetch(url, output, max_bytes)
        except _TemporaryError as error:
            time.sleep(min(_LONGEST_PAUSE, pause if error.after is None else error.after))
        output.seek(0)
        output.truncate()
    return _fetch(url, output, max_bytes)


def _fetch(url: str, output: IO[bytes], max_bytes: int) -> None:
    try:
        with _opener().open(
            urllib.request.Request(url, headers={"User-Agent": "creval"}), timeout=_SECONDS
        ) as response:
            size = 0
            while chunk := response.read(_CHUNK):
                size += len(chunk)
                if size > max_bytes:
                    fix = "Raise max_bytes under dataset if the file is right."
                    raise DataError(f"the file is larger than {max_bytes:,} bytes", where=url, fix=fix)
                output.write(chunk)
            announced = response.headers.get("Content-Length")
            if announced is not None and announced.isdigit() and size < int(announced):
                raise _TemporaryError(
                    f"the connection broke after {size:,} of {announced} bytes", where=url, fix="Try again."
                )
    except urllib.error.HTTPError as error:
        raise _refused(error, url) from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        kind = DataError if isinstance(reason, (socket.gaierror, ConnectionRefusedError)) else _TemporaryError
        raise kind(
            f"the file cannot be fetched: {reason}", where=url, fix="Check the network and try again."
        ) from error


def _refused(error: urllib.error.HTTPError, url: str) -> DataError:
    what = f"the server answered {error.code} {error.reason}"
    if error.code != 429 and error.code < 500:
        return DataError(what, where=url, fix="Check the address.")
    temporary = _TemporaryError(what, where=url, fix="Try again later.")
    after = error.headers.get("Retry-After", "")
    temporary.after = float(after) if after.isascii() and after.isdigit() else None
    return temporary


class _HttpOnlyRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects only to http and https."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in _SCHEMES:
            raise DataError("the server redirects to an address that is not http", where=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener for http and https only: file:, ftp: and data: addresses do not work."""
    opener = urllib.request.OpenerDirector()
    handlers: list[Any] = [
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _HttpOnlyRedirects(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ]
    for handler in handlers:
        opener.add_handler(handler)
    return opener


@dataclass(frozen=True, slots=True)
class PinnedFiles:
    """The files of `pins` (path in the repository -> sha256), served below `address` and kept in `folder`.

    `offline` forbids the network. `fix` is the advice when files are missing offline. A file gets into `folder` only
    after its sha256 was verified.
    """

    address: str
    pins: Mapping[str, str]
    folder: Path
    offline: bool = False
    fix: str = "Run once without --offline."

    @classmethod
    def of(cls, name: str, address: str, pins: Mapping[str, str], options: DataOptions) -> PinnedFiles:
        """Return files that are stored in the user's cache as `name`, and fetched if the dataset's options allow it."""
        return cls(address, pins, options.cache / "data" / name, options.offline, offline_fix(options))

    def fetch(self, paths: Iterable[str] | None = None) -> Path:
        """Fetch those of the files (None: all) that are missing or altered, and return `folder`.

        Existing files stay if another one fails. Raises DataError for a file that cannot be fetched or is not the
        pinned one, and if files are missing and the network is forbidden.
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
        download(self.address.rstrip("/") + "/" + quote(path), self.pins[path], self.folder / path, _MAX_PINNED_BYTES)
