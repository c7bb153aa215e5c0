"""Human ranks of solutions, from a file."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean

from creval.plugin import DataError, open_run
from creval.plugin.data import open_file

__all__ = ["read_ranks"]


def read_ranks(file: Path) -> dict[str, float]:
    """Return the mean rank (1 = most novel) of each doc: rows with `doc` and `rank`, one for each person.

    `file` may also be a run that a person ranked (`novelty_people`). Raises DataError if a row lacks these fields.
    """
    ranks: dict[str, list[float]] = defaultdict(list)
    if file.is_dir():
        found = {score.key.doc: score.scores["novelty_rank"] for score in open_run(file).scores() if score.scores}
        return {doc: float(rank) for doc, rank in found.items()}
    rows = open_file(file)
    for index, row in enumerate(rows):
        try:
            ranks[str(row["doc"])].append(float(row["rank"]))  # type: ignore[index]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                "a row of ranks has the fields doc and rank (a number, 1 = most novel)", where=rows.where(index)
            ) from error
    return {doc: fmean(each) for doc, each in ranks.items()}
