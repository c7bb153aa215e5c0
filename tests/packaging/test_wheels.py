"""Every distribution, built sdist -> wheel and installed next to nothing of the source tree, still finds its parts."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.distributions import PLUGINS, ROOT

OURS = ["core", *PLUGINS]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_every_task_of_the_tree_is_found_in_the_wheels(run: Run, unpacked: dict[str, Path]) -> None:
    done = run(OURS, "creval", "ls", "--json")
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert all(Path(item["file"]).is_relative_to(unpacked[item["plugin"]]) for item in listed)
    found = {(item["plugin"], Path(item["file"]).name) for item in listed}
    for folder in (ROOT / "task_yaml").iterdir():
        for file in folder.glob("*.yaml"):
            if folder.name != "suites" and not file.name.startswith("_"):
                assert (folder.name, file.name) in found


def test_no_plugin_fails_to_load_from_its_wheel(run: Run) -> None:
    done = run(OURS, "creval", "plugins", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["failures"] == []
    assert set(PLUGINS) <= {item["name"] for item in answer["plugins"]}


def test_the_core_wheel_carries_schemas_types_and_licence(wheels: dict[str, Path]) -> None:
    names = zipfile.ZipFile(wheels["core"]).namelist()
    for schema in (ROOT / "schemas").glob("*.json"):
        assert f"creval/schemas/{schema.name}" in names
    assert "creval/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_of_the_templates_carries_each_file(wheels: dict[str, Path]) -> None:
    names = zipfile.ZipFile(wheels["testing"]).namelist()
    for task in (ROOT / "examples" / "tasks").iterdir():
        assert f"creval_testing/example_tasks/{task.name}" in names
    template = ROOT / "plugins" / "testing" / "creval_testing" / "plugin_template"
    for file in template.rglob("*.txt"):
        assert f"creval_testing/plugin_template/{file.relative_to(template).as_posix()}" in names
    for entry in (ROOT / "registry").glob("*.yaml"):
        assert f"creval_testing/entries/{entry.name}" in names


@pytest.mark.parametrize("plugin", PLUGINS)
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


def test_each_distribution_has_an_sdist_too(wheels: dict[str, Path]) -> None:
    for wheel in wheels.values():
        assert list(wheel.parent.glob(f"{wheel.name.split('-py3')[0]}.tar.gz")), wheel.name
