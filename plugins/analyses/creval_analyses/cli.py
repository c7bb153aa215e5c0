"""`creval analyse NAME RUN...`: analyses over several runs, provided by plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from creval.plugin import UnknownNameError
from creval.plugin.commands import (
    FilePath,
    absent_distribution_of_analysis,
    aside,
    complete_runs,
    expand,
    missing_distribution,
    trust_parameter,
)
from creval_analyses.options import click_option

if TYPE_CHECKING:
    from pathlib import Path

    from creval.plugin import AnalysisOutput
    from creval.plugin.analyses import Component

__all__ = ["analyse"]


class AnalysisGroup(click.Group):
    """One command for each registered analysis; its options come from the analysis itself."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from creval.plugin.loading import load_plugins

        return list(load_plugins().registry.names("analysis"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from creval.plugin.loading import load_plugins

        registry = load_plugins().registry
        if registry.find("analysis", cmd_name) is None and "/" not in cmd_name:
            if ctx.resilient_parsing:
                return None
            if absent := absent_distribution_of_analysis(cmd_name):
                raise missing_distribution(f"`creval analyse {cmd_name}`", absent)
            raise UnknownNameError("analysis", cmd_name, registry.names("analysis"), hint="See: creval analyse --help")
        return _command(registry.get("analysis", cmd_name))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Offer the analyses by their summaries, without importing any, then options."""
        from click.shell_completion import CompletionItem

        from creval.plugin.loading import load_plugins

        known = {each.name: each.summary for each in load_plugins().registry.all() if each.kind == "analysis"}
        found = [
            CompletionItem(name, help=about) for name, about in sorted(known.items()) if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from creval.plugin.loading import load_plugins

        found = [c for c in load_plugins().registry.all() if c.kind == "analysis"]
        with formatter.section("Analyses"):
            formatter.write_dl([(c.name, c.summary) for c in found] or [("(none)", "No plugin adds an analysis.")])


@click.group(
    cls=AnalysisGroup,
    no_args_is_help=True,
    epilog="Example: creval analyse validity --help",
)
def analyse() -> None:
    """Run an analysis over several runs, such as validity of tests, gates over models or trends."""


def _command(component: Component) -> click.Command:
    with aside():  # a component's output must not get into the JSON
        analysis = component.load()()
    options = [click_option(spec) for spec in analysis.options()]
    runs = click.Argument(
        ["runs"],
        nargs=-1,
        type=FilePath(exists=True),
        callback=expand,
        shell_complete=complete_runs,
    )
    as_json = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON.")

    def callback(runs: list[Path], as_json: bool, **given: Any) -> None:
        with aside():
            output = analysis.run([str(run) for run in runs], **given)
        _show(output, as_json)

    return click.Command(
        component.name,
        params=[runs, *options, as_json, trust_parameter()],
        callback=callback,
        help=component.summary,
        epilog=f"Example: creval analyse {component.name} {getattr(analysis, 'example', 'runs/mine')}",
    )


def _show(output: AnalysisOutput, as_json: bool) -> None:
    from creval.plugin.loading import json_text

    if as_json:
        record = {
            "title": output.title,
            "columns": list(output.columns),
            "rows": [list(row) for row in output.rows],
            "notes": list(output.notes),
            "files": list(output.files),
            "data": output.data,
        }
        click.echo(json_text(record, allow_nan=False))
        return
    from creval.plugin.report import print_table

    print_table(output.title, output.columns, output.rows)
    for note in output.notes:
        click.echo(note)
    for file in output.files:
        click.echo(f"written: {file}")
