"""`creval validity reproduce`: Table 1 of the paper next to its recomputation from Tables 3 and 4."""

from __future__ import annotations

import click

__all__ = ["reproduce"]


@click.command(epilog="Example: creval validity reproduce --csv table1.csv")
@click.option("--csv", "csv_path", type=click.Path(dir_okay=False), help="Also write every number to a CSV file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def reproduce(csv_path: str | None, as_json: bool) -> None:
    """Recompute the paper's Table 1 from its printed scores and explain each difference."""
    import json
    from pathlib import Path

    from creval.plugin.report import plain_data
    from creval_validity.analyses.reproduction import reproduce_table1
    from creval_validity.output.result_rows import comparison_rows

    comparisons = reproduce_table1()
    rows = comparison_rows(comparisons)
    if as_json:
        click.echo(json.dumps(plain_data(comparisons), indent=2, allow_nan=False))
    else:
        from creval.plugin.report import print_table

        shown = ("test", "benchmark", "criterion", "n", "printed", "recomputed", "difference", "p", "cause")
        places = [rows.columns.index(name) for name in shown]
        print_table(rows.title, shown, [[row[place] for place in places] for row in rows.rows])
    if csv_path:
        click.echo(f"written: {rows.write(Path(csv_path))}", err=as_json)
