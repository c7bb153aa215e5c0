"""The pages on tasks, data and plugins are true: no key is missing, and the plugin that they show works as printed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.commands import creval
from support.page_files import shown_files, write_plugin
from support.toy_plugins import toy_plugins

from creval.cli.root import cli
from creval.data.table_files import FORMATS
from creval.plugins.builtin import register
from creval.plugins.loader import load_plugins
from creval.plugins.registry import Component, Registry
from creval.tasks.index import TaskIndex
from creval.tasks.sections.settings import generation_settings
from creval.tasks.templates.environment import environment
from creval.tasks.yaml.schema import load_schema
from creval.tasks.yaml.yaml_reader import read_yaml_text
from creval.types.kinds import Kind
from creval_testing.check_files import check

DOCS = Path(__file__).resolve().parents[2] / "docs"
TASK_YAML = (DOCS / "task-yaml.md").read_text(encoding="utf-8")
PLUGINS = (DOCS / "plugins.md").read_text(encoding="utf-8")


def keys(*path: str) -> list[str]:
    """The keys of a part of the task's schema."""
    part: Any = load_schema("task")
    for step in path:
        part = part[step]
    return list(part["properties"])


@pytest.mark.parametrize(
    "named",
    [
        keys(),
        keys("$defs", "metric"),
        keys("$defs", "test"),
        keys("properties", "source"),
        list(generation_settings()),
        list(load_schema("suite")["properties"]),
        list(load_schema("suite")["properties"]["tasks"]["items"]["properties"]),
    ],
    ids=["task", "metric", "test", "source", "generation", "suite", "entry"],
)
def test_every_key_is_explained(named: list[str]) -> None:
    assert [key for key in named if f"`{key}`" not in TASK_YAML and f"`{key}:" not in TASK_YAML] == []


def test_the_filters_of_templates_are_those_listed() -> None:
    listed = re.search(r"There are the filters `([^`]*)`", TASK_YAML)
    assert listed is not None
    own = {name for name in environment().filters if not name.startswith("creval_")}
    assert set(listed[1].split()) == own - {"d", "e"}


def test_kinds_fields_and_formats_are_those_listed() -> None:
    kinds = Kind.__args__  # type: ignore[attr-defined]
    assert [kind for kind in kinds if f"`{kind}`" not in PLUGINS] == []
    reported = ("kind", "name", "target", "plugin", "summary", "traits")  # of the traits each has a row of its own
    fields = [name for name in Component.__dataclass_fields__ if name not in reported]
    assert [name for name in fields if f"`{name}`" not in PLUGINS] == []
    data = (DOCS / "data.md").read_text(encoding="utf-8")
    registry = Registry()
    register(registry.scoped("core"))
    assert [source for source in registry.names("source") if f"**`{source}`**" not in data] == []
    assert [ending for endings in FORMATS.values() for ending in endings if f"`{ending}`" not in data] == []


@pytest.mark.parametrize("page", ["task-yaml.md", "data.md", "plugins.md"])
def test_all_yaml_on_the_pages_is_yaml(page: str) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        problems = read_yaml_text(block, Path(page)).problems
        # The three ways to write a component are shown one below the other.
        assert all("occurs twice" in problem.message and problem.path == "parse" for problem in problems), block


def plugin_files() -> dict[str, str]:
    """The files of the plugin that the page shows."""
    return shown_files(PLUGINS.split("## A complete plugin")[1].split("Install it")[0])


def test_the_plugin_on_the_page_works(tmp_path: Path) -> None:
    files = plugin_files()
    assert len(files) == 5
    write_plugin(files, tmp_path)

    def shown(*arguments: str) -> str:
        done = creval(tmp_path, *arguments, PYTHONPATH=str(tmp_path), CREVAL_PLUGINS="alliteration")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert json.loads(shown("ls", "--json"))[0]["name"] == "alliteration"
    assert "3 tests run" in shown("validate", "alliteration", "--tests")
    shown("--tasks", "alliteration", "--model", "baseline/ceiling", "--output", "run")
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    (metric,) = results["tasks"][0]["metrics"]
    assert (metric["name"], metric["value"]) == ("alliteration", 1.0)


def test_the_page_is_short_where_it_says_so() -> None:
    code = "".join(text for name, text in plugin_files().items() if name.endswith(".py"))
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith(("import", "from"))]
    assert len(lines) <= 20


def test_the_first_task_on_the_page_is_sound_but_for_its_scorer(tmp_path: Path) -> None:
    block = re.search(r"^```yaml\n(.*?)^```$", TASK_YAML, re.MULTILINE | re.DOTALL)
    assert block is not None
    file = tmp_path / "alliteration.yaml"
    file.write_text(block[1])
    messages = {problem.message for problem in check([file], toy_plugins())}
    assert messages == {"unknown scorer 'alliteration'", "there is no data file 'data/letters.jsonl'"}


OURS = {"create": ("create", "create_published"), "kumo_easy": ("kumo", "kumo_published_easy")}
OURS["kumo_hard"] = ("kumo", "kumo_published_hard")


@pytest.mark.parametrize("name", OURS)
def test_data_of_our_own_are_called_so_in_the_first_line(name: str) -> None:
    """Of `creval show`, its description, the page and the distribution's README; the paper's task is named."""
    page, papers = OURS[name]
    shown = CliRunner().invoke(cli, ["show", name]).output.splitlines()
    first = [shown[0], " ".join(shown[2].split()).partition(". ")[0]]  # title and description
    for file in (DOCS / f"{page}.md", DOCS.parent / "plugins" / page / "README.md"):
        heading, _, text = file.read_text(encoding="utf-8").partition("\n\n")
        assert heading.startswith("# ")
        sentence = " ".join(text.split()).partition(". ")[0]
        assert f"`{name}`" in sentence and f"`{papers}`" in sentence, file
        first.append(sentence)
    for said in first:
        assert re.search(r"\bof our own\b", said, re.IGNORECASE) and papers in said, said


def test_a_set_of_the_hub_is_pinned_as_the_page_shows(tmp_path: Path) -> None:
    text = (
        (DOCS / "data.md")
        .read_text(encoding="utf-8")
        .partition("## The three sets of the Hub")[2]
        .partition("\n## ")[0]
    )
    assert "could not be looked up" in text
    newest = {"create/create_published", "openended/hypogen", "openended/bookmia"}
    index = TaskIndex(load_plugins())
    for name in newest:
        assert index.load(name).dataset.parameters["revision"] == "newest"
        assert f"`{name.partition('/')[2]}`" in text
    ((file, body),) = re.findall(r"^`(\w+\.yaml)`:\n\n```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / file).write_text(body)
    pinned = index.load(str(tmp_path / file))
    assert re.fullmatch("[0-9a-f]{40}", pinned.dataset.parameters["revision"])
    commands = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert {line.split()[1] for line in commands} == {"prefetch", "openended", "create", "--tasks"}
    for command in commands:
        said = CliRunner().invoke(cli, [*shlex.split(command)[1:], "--help"])
        assert said.exit_code == 0, said.output
