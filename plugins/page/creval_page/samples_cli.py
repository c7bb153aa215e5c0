"""`creval samples RUN` and `creval sample RUN KEY`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from creval.plugin.commands import FilePath, RunPath, complete_runs

__all__ = ["samples"]


_LONGEST = 60
"""Width of a text in a table, in columns of the terminal, without its ellipsis."""
_HIDDEN = ("task", "doc", "condition", "repeat", "route")
"""Columns that the table has only if --columns names them; the key contains the first four."""


@click.command(epilog="Example: creval samples runs/mine --status unparsed")
@click.argument("run", type=FilePath(), shell_complete=complete_runs)
@click.option("--task", metavar="T", help="Only this task.")
@click.option("--status", metavar="S", help="Only samples with this status, e.g. unparsed or errored.")
@click.option("--doc", metavar="ID", help="Only this doc.")
@click.option("--condition", metavar="C", help="Only this condition.")
@click.option("--text", metavar="WORDS", help="Only samples with these words in an answer.")
@click.option("--columns", metavar="NAMES", help="Columns, separated by commas: input,target,answer ...")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Rows shown in the table.")
@click.option("--json", "as_json", is_flag=True, help="Print all samples, one JSON line each.")
@click.option("--csv", "as_csv", is_flag=True, help="Print all samples as CSV; --docs reads such a file.")
def samples(run: Path, columns: str | None, limit: int, as_json: bool, as_csv: bool, **wanted: str | None) -> None:
    """List the samples of RUN: question, target, output, parsed answer, scores, tokens, cost.

    RUN can be the folder of a sweep; the column `run` then names the run. `answer` is what the parsers read from the
    `output`. The table shortens long texts, and is a list if it would be wider than 100 columns; --columns, --csv
    and --json override this.
    """
    import itertools

    from creval.plugin.page import csv_text, fits, json_text, visible
    from creval.plugin.report import print_table

    rows = _rows(run, wanted)
    if as_json:
        for row in rows:
            click.echo(json_text(row, indent=None))
        return
    listed = list(rows) if as_csv else list(itertools.islice(rows, limit))
    more = 0 if as_csv else sum(1 for _ in rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    if columns is not None:
        names = _chosen(columns, names)
    if as_csv:
        click.echo(csv_text(names, [[row.get(name) for name in names] for row in listed]), nl=False)
        return
    if not listed:
        asked = " ".join(f"--{name} {value}" for name, value in wanted.items() if value is not None)
        click.echo(visible(f"no sample fits {asked}" if asked else "no sample is finished yet"), err=True)
        return
    if columns is None:
        names = [name for name in names if name not in _HIDDEN]
        listed_costs = any(row.get("cost") for row in listed)
        names = [name for name in names if any(row.get(name) is not None for row in listed)]
        names = [name for name in names if name != "cost" or listed_costs]
    cells = [[_short(row.get(name)) for name in names] for row in listed]
    if columns is not None or fits(names, cells):
        print_table("", names, cells)
    else:
        for line in _entries(listed, names):
            click.echo(visible(line))
    if more:
        click.echo(f"and {more} more (--limit {len(listed) + more}, or --csv)", err=True)
    click.echo(visible(f"One of them whole: creval sample {listed[0].get('run', run)} '{listed[0]['key']}'"), err=True)


_LINE = 100
_OWN_LINES = ("input", "target", "answer", "output", "reason")
_FACTS = ("key", "status", "run", "input_tokens", "output_tokens", "cost", "seconds")


def _entries(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a list: for each sample its key, status, scores and cost, then the question and the answer."""
    from creval.plugin.page import cut

    scores = [name for name in names if name not in (*_OWN_LINES, *_FACTS)]
    for row in rows:
        said = [f"{name} {row[name]:g}" for name in scores if row.get(name) is not None]
        tokens = [row.get(name) for name in ("input_tokens", "output_tokens")]
        took = [f"{tokens[0] or 0:,}+{tokens[1] or 0:,} tokens"] if any(tokens) else []
        took += [f"${row['cost']:.5f}"] if row.get("cost") else []
        took += [f"{row['seconds']:.1f} s"] if row.get("seconds") else []
        parts = [row["key"], row["status"], ", ".join(said), ", ".join(took)]
        line, *more = _folded("   ".join(filter(None, map(str, parts))))
        yield line
        yield from (f"    {each}" for each in more)
        if "run" in row:
            yield f"  {'run':8}{cut(str(row['run']), _LINE - 10)}"
        for name in _OWN_LINES:
            if row.get(name) is not None:
                yield f"  {name:8}{cut(str(row[name]), _LINE - 10)}"


def _folded(line: str) -> list[str]:
    import textwrap

    return textwrap.wrap(line, _LINE - 4, break_on_hyphens=False, replace_whitespace=False, drop_whitespace=True)


def _rows(place: Path, wanted: Mapping[str, str | None]) -> Iterator[dict[str, Any]]:
    """Yield a row for each sample of a run, or of the runs in a folder, with the run's folder."""
    from creval.plugin import open_run
    from creval.plugin.page import expand_runs
    from creval_page.sample_views import Filter, seen_samples

    done, unfinished = expand_runs([place])
    for run in (found := [*done, *unfinished]):
        which = {"run": str(run)} if len(found) > 1 else {}
        for seen in seen_samples(open_run(run, as_stored=True), Filter(**wanted)):
            yield which | seen.to_row()


def _chosen(columns: str, known: Sequence[str]) -> list[str]:
    """Return the requested column names. Raises UnknownNameError for one that no sample has."""
    from creval.plugin import UnknownNameError

    names = [name.strip() for name in columns.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UnknownNameError("column", name, known, where="--columns")
    return names


def _short(value: object) -> object:
    """Return a text on one line, shortened if it is long."""
    from creval.plugin.page import cut

    return cut(value, _LONGEST + 1) if isinstance(value, str) else value


@click.command(epilog="Example: creval sample runs/mine w7")
@click.argument("run", type=RunPath(), shell_complete=complete_runs)
@click.argument("key")
@click.option("--thinking", is_flag=True, help="Also show the model's thinking.")
@click.option("--texts", is_flag=True, help="Include texts that are stored by reference; needs the task's data.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def sample(run: Path, key: str, thinking: bool, texts: bool, as_json: bool) -> None:
    """Print the sample KEY of RUN: messages, answers, how they were parsed, judges, scores.

    `creval samples RUN` lists the keys.
    """
    from creval.plugin import open_run
    from creval.plugin.page import json_text, visible
    from creval_page.sample_views import find_sample, judge_calls, transcript, with_texts

    opened = open_run(run, as_stored=True)
    found = find_sample(opened, key)
    found = with_texts(found, opened) if texts else found
    data = transcript(found, judge_calls(opened).get(found.sample.key, ()))
    if as_json:
        click.echo(json_text(data))
        return
    for kind, text in _lines(data, thinking):
        click.echo(click.style(visible(text), bold=kind == "head", dim=kind == "note"))


def _lines(data: Mapping[str, Any], thinking: bool) -> Iterator[tuple[str, str]]:
    """Yield (kind, text): `head`, `note` or `text`."""
    yield "head", f"{data['key']}  {data['status']}"
    if data["reason"]:
        yield "text", f"  {data['reason']}"
    yield "note", "  " + "; ".join(_facts(data))
    if data["by_reference"]:
        yield (
            "note",
            "  the texts of this task's docs, and messages made of them, are kept by reference (--texts)",
        )
    for turn in data["turns"]:
        yield from _turn(turn, thinking)
    if data["outcome"]:
        yield "head", "\noutcome"
        yield "text", _json(data["outcome"])
    yield "head", "\nread and scored"
    yield "text", f"  parser: {data['route'] or 'none read it'}"
    if data["target"] is not None:
        yield "text", f"  target: {data['target']}"
    if "value" in data and data["value"] is not None:
        yield "text", f"  value: {_json(data['value'])}"
    for name, value in data.get("scores", {}).items():
        yield "text", f"  {name}: {value:g}"
    for name, why in data.get("missing", {}).items():
        yield "text", f"  {name}: none ({why})"
    if data.get("details"):
        yield "note", f"  details: {_json(data['details'])}"
    for judge in data["judges"]:
        yield "head", f"\n{judge['role']} {judge['model']} ({judge['step']})"
        for turn in judge["turns"]:
            yield from _turn(turn, thinking)
        for answer in judge["answers"]:
            yield from _turn({"who": judge["role"], **answer}, thinking)
        if judge["error"]:
            yield "text", f"  failed: {judge['error']}"


def _turn(turn: Mapping[str, Any], thinking: bool) -> Iterator[tuple[str, str]]:
    to = f" to {turn['to']}" if "to" in turn else ""
    ended = f" (ended: {turn['ended']})" if "ended" in turn else ""
    yield "head", f"\n{turn['who']}{to}{ended}"
    if "thinking" in turn:
        text = turn["thinking"]
        yield "note", text if thinking else f"  [{len(text):,} characters of thinking; --thinking shows them]"
    if "digest" in turn:
        yield "note", f"  [{turn['characters']:,} characters, sha256 {turn['digest'][:16]}…]"
    elif "error" in turn:
        yield "text", f"  failed: {turn['error']}"
    elif turn["text"] or not ("parts" in turn or "calls" in turn):
        yield "text", turn["text"] or "  (nothing)"
    for part in turn.get("parts", ()):
        yield "note", f"  [{_part(part)}]"
    for call in turn.get("calls", ()):
        yield "text", f"  calls {call['name']}: {call['arguments']}{' (malformed)' if call.get('malformed') else ''}"
    if "refusal" in turn:
        yield "text", f"  refused: {turn['refusal']}"


def _part(part: Mapping[str, Any]) -> str:
    from creval.plugin.page import media_file_name

    if "sha256" not in part:
        return f"{part['type']} {part.get('url') or 'kept by reference'}"
    return f"{part['type']}, {part.get('bytes', 0)} bytes: media/{media_file_name(part)}"


def _facts(data: Mapping[str, Any]) -> Iterator[str]:
    yield f"{data['task']}, doc {data['doc']}, condition {data['condition']}, repeat {data['repeat']}"
    yield f"{data['seconds']:.2f} s"
    if data["input_tokens"] is not None:
        yield f"{data['input_tokens']:,} tokens in, {data['output_tokens'] or 0:,} out"
    if data["cost"]:
        yield f"${data['cost']:.5f}"
    if data["served_by"]:
        yield f"served by {', '.join(data['served_by'])}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
