"""`creval view RUN...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from creval.plugin.commands import FilePath, NewPath, complete_runs, expand

__all__ = ["view"]


def _places(ctx: click.Context, param: click.Parameter, given: Sequence[Path]) -> list[Path]:
    """Return the named runs; with --live, folders are not expanded, since runs may still start in them."""
    return list(given) if ctx.params.get("live") else expand(ctx, param, given)


@click.command(epilog="Example: creval view runs/mine --no-open")
@click.argument("runs", nargs=-1, required=True, type=FilePath(), shell_complete=complete_runs, callback=_places)
@click.option(
    "--output", "-o", "--html", "html", type=NewPath(), metavar="FILE",
    help="File to write (default: report.html in the folder).",
)  # fmt: skip
@click.option(
    "--baselines", type=FilePath(), metavar="FOLDER", help="Folder with runs of baseline/floor and baseline/ceiling."
)
@click.option("--live", is_flag=True, is_eager=True, help="Serve a page that follows RUNS, until Ctrl-C.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Port of --live (default: any free port).")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def view(
    runs: Sequence[Path], html: Path | None, baselines: Path | None, live: bool, port: int | None, no_open: bool
) -> None:
    """Write RUNS as one page (see creval report --html) and open it in the browser.

    With --live RUNS can be running, detached, folders of a sweep, or shards. The page is served on 127.0.0.1. It
    shows progress, rate, cost, errors and finished samples, and becomes the page of results when all runs have
    ended.
    """
    folders = list(dict.fromkeys(runs))
    if live:
        _serve(folders, html, baselines, port or 0, no_open)
        return
    from creval.plugin import UsageError
    from creval.plugin.page import plain_size
    from creval_page.write_page import write_page

    if port is not None:
        raise UsageError("only a live page has a port", where="--port", fix="Add --live, or leave --port out.")
    if html is None:
        together = {folder.parent for folder in folders}
        sweep = len(folders) > 1 and len(together) == 1 and (folders[0].parent / "sweep.yaml").is_file()
        html = (folders[0].parent if sweep else folders[0]) / "report.html"
        plain_size(html)  # a link there would point to another file
    page = write_page(folders, html, baselines)
    click.echo(page)
    if not no_open:
        _open(page.absolute().as_uri())


def _serve(folders: Sequence[Path], html: Path | None, baselines: Path | None, port: int, no_open: bool) -> None:
    from creval.plugin import RunError, UsageError
    from creval.plugin.page import without_leftovers
    from creval_page.live_server import LiveServer

    if html is not None:
        raise UsageError("a live page is not written", where="--output", fix="Leave out --live or --output.")
    absent = next((folder for folder in without_leftovers(folders) if not folder.is_dir()), None)
    if absent is not None:
        fix = "Name a run folder, the folder of a sweep, or one that holds runs."
        raise RunError("there is no folder", where=str(absent), fix=fix)
    with LiveServer(folders, port, baselines) as server:
        click.echo(server.url)
        click.echo("Ctrl-C ends it; the runs continue.", err=True)
        if not no_open:
            _open(server.url)
        try:
            wait_for_interrupt()
        except KeyboardInterrupt:
            return


def wait_for_interrupt() -> None:
    """Wait for Ctrl-C or a similar signal, which raises KeyboardInterrupt."""
    import threading

    threading.Event().wait()


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        click.echo("No browser could be opened: open the address yourself.", err=True)
