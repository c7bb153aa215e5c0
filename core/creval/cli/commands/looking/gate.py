"""`creval gate RUN --policy FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from creval.cli import completing
from creval.cli.display.formats import format_options
from creval.cli.values import FilePath

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["gate"]

_COLUMNS = ("tier", "task", "number", "demand", "found", "low", "high", "answer")


@click.command(
    epilog="Example: creval gate runs/today --policy release.yaml --baseline runs/yesterday\n\n"
    "Exit codes: 0 go, 10 no-go, 11 cannot tell; 2 where the policy or the runs are at fault."
)
@click.argument("run", shell_complete=completing.runs)
@click.option("--policy", required=True, type=FilePath(exists=True, dir_okay=False), help="The policy (YAML).")
@click.option("--baseline", metavar="RUN", help="The run to compare with, in place of the policy's.")
@click.option("--force", is_flag=True, help="Compare with a baseline of another task, data or instruments too.")
@format_options
@click.pass_context
def gate(ctx: click.Context, /, run: str, policy: Path, baseline: str | None, force: bool, form: str | None) -> None:
    """Hold RUN against a policy, for a pipeline that goes on or stops.

    Each rule demands that a metric is at least or at most a number, no worse than a baseline's by a margin, or better;
    or that a status (errored, unparsed ...) has at most a share. A rule holds where the whole 95 % interval
    does. critical: has to be shown to hold; supporting: must not be shown to be broken; advisory: is only reported.
    """
    from creval.comparison.gate import EXIT_CODES, decide
    from creval.comparison.policy import read_policy
    from creval.report.files import plain_data
    from creval.report.tables import print_table
    from creval.report.tabular import FORMATS
    from creval.runs.reader import open_runs
    from creval.visible import json_text, visible

    read = read_policy(policy)
    (opened,) = (each.as_stored() for each in open_runs([run]))
    other = baseline or read.baseline
    beside = open_runs([other])[0].as_stored() if other is not None else None
    decision, checked = decide(opened, read, beside, force)
    rows = [
        [each.rule.tier, each.task, each.subject, each.rule.words, each.value, each.low, each.high, each.answer]
        for each in checked
    ]
    if form == "json":
        named = {"run": run, "model": opened.model, "baseline": None if beside is None else str(beside.folder)}
        data = {"decision": decision, **named, "policy": str(policy), "rules": plain_data(checked)}
        click.echo(json_text(data))
    elif form is not None:
        click.echo(FORMATS[form](_COLUMNS, rows), nl=False)
    else:
        print_table(read.title or f"{opened.model} against {policy.name}", _COLUMNS, rows)
        click.echo(visible(f"{decision}: {_why(decision, [each.answer for each in checked])}"))
    ctx.exit(EXIT_CODES[decision])


def _why(decision: str, answers: list[str]) -> str:
    counts = [f"{answers.count(word)} {words}" for word, words in _ANSWERS.items() if word in answers]
    return f"of {len(answers)} rules {', '.join(counts)}"


_ANSWERS = {"holds": "hold", "broken": "are broken", "cannot tell": "cannot be told"}
