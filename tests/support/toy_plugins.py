"""Small plugins for tests: a registry with a few components, and real distributions written to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from creval.plugins import builtin
from creval.plugins.loader import PluginInfo, Plugins
from creval.plugins.registry import Registry
from creval.types.sample import Doc
from creval_datasets import plugin as hub_datasets

__all__ = ["Letters", "sound_task", "toy_plugins", "toy_registry", "write_distribution", "write_task"]

HERE = "support.toy_plugins"


class Letters:
    """A generator of docs a0, a1, ..."""

    def __init__(self, count: int = 3, letter: str = "a") -> None:
        self._count = count
        self._letter = letter

    def docs(self) -> Iterable[Doc]:
        return [Doc(f"{self._letter}{i}", {"word": self._letter * (i + 1)}) for i in range(self._count)]


def listed_rows(words: Sequence[str], *, base: Path, options: Any) -> list[dict[str, str]]:
    """A source that returns a plain list."""
    return [{"word": word} for word in words]


def failing_source(*, base: Path, options: Any) -> None:
    """A source with a bug."""
    raise ZeroDivisionError("division by zero")


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def toy_registry() -> Registry:
    """The core's real sources, and names of everything else that a task can use."""
    registry = Registry()
    core = registry.scoped("core")
    builtin.register_sources(core)
    hub_datasets.creval_components(core)
    count = {"type": "integer", "minimum": 1}
    core.add("protocol", "chat", f"{HERE}:Letters", prompts=("prompt",))
    core.add(
        "protocol",
        "chain",
        f"{HERE}:Letters",
        parameters=_object(rounds={**count, "x-condition": True}),
        provides=("story",),
    )
    core.add("parser", "json_array", f"{HERE}:Letters", parameters=_object(items={"enum": ["any", "string"]}))
    core.add("parser", "words", f"{HERE}:Letters", parameters=_object(limit=count, unique={"type": "boolean"}))
    core.add(
        "parser",
        "regex",
        f"{HERE}:Letters",
        parameters=_object("pattern", pattern={"type": "string"}),
        positional="pattern",
    )
    core.add(
        "parser",
        "either",
        f"{HERE}:Letters",
        parameters=_object("of", of={"type": "array", "items": {"x-component": "parser"}}),
    )
    core.add("aggregation", "mean", f"{HERE}:Letters")
    core.add("aggregation", "pass_at_k", f"{HERE}:Letters", parameters=_object("k", k=count), positional="k")
    utility = {"enum": ["min", "mean", "max"]}
    quantile = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    core.add(
        "scorer",
        "length",
        f"{HERE}:Letters",
        produces=("length",),
        parameters=_object(unit={"enum": ["words", "letters"]}),
    )
    core.add("scorer", "fields", f"{HERE}:Letters", produces=("*",), parameters=_object(names={"type": "array"}))
    core.add(
        "scorer",
        "drat",
        f"{HERE}:Letters",
        produces=("drat", "survivors"),
        uses=("embedding",),
        parameters=_object(utility=utility, quantile=quantile),
    )
    core.add("scorer", "judged", f"{HERE}:Letters", produces=("grade",), waits=True, roles=("judge",))
    core.add("baseline", "random_words", f"{HERE}:Letters")
    core.add("baseline", "greedy", f"{HERE}:Letters", parameters=_object(width=count))
    core.add("embedding", "sentence-transformers", f"{HERE}:Letters")
    core.add("embedding", "glove", f"{HERE}:Letters")
    core.add(
        "generator",
        "letters",
        f"{HERE}:Letters",
        parameters=_object(count=count, letter={"type": "string", "maxLength": 1}),
    )
    core.add("source", "listed", f"{HERE}:listed_rows", parameters=_object("words", words={"type": "array"}))
    core.add("source", "failing", f"{HERE}:failing_source")
    return registry


def toy_plugins(folders: Sequence[tuple[str, Path]] = (), registry: Registry | None = None) -> Plugins:
    """Plugins with the toy registry and the given task folders (plugin name, folder)."""
    infos = [
        PluginInfo(name, f"creval-{name}", "1.2.0", f"creval_{name}", "", folder.parent) for name, folder in folders
    ]
    return Plugins(registry=registry or toy_registry(), infos=infos, task_folders=tuple(folders))


def sound_task(**changes: str | None) -> str:
    """The text of a task without faults; each change replaces the lines of a top-level key (None: leaves it out)."""
    sections: dict[str, str | None] = {
        "schema": "schema: 1",
        "task": "task: toy",
        "version": "version: 1.0.0",
        "title": "title: A toy task",
        "dataset": "dataset: {source: file, file: docs.jsonl}",
        "prompt": "prompt:\n  - {role: user, content: 'Say {{ word }}'}",
        "parse": "parse: json_array",
        "score": "score: length",
        "metrics": "metrics:\n  - {name: length, failed: zero}",
    }
    sections.update(changes)
    return "\n".join(dedent(text).strip("\n") for text in sections.values() if text is not None) + "\n"


def write_task(
    folder: Path, name: str = "toy.yaml", docs: str = '{"word": "a"}\n{"word": "b"}\n', **changes: str | None
) -> Path:
    """Write a sound task with changes, and its data file next to it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "docs.jsonl").write_text(docs, encoding="utf-8")
    file = folder / name
    file.write_text(sound_task(**changes), encoding="utf-8")
    return file


def write_distribution(
    site: Path,
    name: str,
    modules: Mapping[str, str],
    entry_points: Mapping[str, str],
    requires: Sequence[str] = ("creval>=0.1,<1",),
    version: str = "1.2.0",
) -> None:
    """Write an installed distribution: its modules and its dist-info folder with entry points and metadata."""
    for file, text in modules.items():
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text), encoding="utf-8")
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    header = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    (info / "METADATA").write_text(f"{header}\nA description\nRequires-Dist: creval>=99\n", encoding="utf-8")
    points = "".join(f"{plugin} = {target}\n" for plugin, target in entry_points.items())
    (info / "entry_points.txt").write_text(
        f"[console_scripts]\ncreval = nothing:main\n\n[creval]\n{points}\n[other]\nx = y\n"
    )
