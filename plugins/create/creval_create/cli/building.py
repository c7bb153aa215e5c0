"""`creval create build`: new queries from a knowledge graph (Algorithm 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from creval_analyses.options import command_options, part_options

if TYPE_CHECKING:
    from creval_create.builder.classes import Shared

__all__ = ["build_queries"]

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    "build",
    short_help="Build new queries from a knowledge graph.",
    epilog="Example: creval create build --triples graph.tsv --relations P463,P161 --seed 1 -o queries.jsonl",
)
@click.option(
    "--triples", "files", type=_FILE, multiple=True, required=True,
    help="Triples: head, relation and tail, separated by tabs; may be repeated.",
)  # fmt: skip
@click.option(
    "--labels", type=_FILE, multiple=True, help="Labels: one id and label per line, or a JSON object; may be repeated."
)
@click.option(
    "--relations", required=True, metavar="R,R:head",
    help="Relations of the classes; :head if two triples of a class share the head (works with their people), "
    ":tail if they share the tail. Default: head for P57, P58, P161 and P162, else tail.",
)  # fmt: skip
@click.option("--exclude", default=None, metavar="R,R", help="Relations that no query ends in; replaces the paper's.")
@click.option("--count", type=click.IntRange(1), default=100, show_default=True, help="Maximum queries per relation.")
@click.option("--seed", type=click.IntRange(0), required=True, help="The same seed and triples give the same bytes.")
@click.option(
    "--writer", metavar="M", help="Model that words the queries, as provider/name (the paper's: "
    "openai/gpt-4o-mini-2024-07-18). Default: a template.",
)  # fmt: skip
@command_options(part_options(models=True))
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), required=True, help="JSON Lines.")
def build_queries(
    files: Sequence[Path],
    labels: Sequence[Path],
    relations: str,
    exclude: str | None,
    output: Path,
    **given: Any,
) -> None:
    """Build queries: paths from an entity to one that is a step beyond another member of its class.

    The triples are read three times, line by line, so memory does not grow with their number. No start satisfies its
    own target anywhere in the file. If a model's wording hints at the hidden entity or reverses the relation, the
    template's wording is kept (`worded_by` says which). If nothing can be built, or an identifier has no label,
    nothing is written. Run the result: creval --tasks create --data create=FILE --model MODEL
    """
    import json

    from creval.plugin.report import write_lines
    from creval_create.builder.build import EXCLUDED, Plan, build, check_built
    from creval_create.builder.wording import read_labels
    from creval_create.queries.lint import lint

    excluded = EXCLUDED if exclude is None else tuple(filter(None, exclude.split(",")))
    plan = Plan(list(files), _relations(relations), given["seed"], given["count"], excluded, read_labels(list(labels)))
    rows = build(plan)
    check_built(plan, rows)
    if given["writer"]:
        rows = _worded(rows, given)
    write_lines(output, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    for finding in lint(rows):
        click.echo(f"query {finding.query}: {finding.problem}", err=True)
    built = Counter(row["relation"] for row in rows)
    click.echo(f"{len(rows)} queries written to {output}: " + ", ".join(f"{r} {built[r]}" for r in plan.relations))


def _worded(rows: list[dict[str, Any]], given: dict[str, Any]) -> list[dict[str, Any]]:
    from creval_analyses.options import open_workbench
    from creval_create.builder.writer import ROLE, reworded

    bench = open_workbench({**given, "role": {ROLE: given["writer"]}}, addressed=ROLE)
    found, notes = bench.work(lambda: reworded(bench, rows))
    for note in notes:
        click.echo(note, err=True)
    return found


def _relations(text: str) -> dict[str, Shared]:
    from creval.plugin import UsageError
    from creval_create.builder.build import HEAD_SHARED

    chosen: dict[str, Shared] = {}
    for word in filter(None, text.split(",")):
        name, _, shared = word.strip().partition(":")
        if shared not in ("", "head", "tail"):
            raise UsageError(
                f"{word!r} is not a relation", where="--relations", fix="Write P463, P161:head or P40:tail."
            )
        chosen[name] = "head" if shared == "head" or (not shared and name in HEAD_SHARED) else "tail"
    if not chosen:
        raise UsageError("no relation is named", where="--relations", fix="--relations P463,P161")
    return chosen
