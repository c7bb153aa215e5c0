"""The source `huggingface`: a data set of the hub at one commit.

Each commit has a cache folder of its own. The library `datasets` would otherwise fall back to whatever version it
downloaded last when the hub cannot be reached, which is not the pinned one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from creval.data.data_options import DataOptions
from creval.data.mirror import offline_fix
from creval.data.row_types import MalformedRow, Row, Rows
from creval.errors import DataError, MissingPartError
from creval.hub_address import hub_address, hub_answers

__all__ = ["HuggingFaceRows", "open_huggingface"]


class HuggingFaceRows:
    """Rows of a memory-mapped Arrow table."""

    def __init__(self, table: Any, origin: str) -> None:
        self._table = table
        self.origin = origin

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Row | MalformedRow]:
        yield from self._table

    def row(self, index: int) -> Row:
        found: Mapping[str, Any] = self._table[index]
        return found

    def where(self, index: int) -> str:
        return f"{self.origin}, row {index}"

    def close(self) -> None:
        """Nothing to release."""


def open_huggingface(
    dataset: str, revision: str, split: str, *, base: Path, options: DataOptions, config: str | None = None
) -> Rows:
    """Open one split of a data set at one commit; never runs code of the data set.

    Raises MissingPartError without the package datasets; DataError where the data cannot be had.
    """
    try:
        import datasets
    except ImportError as error:
        raise MissingPartError(
            "data sets of the Hugging Face hub need the package datasets, which is not installed",
            where=dataset,
            fix=f"Install it: pip install datasets. Or give a local file: --data {options.task or 'TASK'}=FILE.",
        ) from error
    where = f"huggingface {dataset}@{revision[:12]} split {split}"
    if Path(dataset).exists():
        raise DataError(
            f"a local folder is called {dataset!r} and would be read in place of the hub's data set",
            where=where,
            fix="Run from another folder.",
        )
    cache = options.cache / "huggingface" / dataset.replace("/", "--") / revision
    arguments = {"name": config, "split": split, "revision": revision, "cache_dir": str(cache)}
    away = not options.offline and not hub_answers()
    if away and not any(cache.glob("**/*.arrow")):
        raise DataError(
            f"the Hugging Face Hub cannot be reached ({hub_address()})",
            where=where,
            fix=f"Check the network and HF_ENDPOINT, or give a local file: --data {options.task or 'TASK'}=FILE.",
        )
    try:
        with _offline(datasets) if options.offline or away else _as_it_is():
            table = _undecoded(datasets.load_dataset(dataset, **arguments), datasets)
    except Exception as error:  # the library raises whatever its own dependencies raise
        raise _failure(error, where, options) from error
    return HuggingFaceRows(table, where)


def _undecoded(table: Any, datasets: Any) -> Any:
    """Return a table whose images and audio come as they are stored: bytes and path."""
    kinds = tuple(kind for name in ("Image", "Audio") if (kind := getattr(datasets, name, None)) is not None)
    for name, feature in dict(getattr(table, "features", None) or {}).items():
        inner = getattr(feature, "feature", None)
        if isinstance(feature, kinds):
            table = table.cast_column(name, type(feature)(decode=False))
        elif isinstance(inner, kinds):
            table = table.cast_column(name, type(feature)(type(inner)(decode=False)))
    return table


def _failure(error: Exception, where: str, options: DataOptions) -> DataError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    if options.offline:
        return DataError(
            "the data set is not in the cache, and --offline forbids the network",
            where=where,
            fix=offline_fix(options),
        )
    fix = "Check dataset, revision, config and split; for a gated data set accept its terms and set HF_TOKEN."
    return DataError(f"the data set cannot be loaded: {reason}", where=where, fix=fix)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@contextmanager
def _offline(datasets: Any) -> Iterator[None]:
    """Keep both libraries off the network for as long as this lasts."""
    from huggingface_hub import constants

    before = datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE = True
    # It would warn that it falls back to the version cached last; in a folder of one commit that is the right one.
    logger = logging.getLogger("datasets")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE = before
        logger.setLevel(level)
