"""The wheel of an installed distribution: what is recorded of it, or one built from its source folder."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["WHEELS", "NoSourceError", "build_wheel", "installed_files", "wheel_of"]

WHEELS = "CREVAL_WHEELS"
"""The variable that names a folder for wheels, so that none is built twice."""


class NoSourceError(Exception):
    """There is neither a wheel nor a folder to build one from."""


def installed_files(distribution: str) -> set[str] | None:
    """Return the files that were installed from a wheel; None where the distribution points to a folder (editable)."""
    from importlib.metadata import files

    listed = files(distribution)
    names = {file.as_posix() for file in listed or ()}
    return None if _source(distribution) is not None or not names else names


def wheel_of(distribution: str) -> Path:
    """Return the wheel of a distribution that is installed from its folder. Raises NoSourceError.

    It is built (by way of its sdist, where the package `build` is installed) into the folder that CREVAL_WHEELS names,
    and only where it is not there yet; without the variable into a new folder.
    """
    source = _source(distribution)
    if source is None:
        raise NoSourceError(f"{distribution} was installed neither from a wheel nor from a folder")
    return build_wheel(source, distribution)


def build_wheel(source: Path, distribution: str) -> Path:
    """Build a folder's wheel as `wheel_of` says. Raises NoSourceError where the build fails."""
    target = Path(os.environ.get(WHEELS) or tempfile.mkdtemp(prefix="creval-wheel-"))
    target.mkdir(parents=True, exist_ok=True)
    stem = distribution.replace("-", "_").lower()
    with (target / f"{stem}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of one test session ask at once
        for found in sorted(target.glob(f"{stem}-*.whl"), reverse=True):
            return found
        _build(source, target)
    return next(target.glob(f"{stem}-*.whl"))


def _build(source: Path, target: Path) -> None:
    by_sdist = importlib.util.find_spec("build") is not None
    build = ["build", "--outdir", str(target)] if by_sdist else ["pip", "wheel", "--no-deps", "-w", str(target)]
    # First with the build back end of this environment, so that nothing is fetched.
    for isolation in (["--no-isolation"] if by_sdist else ["--no-build-isolation"], []):
        command = [sys.executable, "-m", *build, *isolation, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    raise NoSourceError(f"building {source} failed: {(done.stdout + done.stderr).strip()[-800:]}")


def _source(distribution: str) -> Path | None:
    """Return the folder that an editable installation points to."""
    from importlib.metadata import distribution as find

    text = find(distribution).read_text("direct_url.json")
    about = json.loads(text) if text else {}
    if not about.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(about["url"]).path))
