"""Writes registry/<plugin>.yaml for the plugins of this tree: python tools/make_registry.py [PLUGIN...]."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from creval.plugins.loader import CORE, Plugins, load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.task_paths import TaskFile

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/creval/creval"


def entries(names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each plugin of the tree with what its entry says."""
    plugins = load_plugins()
    index = TaskIndex(plugins)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    for file in sorted((ROOT / "plugins").glob("*/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        (name,) = project["entry-points"]["creval"]
        if names and name not in names:
            continue
        resources = examined_with(file.parent)
        heads = [each for each in index.headers() if each.plugin == name and each.kind == "task"]
        yield (
            name,
            {
                "schema": 1,
                "plugin": name,
                "package": project["name"],
                "version": project["version"],
                "repository": REPOSITORY,
                "commit": head.stdout.strip(),
                "licence": project["license"],
                "title": project["description"],
                **({"needs": needs_of(name, resources, plugins), "resources": resources} if resources else {}),
                "tasks": {each.name: task(index.load(TaskFile(each.file, each.variant))) for each in heads},
            },
        )


def examined_with(folder: Path) -> dict[str, str]:
    """Return the resources with which the plugin's own tests examine it by the rules."""
    file = folder / "tests" / "test_conformance.py"
    tree = ast.parse(file.read_text(encoding="utf-8") if file.is_file() else "")
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "conformance"
    ]
    stated = {keyword.arg: ast.literal_eval(keyword.value) for call in calls for keyword in call.keywords}
    found: dict[str, str] = stated.get("resources", {})
    return found


def needs_of(plugin: str, resources: Mapping[str, str], plugins: Plugins) -> list[str]:
    """Return the packages that bring these resources, and those that hold the weights of encoders among them."""
    packages: list[str] = []
    for kind, spec in resources.items():
        family, _, model = spec.partition("/")
        owner = plugins.info(plugins.registry.get(kind, family).plugin)
        if owner is not None and owner.name not in (CORE, plugin):
            packages.append(owner.distribution)
            about = tomllib.loads((ROOT / "plugins" / owner.name / "pyproject.toml").read_text(encoding="utf-8"))
            required = [each.partition(">")[0] for each in about["project"]["dependencies"]]
            packages += [each for each in required if each.startswith("creval-")]
            packages += about["project"].get("optional-dependencies", {}).get(model, [])
    return list(dict.fromkeys(packages))


def task(found: Any) -> dict[str, Any]:
    """Return what an entry says of a task."""
    said = {"version": found.version, "hash": found.hash}
    if found.source.paper:
        said["paper"] = found.source.paper
    if "against" in found.parity:
        said["parity"] = dict(found.parity)
    return said


def main() -> None:
    """Write the entries."""
    schema = "# yaml-language-server: $schema=../schemas/registry.schema.json\n"
    for name, entry in entries(sys.argv[1:]):
        text = yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=120)
        (ROOT / "registry" / f"{name}.yaml").write_text(schema + text, encoding="utf-8")
        print(f"registry/{name}.yaml: {len(entry['tasks'])} tasks")


if __name__ == "__main__":
    main()
