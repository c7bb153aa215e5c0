"""docs/papers: each table and figure of a paper has a row, with commands that parse or the reason why there is none."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from creval.cli.root import cli
from creval.errors import UnknownNameError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

pytestmark = pytest.mark.filterwarnings("ignore:'protected_args' is deprecated:DeprecationWarning")
ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "docs" / "papers"
SUITES = {"000": "create", "001": "neocoder", "002": "kumo", "003": "association", "004": "openended"}
FIGURES = {"000": 9, "001": 9, "002": 6, "003": 11, "004": 21}
TABLES = {"000": 18, "001": 5, "002": 0, "003": 6, "004": 20}
CODE = re.compile(r"`(creval [^`]+)`")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES = re.compile(r"[\w/]+\.(csv|tsv|jsonl|json|yaml)")


def text_of(page: str) -> str:
    return (PAPERS / f"{page}.md").read_text(encoding="utf-8")


def rows_of(page: str) -> list[list[str]]:
    lines = [line for line in text_of(page).splitlines() if line.startswith("|")]
    assert lines[0] == "| paper | content | command | remark |"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def commands_of(page: str) -> list[str]:
    blocks = [line for body in BLOCK.findall(text_of(page)) for line in body.splitlines() if line.strip()]
    assert all(line.startswith("creval ") for line in blocks)
    return [*blocks, *(found for row in rows_of(page) for found in CODE.findall(row[2]))]


def parsed(words: list[str]) -> click.Context:
    """The context of the command that is meant; nothing is run. Raises click.UsageError."""
    context = cli.make_context("creval", list(words))
    command: click.Command = cli
    while isinstance(command, click.Group) and (rest := [*context.protected_args, *context.args]):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None, name
        command = found
        context = command.make_context(name, rest, parent=context)
    return context


def test_each_paper_has_its_page_and_suite() -> None:
    assert {file.stem for file in PAPERS.glob("*.md")} == set(SUITES)
    index = TaskIndex(load_plugins())
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page, name in SUITES.items():
        assert f"papers/{page}.md" in listed
        assert f"creval --tasks paper_{name} " in text_of(page)
        assert index.expand([f"paper_{name}"])


@pytest.mark.parametrize("page", SUITES)
def test_every_row_names_a_command_or_a_reason(page: str) -> None:
    rows = rows_of(page)
    assert all(len(row) == 4 for row in rows)
    names = [row[0] for row in rows]
    assert len(names) == len(set(names))
    for kind, last in (("Figure", FIGURES[page]), ("Table", TABLES[page])):
        numbers = {int(number) for name in names for number in re.findall(rf"^{kind} (\d+)", name)}
        assert numbers == set(range(1, last + 1)), f"{kind}s: a row is missing, or is of none that the paper has"
    for paper, content, command, remark in rows:
        assert content, paper
        assert CODE.search(command) or (not command and len(remark) > 20), paper
        assert CODE.sub("", command).strip(" ,") == "", f"{paper}: a command that is none"


@pytest.mark.parametrize("page", SUITES)
def test_every_command_parses_and_names_what_there_is(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    index = TaskIndex(load_plugins())
    commands = commands_of(page)
    assert commands
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        for word in words:
            if word.startswith("runs/"):
                Path(word).mkdir(parents=True, exist_ok=True)
            elif FILES.fullmatch(word) and words[words.index(word) - 1] != "--output":
                Path(word).parent.mkdir(parents=True, exist_ok=True)
                Path(word).write_text("")
        try:
            parsed(words)
        except click.ClickException as error:
            pytest.fail(f"{command}: {error.format_message()}")
        if "--tasks" in words:
            assert index.expand(words[words.index("--tasks") + 1].split(",")), command
        if words[0] == "show":
            assert index.load(words[1]), command
        if "--suite" in words:
            assert index.expand([words[words.index("--suite") + 1]]), command
        if "--task" in words:
            assert index.load(words[words.index("--task") + 1]), command


@pytest.mark.parametrize("page", SUITES)
def test_every_number_that_the_paper_names_has_a_row(page: str, reference_data: Path) -> None:
    """The greatest number in the paper's text is the last of the rows; what has no caption there says so."""
    found = list((reference_data.parent / "papers").glob(f"{page}_*.txt"))
    if not found:
        pytest.skip(f"the text of arXiv: paper {page} is not there")
    text = found[0].read_text(encoding="utf-8")
    for kind, name, last in (("Figure", r"Fig(?:ure)?", FIGURES[page]), ("Table", "Tables?", TABLES[page])):
        named = {int(number) for number in re.findall(rf"\b{name}\.? ?[\[(]?(\d{{1,2}})(?!\d)", text)}
        assert max(named, default=0) == last, kind
        unnamed = {f"{kind} {number}" for number in set(range(1, last + 1)) - named}
        said = {row[0] for row in rows_of(page) if "has no caption of this" in row[3]}
        assert {row for row in said if row.startswith(kind)} == unnamed


def test_a_command_with_an_unknown_option_does_not_parse() -> None:
    with pytest.raises(click.UsageError):
        parsed(["analyse", "create-table", "runs/mine", "--variety", "released"])
    with pytest.raises(UnknownNameError):
        parsed(["analyse", "create-tables", "runs/mine"])
