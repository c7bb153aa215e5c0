"""`creval openended entailment-check`: measure an entailment model on labelled pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from creval_analyses.options import command_options, part_options

__all__ = ["entailment_check"]

_DEFAULT = "transformers/tasksource/deberta-base-long-nli"


@click.command(
    "entailment-check",
    short_help="Measure an entailment model on labelled pairs.",
    epilog="Example: creval openended entailment-check pairs.jsonl --resource entailment=cosine/0.85",
)
@click.argument("pairs", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--rule", type=click.Choice(["strict", "non_defeating"]), default="strict", show_default=True)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="A CSV file to write.")
@command_options(part_options(roles=True, resources=True))
def entailment_check(pairs: Path, rule: Any, output: Path | None, **given: Any) -> None:
    """Measure how often an entailment model agrees with people on PAIRS, next to constant answers (the paper's Table
    1).

    PAIRS are rows (jsonl, json, csv, tsv, parquet) with premise, hypothesis and label: yes or no. Without --resource
    entailment=... the paper's model is measured. The second row counts entailment in both directions, which classes
    of meaning require. To measure a language model, add --resource entailment=role/judge --role judge=MODEL.
    """
    from creval.plugin import UsageError
    from creval.plugin.report import print_table, write_csv
    from creval_analyses.options import open_workbench
    from creval_openended.entropy.checking import COLUMNS, checked, read_pairs

    labelled = read_pairs(pairs)
    bench = open_workbench(given)
    asked = bench.options.resources.get("entailment", _DEFAULT)
    for role in bench.options.roles:
        if asked != f"role/{role}":
            what = f"{asked} asks no {role}"
            raise UsageError(what, where="--role", fix=f"Add: --resource entailment=role/{role}")
    model = bench.resource("entailment", _DEFAULT)
    rows = bench.work(lambda: checked(labelled, model, rule))
    print_table(f"{model.name}, {rule}", COLUMNS, rows)
    if output is not None:
        click.echo(f"written: {write_csv(output, COLUMNS, rows)}")
