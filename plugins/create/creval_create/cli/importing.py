"""`creval create import`: the published queries, checked and kept for the tasks `create_published...`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from creval.plugin.data import DataOptions, Rows

__all__ = ["import_published"]


@click.command(
    "import",
    short_help="Import the published 931 queries.",
    epilog="Example: creval create import CREATE-train.jsonl",
)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--revision",
    metavar="COMMIT",
    help="Without FILE: download wadhma/CREATE from the Hugging Face Hub at this commit (40 hexadecimal digits).",
)
@click.option("--offline", is_flag=True, help="With --revision: use only the cache.")
def import_published(file: Path | None, revision: str | None, offline: bool) -> None:
    """Import the published set of CREATE for the tasks create_published, create_published_creative ...

    A run downloads the set itself; use this command for a local file or another commit. FILE is the split
    train as jsonl, json, csv, tsv or parquet. It must contain 931 rows and the number of queries of each of the eleven
    relations in the paper's Table 4. Its sha256 is recorded. Faults of individual queries (a reversed relation, a named
    hidden entity) are printed but kept: they are part of the published set.
    """
    from creval.plugin import UsageError
    from creval.plugin.data import DataOptions
    from creval_create.queries.imported import keep, sound_rows
    from creval_create.queries.lint import lint
    from creval_create.queries.published import published_rows

    if (file is None) == (revision is None):
        raise UsageError("give either FILE or --revision", fix="creval create import FILE")
    options = DataOptions.from_environment(offline=offline)
    rows, origin = _from_file(file) if file is not None else _from_hub(str(revision), options)
    docs = published_rows(sound_rows(rows), rows.origin)
    kept = keep(docs, origin, options)
    findings = lint(docs)
    for finding in findings:
        click.echo(f"query {finding.query}: {finding.problem}", err=True)
    click.echo(f"{len(docs)} queries kept in {kept}; {len(findings)} remarks. Play them: --tasks create_published")


def _from_file(file: Path) -> tuple[Rows, dict[str, Any]]:
    from creval.plugin.data import open_file, sha256_of

    return open_file(file), {"file": file.name, "sha256": sha256_of(file)}


def _from_hub(revision: str, options: DataOptions) -> tuple[Rows, dict[str, Any]]:
    from creval.plugin import UsageError
    from creval_create.queries.published import DATASET, SPLIT
    from creval_datasets.huggingface import open_huggingface

    if len(revision) != 40 or set(revision) - set("0123456789abcdef"):
        raise UsageError(
            f"{revision!r} is not a full commit", fix="Give the 40 digits of a commit: branches and tags move."
        )
    rows = open_huggingface(DATASET, revision, SPLIT, base=Path(), options=options)
    return rows, {"dataset": DATASET, "revision": revision, "split": SPLIT}
