"""Builds wheels by way of their sdists, all in one process: python build_wheels.py FOLDER SOURCE...

As `python -m build` does, which starts six processes for each. A wheel that is in the folder is not built again.
"""

from __future__ import annotations

import fcntl
import os
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

from hatchling.build import build_sdist, build_wheel

__all__ = ["build"]


def build(source: Path, folder: Path) -> None:
    """Build one; under the lock that `creval_testing` takes for it, too."""
    stem = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]["name"].replace("-", "_").lower()
    with (folder / f"{stem}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if any(folder.glob(f"{stem}-*.whl")):
            return
        os.chdir(source)
        sdist = folder / build_sdist(str(folder))
        with tempfile.TemporaryDirectory() as unpacked:
            with tarfile.open(sdist) as archive:
                archive.extractall(unpacked, filter="data")
            os.chdir(next(Path(unpacked).iterdir()))
            build_wheel(str(folder))
            os.chdir(source)


if __name__ == "__main__":
    for _source in sys.argv[2:]:
        build(Path(_source), Path(sys.argv[1]))
