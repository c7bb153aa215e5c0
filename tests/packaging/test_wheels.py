"""Every distribution, built sdist -> wheel and installed beside nothing of the source tree, still finds its parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
SOURCES = [ROOT, *PLUGINS]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build each distribution as a user would: the wheel is made from the sdist, not from the tree."""
    built = {}
    for source in SOURCES:
        out = tmp_path_factory.mktemp("dist")
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        built[source.name if source != ROOT else "core"] = next(out.glob("*.whl"))
    return built


@pytest.fixture(scope="module")
def site(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels unpacked as pip would; dependencies come from this environment's packages."""
    target = tmp_path_factory.mktemp("site")
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    return target


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m creval` from the unpacked wheels: no .pth file, so no editable install, is in reach."""
    packages = sysconfig.get_paths()["purelib"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(site), "PYTHONPATH": f"{site}{os.pathsep}{packages}"}
    bare = [sys.executable, "-S", "-m", "creval", *arguments]
    return subprocess.run(bare, capture_output=True, text=True, cwd=site, env=environment, timeout=120)


def test_every_task_of_the_tree_is_found_in_the_wheels(site: Path) -> None:
    done = run(site, "ls", "--json")
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert all(Path(item["file"]).is_relative_to(site) for item in listed)
    found = {(item["plugin"], Path(item["file"]).name) for item in listed}
    for folder in (ROOT / "task_yaml").iterdir():
        for file in folder.glob("*.yaml"):
            if folder.name != "suites" and not file.name.startswith("_"):
                assert (folder.name, file.name) in found


def test_no_plugin_fails_to_load_from_its_wheel(site: Path) -> None:
    done = run(site, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["failures"] == []
    assert {plugin.name for plugin in PLUGINS} <= {item["name"] for item in answer["plugins"]}


def test_the_core_wheel_carries_schemas_types_and_licence(wheels: dict[str, Path]) -> None:
    names = zipfile.ZipFile(wheels["core"]).namelist()
    for schema in (ROOT / "schemas").glob("*.json"):
        assert f"creval/schemas/{schema.name}" in names
    assert "creval/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.parametrize("plugin", [path.name for path in PLUGINS])
def test_a_plugin_wheel_holds_no_tests_and_is_typed(wheels: dict[str, Path], plugin: str) -> None:
    names = zipfile.ZipFile(wheels[plugin]).namelist()
    assert f"creval_{plugin}/py.typed" in names
    assert not any("/tests/" in name or name.startswith("tests/") for name in names)


def test_no_distribution_names_another_folder_of_the_tree(wheels: dict[str, Path]) -> None:
    for wheel in wheels.values():
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith((".py", ".yaml", ".md", "METADATA")):
                    assert str(ROOT).encode() not in archive.read(name), name
