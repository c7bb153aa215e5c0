"""`creval view RUN...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from creval.plugin.commands import FilePath, NewPath, runs_argument

__all__ = ["view"]


@click.command(epilog="Example: creval view runs/mine --no-open")
@runs_argument()
@click.option("--html", type=NewPath(), metavar="FILE", help="Where to write it (default: report.html in the folder).")
@click.option("--baselines", type=FilePath(), metavar="FOLDER", help="Where to look for floor and ceiling.")
@click.option("--no-open", is_flag=True, help="Write the page and open no browser.")
def view(runs: Sequence[Path], html: Path | None, baselines: Path | None, no_open: bool) -> None:
    """Write RUNS as one page (see creval report --html) and open it in the browser."""
    from creval.plugin.page import plain_size
    from creval_page.write_page import write_page

    folders = list(dict.fromkeys(runs))
    if html is None:
        together = {folder.parent for folder in folders}
        sweep = len(folders) > 1 and len(together) == 1 and (folders[0].parent / "sweep.yaml").is_file()
        html = (folders[0].parent if sweep else folders[0]) / "report.html"
        plain_size(html)  # a link there would lead to another file
    page = write_page(folders, html, baselines)
    click.echo(page)
    if not no_open:
        import webbrowser

        if not webbrowser.open(page.absolute().as_uri()):
            click.echo("No browser could be opened: open the file yourself.", err=True)
