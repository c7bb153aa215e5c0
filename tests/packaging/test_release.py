"""A release is one command that refuses what is no release."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from support.distributions import PLUGINS, SOURCES

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A clean repository with a core and a plugin."""
    for folder, name in ((tmp_path, "creval"), (tmp_path / "plugins" / "toy", "creval-toy")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text(f'[project]\nname = "{name}"\nversion = "0.2.0"\n')
        (folder / "CHANGELOG.md").write_text("# Changelog\n\n## [0.2.0] - Unreleased\n\n- New.\n")
    for command in (["init", "-q"], ["config", "user.email", "a@b.c"], ["config", "user.name", "A"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "x"], cwd=tmp_path, check=True)
    return tmp_path


def test_a_release_dates_its_changelog_and_tags_once(release: ModuleType, tree: Path) -> None:
    assert release.faults("creval-toy", "0.2.0", tree) == []
    assert release.tag("creval-toy", "0.2.0", tree) == "creval-toy-v0.2.0"
    assert "Unreleased" not in (tree / "plugins" / "toy" / "CHANGELOG.md").read_text()
    assert "Unreleased" in (tree / "CHANGELOG.md").read_text()  # another distribution
    assert release.git(tree, "status", "--porcelain") == ""
    (fault,) = release.faults("creval-toy", "0.2.0", tree)
    assert "stands already" in fault


def test_what_is_refused(release: ModuleType, tree: Path) -> None:
    assert len(release.faults("creval-toy", "0.3.0", tree)) == 2  # neither stated nor in the changelog
    (tree / "new.txt").write_text("x")
    (fault,) = release.faults("creval", "0.2.0", tree)
    assert "not clean" in fault


def test_a_dry_release_of_every_distribution(release: ModuleType, wheels: dict[str, Path]) -> None:
    """What all tests of packaging have built, by the same build, is what a release looks at."""
    found = release.sources()
    assert set(found.values()) == {SOURCES[name] for name in ("core", *PLUGINS)}
    for name, folder in found.items():
        version = release._project(folder)["version"]
        assert not [fault for fault in release.faults(name, version) if "not clean" not in fault]
        wheel = wheels["core" if folder == ROOT else folder.name]
        (sdist,) = wheel.parent.glob(f"{wheel.name.split('-py3')[0]}.tar.gz")
        release.examine(folder, sdist, wheel)
        assert version in sdist.name and version in wheel.name


def test_a_build_makes_an_sdist_and_a_wheel_with_every_task(release: ModuleType, tmp_path: Path) -> None:
    sdist, wheel = release.build(SOURCES["embedded"], tmp_path / "out")
    assert sdist.name.endswith(".tar.gz") and wheel.name.endswith(".whl")
    with pytest.raises(SystemExit, match="lacks creval_kumo/tasks"):
        release.examine(SOURCES["kumo"], sdist, wheel)
