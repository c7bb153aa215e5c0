"""A plugin as a third party writes it, against `creval.plugin` alone: task, scorer, baseline, analysis, command."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from support.forked import finished
from support.toy_plugins import write_distribution

ENTRY = """
from pathlib import Path

from creval.plugin import hookimpl, params


@hookimpl
def creval_tasks():
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry):
    registry.add(
        "scorer",
        "vowels",
        "creval_vowels.parts:Vowels",
        "share of vowels",
        parameters=params.schema(least=params.integer(1)),
        produces=("vowels",),
    )
    registry.add("baseline", "all_vowels", "creval_vowels.parts:AllVowels", "nothing but vowels")
    registry.add("baseline", "no_vowels", "creval_vowels.parts:NoVowels", "no vowel")
    registry.add("analysis", "vowels", "creval_vowels.compare:Compare", "Share of vowels, by model.")


@hookimpl
def creval_commands():
    return {"count": "creval_vowels.command:count"}
"""
PARTS = """
from creval.plugin import Score


class Vowels:
    def __init__(self, least: int = 1) -> None:
        self.least = least

    def score(self, items, context):
        return [self.of(item.value) for item in items]

    def of(self, text):
        letters = [letter for letter in text.lower() if letter.isalpha()]
        if len(letters) < self.least:
            return Score({}, failure="too few letters")
        return Score({"vowels": sum(letter in "aeiou" for letter in letters) / len(letters)})


class AllVowels:
    def reply(self, turn):
        return "aeiou"


class NoVowels:
    def reply(self, turn):
        return "xyz"
"""
COMPARE = """
from pathlib import Path

from creval.plugin import AnalysisOutput, FieldSpec, open_runs
from creval.plugin.report import write_csv


class Compare:
    def options(self):
        return (FieldSpec("output", "file", None, "A CSV file."),)

    def run(self, runs, **options):
        rows = []
        for run in open_runs(runs):
            values = [score.scores["vowels"] for score in run.scores(status="scored")]
            rows.append((run.model, len(values), sum(values) / len(values)))
        columns = ("model", "answers", "vowels")
        files = [str(write_csv(Path(options["output"]), columns, rows))] if options.get("output") else []
        return AnalysisOutput("Vowels", columns, rows, files=files)
"""
COMMAND = """
import click

from creval_analyses.options import command_options, open_workbench, part_options


@click.command(epilog="Example: creval vowels count vowels")
@click.argument("task")
@command_options(part_options(resources=True))
def count(task, **given):
    \"\"\"Count the docs of TASK.\"\"\"
    with open_workbench(given) as bench:
        click.echo(f"{sum(1 for _ in bench.docs([task]))} docs")
"""
TASK = """
schema: 1
task: vowels
version: 1.0.0
title: Words of many vowels
dataset: {source: package, file: words.jsonl, id: word}
prompt:
  - {role: user, content: "A word like {{ word }} with many vowels."}
parse: text
score: {vowels: {least: 2}}
metrics:
  - {name: vowels, failed: zero}
baselines: {floor: no_vowels, ceiling: all_vowels}
tests:
  - {name: gold, baseline: ceiling, status: scored, scores: {vowels: 1}}
  - {name: floor, baseline: floor, status: scored, scores: {vowels: 0}}
  - {name: half, answer: "ab", status: scored, scores: {vowels: 0.5}}
  - {name: empty, answer: "!", status: unparsed}
"""
MODULES = {"__init__": ENTRY, "parts": PARTS, "compare": COMPARE, "command": COMMAND}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the plugin is installed in."""
    site = tmp_path_factory.mktemp("site")
    modules = {f"creval_vowels/{name}.py": text for name, text in MODULES.items()}
    write_distribution(site, "creval-vowels", modules, {"vowels": "creval_vowels"})
    tasks = site / "creval_vowels" / "tasks"
    tasks.mkdir()
    (tasks / "vowels.yaml").write_text(TASK)
    (tasks / "words.jsonl").write_text('{"word": "queue"}\n{"word": "idea"}\n')
    return site


def creval(site: Path, folder: Path, *arguments: str, status: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site), "CREVAL_PLUGINS": "vowels"}
    done = finished(arguments, folder, environment, 300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_imports_nothing_else_of_creval() -> None:
    for text in MODULES.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                assert node.module == "pathlib" or str(node.module).startswith(("creval.plugin", "creval_analyses."))


def test_its_task_runs_and_its_analysis_reads_the_runs(site: Path, tmp_path: Path) -> None:
    assert "4 tests run" in creval(site, tmp_path, "validate", "vowels", "--tests")
    for name in ("floor", "ceiling"):
        creval(site, tmp_path, "--tasks", "vowels", "--model", f"baseline/{name}", "--output", name)
    shown = creval(site, tmp_path, "analyse", "vowels", "floor", "ceiling", "--json", "--output", "all.csv")
    assert json.loads(shown)["rows"] == [["baseline/floor", 2, 0.0], ["baseline/ceiling", 2, 1.0]]
    assert (tmp_path / "all.csv").read_text() == "model,answers,vowels\nbaseline/floor,2,0.0\nbaseline/ceiling,2,1.0\n"
    assert "named twice" in creval(site, tmp_path, "analyse", "vowels", "floor", "./floor", status=2)


def test_its_command_has_the_options_of_creval(site: Path, tmp_path: Path) -> None:
    assert creval(site, tmp_path, "vowels", "count", "vowels") == "2 docs\n"
    assert "--resource" in creval(site, tmp_path, "vowels", "count", "--help")
