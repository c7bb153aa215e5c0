"""Distributions in combination: every one loads whole; and their requirements on each other hold."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.distributions import PLUGINS, ROOT, project

from creval.plugins.distributions import satisfies


def requirements(name: str) -> dict[str, str]:
    """The versions of our own distributions that a distribution requires, by package."""
    ours = [each.split("#")[0].strip() for each in project(name)["dependencies"] if each.startswith("creval")]
    return {each[: each.index(">")].strip(): each[each.index(">") :] for each in ours}


Rows = dict[tuple[str, ...], dict[str, Any]]


@pytest.fixture(scope="module")
def combinations(unpacked: dict[str, Path], third_party: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """What the sets of plugins in `plugin_sets` give, as wheels next to the core's."""
    folder = tmp_path_factory.mktemp("combined")
    (folder / "wheels").mkdir()
    for name in PLUGINS:
        (folder / "wheels" / name).symlink_to(unpacked[name])
    path = os.pathsep.join(map(str, (unpacked["core"], third_party)))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": path}
    script, task = Path(__file__).parent / "plugin_sets.py", ROOT / "examples" / "tasks" / "questions.yaml"
    needed = {name: [each for each in requirements(name) if each != "creval"] for name in PLUGINS}
    command = [sys.executable, "-S", str(script), str(folder / "wheels"), str(task), "2", json.dumps(needed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return {tuple(row["names"]): row for row in map(json.loads, done.stdout.splitlines())}


def test_every_combination_loads_whole_and_lists_its_own_tasks(combinations: Rows) -> None:
    versions = {"core": project("core")["version"], **{name: project(name)["version"] for name in PLUGINS}}
    assert {(), *itertools.combinations(PLUGINS, 1), tuple(PLUGINS)} < combinations.keys()
    assert {tuple(each for each in PLUGINS if each != left_out) for left_out in PLUGINS} < combinations.keys()
    halves = [set(names) for names in combinations if 1 < len(names) < len(PLUGINS) - 1]
    for one, other in itertools.permutations(PLUGINS, 2):
        assert any({one, other} <= half for half in halves) and any(other not in half for half in halves if one in half)
    alone = {name: combinations[name,]["files"] for name in PLUGINS}
    folders = {name: combinations[name,]["folders"] for name in PLUGINS}
    for names, row in combinations.items():
        assert "error" not in row, (names, row)
        assert row["failures"] == row["problems"] == [], names
        assert row["plugins"] == {name: versions[name] for name in ("core", *names)}
        assert row["folders"] == sorted(folder for name in names for folder in folders[name]), names
        assert row["files"] == sorted(file for name in names for file in alone[name]), names
    assert all(f"/wheels/{name}/" in file for name, files in alone.items() for _, file in files)
    assert sum(map(len, alone.values())) > 50


def test_tasks_are_valid_in_every_combination(combinations: Rows) -> None:
    """Another task each time, of plugins that have what they require."""
    assert requirements("create").keys() == {"creval", "creval-analyses", "creval-datasets", "creval-embedded"}
    asked = [row for row in combinations.values() if row.get("valid")]
    assert len(asked) > 15 and all(row["valid"] == "no problems found\n" for row in asked)
    assert len({row["task"] for row in asked}) > 10


def test_the_command_lists_what_is_found(combinations: Rows) -> None:
    listing = {names: row["listed"].splitlines() for names, row in combinations.items() if "listed" in row}
    for names, lines in listing.items():
        plugins = {plugin for plugin, _ in combinations[names]["files"]}
        assert all(any(f" {plugin} " in line for line in lines) for plugin in plugins), names
        assert not any(f" {plugin} " in line for plugin in set(PLUGINS) - plugins for line in lines if " task " in line)


@pytest.mark.parametrize("name", PLUGINS)
def test_its_requirements_on_us_are_met_by_this_tree(name: str) -> None:
    about = project(name)
    versions = {"creval": project("core")["version"]}
    versions |= {f"creval-{other}": project(other)["version"] for other in PLUGINS}
    optional = [each for extra in about.get("optional-dependencies", {}).values() for each in extra]
    needed = {**requirements(name), **{each: each for each in optional if each.startswith("creval")}}
    assert "creval" in requirements(name)
    for package, wanted in needed.items():
        plain = package.split(">")[0].split("[")[0].strip()
        assert satisfies(versions[plain], wanted[wanted.index(">") :]), wanted
