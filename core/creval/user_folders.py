"""The folders that outlive runs: the user's state, and the cache.

The state consists of a key and the digests that this user trusts, in files that nobody else can read.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

__all__ = ["STATE_VARIABLE", "State", "cache_folder", "state_folder"]


STATE_VARIABLE = "CREVAL_STATE"

_KEY_BYTES = 32

_LOG = logging.getLogger("creval")


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the state folder: CREVAL_STATE, else `creval` in XDG_STATE_HOME or in the user's ~/.local/state."""
    configured = environment.get(STATE_VARIABLE)
    if configured:
        return Path(configured).expanduser()
    return Path(environment.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "creval"


class State:
    """The state folder. Files have the mode 0600, folders 0700. `fault` says why it could not be written, if so."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = state_folder() if folder is None else folder
        self.fault: str | None = None

    def key(self, make: bool) -> bytes | None:
        """Return the key of this installation, or None; with `make` a missing key is created."""
        key = self._read_file("key")
        if key is None and make and self._write("key", secrets.token_bytes(_KEY_BYTES)):
            key = self._read_file("key")  # another process may have been first
        return key if key is not None and len(key) == _KEY_BYTES else None

    def knows(self, digest: str) -> bool:
        """Whether this digest was trusted."""
        return self._read_file(f"trusted/{digest}") is not None

    def trust(self, digest: str, about: str) -> bool:
        """Record that a digest is trusted; `about` is for people who read the file. Return whether that worked."""
        return self.knows(digest) or self._write(f"trusted/{digest}", about.encode("utf-8", "backslashreplace"))

    def _read_file(self, name: str) -> bytes | None:
        path = self.folder / name
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode) or mode & 0o077:
                _LOG.warning("%s is not used: others can read it. Fix it: chmod 600 %s", path, path)
                return None
            return file.read(1 << 16)

    def _write(self, name: str, content: bytes) -> bool:
        """Create a file with its full content, unless it exists. Return whether it exists."""
        path = self.folder / name
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            _move_into_place(temporary, path)
        except OSError as error:
            self.fault = f"{self.folder} cannot be written ({error.strerror})"
            return False
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
        return True


def _move_into_place(file: Path, target: Path) -> None:
    """Move a file to its name, unless another process was first. Raises OSError."""
    try:
        os.link(file, target)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        file.rename(target)


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the cache folder: CREVAL_CACHE, else `creval` in XDG_CACHE_HOME or in the user's ~/.cache."""
    configured = environment.get("CREVAL_CACHE")
    if configured:
        return Path(configured).expanduser()
    return Path(environment.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "creval"
