"""`creval openended import`: import the published problems of hypogen and bookmia for their tasks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from creval.plugin.data import Rows
    from creval_openended.published.sets import PublishedSet

__all__ = ["import_published"]

_COMMIT_LENGTH = 40


@click.command(
    "import",
    short_help="Import the published problems of hypogen or bookmia.",
    epilog="Example: creval openended import hypogen hypogen-train.jsonl",
)
@click.argument("task", type=click.Choice(["hypogen", "bookmia"]))
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--revision", metavar="COMMIT", help="Without FILE: fetch it from the Hugging Face hub at this commit (40 digits)."
)
@click.option("--offline", is_flag=True, help="With --revision: use only the cache.")
def import_published(task: str, file: Path | None, revision: str | None, offline: bool) -> None:
    """Import the problems of a published set for its task, with their origin.

    A run downloads them itself; use this command for a local file or another commit. FILE is the split
    train of UniverseTBD/hypogen-dr1 or of swj0419/BookMIA as jsonl, json, csv, tsv or parquet. Without FILE the set
    is downloaded at the commit that you name.
    """
    from creval.plugin import UsageError
    from creval.plugin.data import DataOptions, open_file, sha256_of
    from creval_openended.published.imported import keep, sound_rows
    from creval_openended.published.sets import SETS, kept_rows

    if (file is None) == (revision is None):
        raise UsageError("give either FILE or --revision", fix=f"creval openended import {task} --revision COMMIT")
    options = DataOptions.from_environment(offline=offline)
    published = SETS[task]
    origin: dict[str, Any]
    if file is not None:
        rows, origin = open_file(file), {"file": file.name, "sha256": sha256_of(file)}
    else:
        rows, origin = _from_hub(published, str(revision), options)
    kept = kept_rows(published, sound_rows(rows), rows.origin)
    where = keep(task, kept, {**origin, "rows": len(rows), "kept": len(kept)}, options)
    click.echo(f"{len(kept)} of {len(rows)} rows kept in {where}. Play them: --tasks {task}")


def _from_hub(published: PublishedSet, revision: str, options: Any) -> tuple[Rows, dict[str, Any]]:
    from creval.plugin import UsageError
    from creval_datasets.huggingface import open_huggingface

    if len(revision) != _COMMIT_LENGTH or set(revision) - set("0123456789abcdef"):
        raise UsageError(
            f"{revision!r} is not a full commit", fix="Give the 40 digits of a commit: branches and tags move."
        )
    rows = open_huggingface(published.dataset, revision, published.split, base=Path(), options=options)
    return rows, {"dataset": published.dataset, "revision": revision, "split": published.split}
