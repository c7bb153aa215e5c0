"""`creval[all]` installs every distribution of this repository, from wheels alone."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.distributions import PLUGINS, ROOT, project

ALL = {f"creval-{name}" for name in PLUGINS}


def test_the_extra_names_every_distribution_in_its_version() -> None:
    named = {
        requirement.name: requirement
        for requirement in map(Requirement, project("core")["optional-dependencies"]["all"])
    }
    assert set(named) == ALL
    for name in PLUGINS:
        own = project(name)
        assert named[own["name"]].specifier.contains(own["version"])


def test_readme_names_each_distribution_that_needs_no_service(tmp_path: Path) -> None:
    """The line for installing by hand has those that work by themselves; `make install` has the same ones."""
    line = re.search(r"pip install \. (.*?)\n```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert line is not None
    command = ["make", "--dry-run", "--no-print-directory", "demo", f"VENV={tmp_path / 'venv'}"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    made = re.search(r"-e '\.\[test.*? \|\| ", listed)
    assert made is not None
    by_hand = re.findall(r"plugins/([\w-]+)", line[1])
    assert by_hand == re.findall(r"-e '?plugins/([\w-]+)", made[0])
    assert set(by_hand) == set(PLUGINS) - {"ray", "trackio", "wandb"}


def absent() -> Iterator[Requirement]:
    """Yield what our distributions require from others and this environment lacks."""
    for name in ("core", *PLUGINS):
        for requirement in map(Requirement, project(name)["dependencies"]):
            if not requirement.name.startswith("creval"):
                try:
                    importlib.metadata.version(requirement.name)
                except importlib.metadata.PackageNotFoundError:
                    yield requirement


def write_empty_wheel(folder: Path, requirement: Requirement) -> None:
    """Write a wheel of this name without content, in the lowest version that is asked for."""
    version = next((each.version for each in requirement.specifier if each.operator in (">=", "==", "~=")), "1.0")
    stem = f"{requirement.name.replace('-', '_')}-{version}"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {requirement.name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.mark.wheels
def test_pip_resolves_all_of_it_from_local_wheels(wheels: dict[str, Path], third_party: Path, tmp_path: Path) -> None:
    """Packages of others come from this environment, absent ones as empty wheels; nothing of creval is there."""
    links = tmp_path / "links"
    links.mkdir()
    for name in ("core", *PLUGINS):
        (links / wheels[name].name).symlink_to(wheels[name])
    for requirement in absent():
        write_empty_wheel(links, requirement)
    report = tmp_path / "report.json"
    install = ["install", "--dry-run", "--quiet", "--no-index", "--find-links", str(links), "--report", str(report)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(third_party)}
    pip = [sys.executable, "-S", "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    done = subprocess.run(
        [*pip, *install, "creval[all]"], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = {each["metadata"]["name"]: each for each in json.loads(report.read_text())["install"]}
    assert {name for name in found if name.startswith("creval")} == {"creval", *ALL}
