"""`creval score-file TASK FILE.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval.plugin.commands import FilePath, NewPath, read_roles, texts

if TYPE_CHECKING:
    from creval_people.score_table import PersonResult

__all__ = ["score_file"]

SCORES = "scores.csv"


@click.command("score-file", epilog="Example: creval score-file rat answers.csv --output runs/study")
@click.argument("task")
@click.argument("file", type=FilePath())
@click.option("--resource", multiple=True, metavar="NAME=R", help="Another resource, e.g. embedding=embedded/minilm.")
@click.option("--role", multiple=True, metavar="ROLE=M", help="Model of a role, e.g. judge=openai/gpt-5-mini.")
@click.option("--offline", is_flag=True, help="Do not use the network.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop each participant's scoring at this cost.")
@click.option("--trust-remote-code", is_flag=True, help="Allow encoders to run code from their own repository.")
@click.option("--output", "-o", type=NewPath(), metavar="FOLDER", help="Folder for the scores (default: next to FILE).")
def score_file(
    task: str, file: Path, resource: Sequence[str], role: Sequence[str], output: Path | None, **given: Any
) -> None:
    """Score answers that people gave to TASK on paper or in a survey, from a spreadsheet saved as CSV.

    FILE has a row per answer, with the columns participant, doc (the item), and answer or word1, word2 ... FOLDER
    then contains scores.csv, with one row per participant, and a run for each participant.
    """
    from creval.plugin.people import RunOptions, visible
    from creval_people.score_table import score_table

    folder = output or file.with_name(f"{file.stem}-{task.rpartition('/')[2]}")
    roles, resources = read_roles(role), texts(resource, "--resource")
    options = RunOptions(output=folder, roles=roles, resources=resources, **given)
    table, results = score_table(task, file, options, lambda person: click.echo(visible(person), err=True))
    written = _write(folder / SCORES, results, table.separator)
    answers = sum(result.answered for result in results)
    click.echo(f"{_many(len(results), 'participant')}, {_many(answers, 'answer')}: {written}")


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _write(path: Path, results: Sequence[PersonResult], separator: str) -> Path:
    """Write a row per participant, with the file's separator and the matching decimal sign."""
    from creval.plugin.report import write_text

    heads, rows = _rows(results)
    lines = [separator.join(_cell(cell, separator) for cell in row) for row in [heads, *rows]]
    return write_text(path, "\ufeff" + "\r\n".join([*lines, ""]))


def _rows(results: Sequence[PersonResult]) -> tuple[list[str], list[list[Any]]]:
    (first,) = results[0].finished.results["tasks"]
    metrics = [metric["name"] for metric in first["metrics"] if metric["condition"] is None]
    statuses = ("scored", "unparsed", "errored")
    heads = ["participant", "answers", *statuses, *metrics]
    rows = []
    for result in results:
        (part,) = result.finished.results["tasks"]
        values = {metric["name"]: metric["value"] for metric in part["metrics"] if metric["condition"] is None}
        counts = [part["counts"][status] for status in statuses]
        rows.append([result.person, result.answered, *counts, *(values.get(name) for name in metrics)])
    return heads, rows


def _cell(value: Any, separator: str) -> str:
    if value is None:
        return ""
    text = repr(value) if isinstance(value, float) else str(value)
    if isinstance(value, float) and separator == ";":
        return text.replace(".", ",")
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(mark in text for mark in (separator, '"', "\n")) else text
