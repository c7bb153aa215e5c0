"""`creval association vectors`: adds, lists and removes word vectors."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from creval.plugin import UsageError
from creval.plugin.data import cache_folder
from creval_association.vector_files import build_store
from creval_encoders import list_stores, store_folder

__all__ = ["vectors"]

_CACHE = click.option(
    "--cache", type=click.Path(file_okay=False, path_type=Path), default=None, help="Cache folder (default: creval's)."
)


@click.group(epilog="Example: creval association vectors add glove-840b glove.840B.300d.txt")
def vectors() -> None:
    """Manage word vectors from text files (GloVe, fastText), converted once so that they open instantly."""


@vectors.command(epilog="Example: creval association vectors add glove-840b glove.840B.300d.txt")
@click.argument("name")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dtype", type=click.Choice(["float32", "float16"]), default="float32", help="Precision of the store.")
@_CACHE
def add(name: str, file: Path, dtype: str, cache: Path | None) -> None:
    """Convert FILE into the vectors called NAME, e.g. glove-840b or fasttext-crawl-300d-2m.

    They become the embedding vectors/NAME, and for these two names also glove/840b and fasttext/crawl-300d-2m.
    """
    plain = name.replace("/", "-")
    if not plain or plain != Path(plain).name or plain.startswith("."):
        raise UsageError(f"{name!r} is not a valid name", fix="Use letters, digits and hyphens.")
    store = build_store(file, plain, cache or cache_folder(), dtype, _report)  # type: ignore[arg-type]
    info = store.info
    click.echo(f"{info.name}: {info.words} words of {info.dimension} numbers ({info.dtype}), sha256 {info.sha256[:12]}")


def _report(lines: int) -> None:
    click.echo(f"{lines:,} lines read", err=True)


@vectors.command("list", epilog="Example: creval association vectors list")
@_CACHE
def show(cache: Path | None) -> None:
    """List the vectors that were added."""
    found = list_stores(cache or cache_folder())
    for info in found:
        click.echo(
            f"{info.name}\t{info.words}\t{info.dimension}\t{info.dtype}\tsha256 {info.sha256[:12]}\t{info.source}"
        )
    if not found:
        click.echo("none yet: creval association vectors add NAME FILE")


@vectors.command(epilog="Example: creval association vectors remove glove-840b")
@click.argument("name")
@_CACHE
def remove(name: str, cache: Path | None) -> None:
    """Remove the vectors called NAME from the cache."""
    known = [info.name for info in list_stores(cache or cache_folder())]
    if name.replace("/", "-") not in known:
        raise UsageError(f"there are no vectors called {name!r}", fix=f"There are: {', '.join(known) or 'none'}.")
    shutil.rmtree(store_folder(cache or cache_folder(), name))
