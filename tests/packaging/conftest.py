"""One set of wheels for all packaging tests, and places where they are installed next to nothing of the source tree."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.distributions import ROOT, SOURCES, project

from creval_testing.rules.package_rules import build_wheel

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def wheels() -> dict[str, Path]:
    """Each distribution, built as a user would: its wheel is made from its sdist, which lies next to it."""
    command = [sys.executable, "-m", "support.build_wheels", os.environ["CREVAL_WHEELS"], *map(str, SOURCES.values())]
    subprocess.run(command, cwd=ROOT / "tests", check=True, capture_output=True)
    return {name: build_wheel(source, project(name)["name"]) for name, source in SOURCES.items()}


@pytest.fixture(scope="session")
def unpacked(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each wheel unpacked by itself, as pip lays it out."""
    folder = tmp_path_factory.mktemp("unpacked")
    for name, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / name)
    return {name: folder / name for name in wheels}


@pytest.fixture(scope="session")
def third_party(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of this environment without anything of creval: links to each."""
    folder = tmp_path_factory.mktemp("third-party")
    own = Path(sysconfig.get_paths()["purelib"])
    below = [Path(path) for path in sys.path if Path(path).name == own.name and Path(path) != own]  # by a .pth file
    for entry in (entry for packages in (own, *below) for entry in packages.iterdir()):
        ours = entry.name.lower().startswith(("creval", "_creval", "_editable_impl_creval", "__editable__"))
        if not ours and not (folder / entry.name).is_symlink():
            (folder / entry.name).symlink_to(entry)
    return folder


@pytest.fixture
def run(unpacked: dict[str, Path], third_party: Path, tmp_path: Path) -> Run:
    """Run a module of the named wheels: no .pth file, so no editable install, is in reach."""

    def started(names: Sequence[str], *arguments: str, more: Sequence[Path] = ()) -> subprocess.CompletedProcess[str]:
        path = [*(unpacked[name] for name in names), *more, third_party]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(map(str, path))}
        bare = [sys.executable, "-S", "-m", *arguments]
        return subprocess.run(bare, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120)

    return started
