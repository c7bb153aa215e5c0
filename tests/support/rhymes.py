"""A small sound plugin, written as an installed distribution, and ways to break it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.toy_plugins import write_distribution

__all__ = ["PARTS", "PLUGIN", "TASK", "write_rhymes"]

PLUGIN = """
from pathlib import Path

from creval.plugin import hookimpl


@hookimpl
def creval_tasks():
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry):
    registry.add("scorer", "rhyme", f"{__package__}.parts:Rhyme", "whether it rhymes", produces=("rhyme",))
    registry.add("parser", "one_word", f"{__package__}.parts:OneWord", "a single word")
    registry.add("baseline", "same_end", f"{__package__}.parts:SameEnd", "a letter before the ending")
    registry.add("baseline", "any_word", f"{__package__}.parts:AnyWord", "a random word")
"""
PARTS = """
from creval.plugin import Parsed, Score


class Rhyme:
    def score(self, items, context):
        return [Score({"rhyme": float(item.value.endswith(item.doc["ending"]))}) for item in items]


class OneWord:
    def parse(self, text):
        return Parsed(text.strip()) if text.strip().isalpha() else Parsed.failure("no single word")


class SameEnd:
    def reply(self, turn):
        return "x" + turn.doc["ending"]


class AnyWord:
    def reply(self, turn):
        return "".join(turn.random.choice("bcdfg") for _ in range(5))
"""
TASK = """
schema: 1
task: NAME
version: 1.0.0
title: Words that rhyme
source: {url: "https://example.org/rhymes"}
dataset: {source: package, file: words.jsonl, id: word}
prompt:
  - {role: user, content: "A word that rhymes with {{ word }}."}
parse: one_word
score: rhyme
metrics:
  - {name: rhyme, failed: zero}
baselines: {floor: any_word, ceiling: same_end}
tests:
  - {name: gold, baseline: ceiling, status: scored, scores: {rhyme: 1}}
  - {name: other, answer: stone, status: scored, scores: {rhyme: 0}}
  - {name: chatty, answer: "I would rather not.", status: unparsed}
"""
DOCS = '{"word": "cat", "ending": "at"}\n{"word": "sun", "ending": "un"}\n'


def write_rhymes(site: Path, name: str, changes: Mapping[str, tuple[str, str]] = {}) -> str:
    """Write the plugin `name` to a site folder; each change (file: old, new) is made in one of its files.

    Files are `plugin`, `parts`, `task`, `docs`, `record` (which lists what the wheel held), `metadata` (its licence)
    and `requires` (what it needs).
    """
    package = f"creval_{name}"
    texts = {"plugin": PLUGIN, "parts": PARTS, "task": TASK.replace("NAME", name), "docs": DOCS}
    texts["record"] = "".join(
        f"{package}/{file},,\n" for file in ("__init__.py", "parts.py", f"tasks/{name}.yaml", "tasks/words.jsonl")
    )
    texts |= {"metadata": "License-Expression: MIT\n", "requires": "creval>=0.1,<1"}
    for file, (old, new) in changes.items():
        assert old in texts[file], f"nothing to change in {file}"
        texts[file] = texts[file].replace(old, new)
    modules = {f"{package}/__init__.py": texts["plugin"], f"{package}/parts.py": texts["parts"]}
    write_distribution(site, f"creval-{name}", modules, {name: package}, [texts["requires"]])
    tasks = site / package / "tasks"
    tasks.mkdir()
    (tasks / f"{name}.yaml").write_text(texts["task"].lstrip())
    (tasks / "words.jsonl").write_text(texts["docs"])
    info = next(site.glob(f"creval_{name}-*.dist-info"))
    (info / "RECORD").write_text(texts["record"])
    metadata = info / "METADATA"
    metadata.write_text(metadata.read_text().replace("Name:", f"{texts['metadata']}Name:", 1))
    return name
