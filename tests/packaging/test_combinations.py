"""Distributions in any combination: each alone, each pair, all; and their requirements on each other hold."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from creval.plugins.versions import satisfies

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = sorted(path.parent.name for path in (ROOT / "plugins").glob("*/pyproject.toml"))
COMBINATIONS = [(), *((name,) for name in PLUGINS), *itertools.combinations(PLUGINS, 2), tuple(PLUGINS)]
ONCE = """
import json, sys
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
plugins = load_plugins()
index = TaskIndex(plugins)
heads = index.headers()
print(json.dumps([[info.name for info in plugins.infos], [str(each) for each in plugins.failures],
                  [str(each) for each in index.problems()], len(heads)]))
"""


def project(name: str) -> dict[str, Any]:
    place = ROOT if name == "creval" else ROOT / "plugins" / name
    found: dict[str, Any] = tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]
    return found


@pytest.mark.parametrize("names", COMBINATIONS, ids=lambda names: "+".join(names) or "core")
def test_a_combination_loads_whole(names: tuple[str, ...], run: Any, tmp_path: Path) -> None:
    (tmp_path / "once.py").write_text(ONCE)
    done = run(["core", *names], "once", more=[tmp_path])
    assert done.returncode == 0, done.stderr
    infos, failures, problems, _ = json.loads(done.stdout)
    assert sorted(infos) == sorted(["core", *names])
    assert failures == problems == []


@pytest.mark.parametrize("name", PLUGINS)
def test_its_requirements_on_us_are_met_by_this_tree(name: str) -> None:
    about = project(name)
    versions = {"creval": project("creval")["version"]}
    versions |= {f"creval-{other}": project(other)["version"] for other in PLUGINS}
    optional = [each for extra in about.get("optional-dependencies", {}).values() for each in extra]
    needed = [each for each in [*about["dependencies"], *optional] if each.startswith("creval")]
    assert any(each.startswith("creval>") for each in about["dependencies"])
    for requirement in needed:
        package = requirement.split(">")[0].split("[")[0].strip()
        assert satisfies(versions[package], requirement[requirement.index(">") :]), requirement
