"""The source `huggingface`: splits of a data set of the hub at one commit.

Each commit has a cache folder of its own. The library `datasets` would otherwise fall back to whatever version it
downloaded last when the hub cannot be reached, which is not the pinned one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from creval.plugin import DataError, MissingPartError, counted
from creval.plugin.data import DataOptions, Rows, offline_fix
from creval.plugin.encoders import MalformedRow, Row, RowFilter, hub_address, hub_answers, renamed

__all__ = ["NEWEST", "HuggingFaceRows", "newest_refused", "open_huggingface", "pinned_by"]

NEWEST = "newest"
"""The value of `revision` for the newest commit at the first fetch, which is then stored in the cache."""


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
        """Do nothing: there is nothing to release."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """The selection from a dataset: its parts (configurations and splits), their rows and columns."""

    split: str | Sequence[str]
    config: str | Sequence[str] | None = None
    where: Mapping[str, Any] | None = None
    columns: Sequence[str] | Mapping[str, str] | None = None
    origin: str = "origin"
    streaming: bool = False
    take: int | None = None
    expected: Mapping[str, Any] | None = None

    @property
    def parts(self) -> Sequence[tuple[str | None, str]]:
        """(configuration, split) of each part, in order."""
        return [(config, str(split)) for config in _listed(self.config) for split in _listed(self.split)]

    def marked(self, config: str | None, split: str) -> Mapping[str, str]:
        """Return the field with the part of a row, if there are several parts."""
        return {self.origin: _name(config, split)} if len(self.parts) > 1 else {}


def newest_refused(dataset: str, reason: str, where: str, options: DataOptions) -> DataError:
    """Return the error for a newest commit with another dataset than expected, which is not stored as the newest."""
    _newest_file(dataset, options).unlink(missing_ok=True)
    page = f"{hub_address()}/datasets/{dataset}/commits/main"
    fix = f"Use another commit ({page}): include the task and state dataset: {{revision: COMMIT}}."
    return DataError(reason, where=where, fix=fix)


def pinned_by(parameters: Mapping[str, Any], origin: str, options: DataOptions) -> str | None:
    """Return the full commit that rows of this origin have, where the dataset's parameters say `newest`, else None."""
    found = re.match(r"huggingface (\S+)@([0-9a-f]{12}) ", origin)
    if found is None or parameters.get("revision") != NEWEST:
        return None
    kept = _newest_file(found[1], options)
    commit = kept.read_text(encoding="utf-8").strip() if kept.is_file() else ""
    return commit if commit.startswith(found[2]) else None


def _newest_file(dataset: str, options: DataOptions) -> Path:
    return options.cache / "huggingface" / dataset.replace("/", "--") / NEWEST


def _listed(value: str | Sequence[str] | None) -> Sequence[str | None]:
    return [value] if value is None or isinstance(value, str) else list(value)


def _name(config: str | None, split: str) -> str:
    return split if config is None else f"{config}/{split}"


def open_huggingface(
    dataset: str,
    revision: str,
    split: str | Sequence[str],
    *,
    base: Path,
    options: DataOptions,
    **chosen: Any,
) -> Rows:
    """Open splits of a data set at one commit; never runs code of the data set.

    `revision` is a full commit, or `newest`. Of several configurations (`config`) or splits the rows follow each other,
    and each has the field `origin`, such as `config/split`. `where` says which rows (see RowFilter), `columns` which of
    their fields, `take` how many of these from the front. With `streaming` only what is taken is stored. `expected`
    (`rows` of all parts, `columns`) is what `newest` must have; a commit that differs is refused and forgotten.

    Raises MissingPartError without the package datasets; DataError if the data is not available.
    """
    try:
        import datasets
    except ImportError as error:
        raise MissingPartError(
            "data sets of the Hugging Face hub need the package datasets, which is not installed",
            where=dataset,
            fix=f"Install it: pip install datasets. Or give a local file: --data {options.task or 'TASK'}=FILE.",
        ) from error
    if Path(dataset).exists():
        raise DataError(
            f"a local folder is called {dataset!r} and would be read in place of the hub's data set",
            where=f"huggingface {dataset}",
            fix="Run from another folder.",
        )
    selection = _Selection(split, **chosen)
    fetch = _Fetch(datasets, dataset, options)
    commit = fetch.commit(revision)
    said = f"huggingface {dataset}@{commit[:12]} split {', '.join(_name(*part) for part in selection.parts)}"
    if selection.expected and selection.streaming:
        raise DataError(
            "`expected` counts rows, and a stream has no row count", where=said, fix="Leave one of them out."
        )
    if selection.expected and revision == NEWEST:
        fetch.compare(commit, selection, said)
    table = (fetch.streamed if selection.streaming else fetch.whole)(commit, selection, said)
    if not len(table):
        raise DataError("no row fits `where` under `dataset`" if selection.where else "there are no rows", where=said)
    return HuggingFaceRows(table, said)


class _Fetch:
    """Fetches one data set into the cache, or takes it from there."""

    def __init__(self, datasets: Any, dataset: str, options: DataOptions) -> None:
        self._datasets = datasets
        self._dataset = dataset
        self._options = options
        self._cache = options.cache / "huggingface" / dataset.replace("/", "--")
        self._away = not options.offline and not hub_answers()

    def commit(self, revision: str) -> str:
        """Return the commit; that of `newest` is asked for once."""
        kept = _newest_file(self._dataset, self._options)
        if revision != NEWEST:
            return revision
        if not kept.is_file():
            self._need_hub(f"huggingface {self._dataset}")
            from huggingface_hub import HfApi

            try:
                found = str(HfApi().dataset_info(self._dataset).sha)
            except Exception as error:  # see `_load`
                raise self._failure(error, f"huggingface {self._dataset}") from error
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(found + "\n", encoding="utf-8")
        return kept.read_text(encoding="utf-8").strip()

    def compare(self, commit: str, chosen: _Selection, said: str) -> None:
        """Compare the newest commit with what the task expects. Raises DataError, and forgets a commit that differs."""
        tables = [self._load(commit, config, split, said) for config, split in chosen.parts]
        expected = chosen.expected or {}
        rows = sum(len(table) for table in tables)
        lacking = [name for name in expected.get("columns", ()) for table in tables if name not in table.column_names]
        faults = []
        if expected.get("rows", rows) != rows:
            faults.append(f"it has {counted(rows, 'rows')}, the task expects {expected['rows']:,}")
        if lacking:
            there = ", ".join(tables[0].column_names)
            faults.append(f"it has no column {lacking[0]!r}, which the task expects (there are {there})")
        if faults:
            what = f"the newest commit {commit} is another data set: {'; '.join(faults)}"
            raise newest_refused(self._dataset, what, said, self._options)

    def whole(self, commit: str, chosen: _Selection, said: str) -> Any:
        """Return the table of all parts, each downloaded whole."""
        tables = []
        for config, split in chosen.parts:
            table = self._load(commit, config, split, said)
            if chosen.where:
                table = table.filter(RowFilter(chosen.where, said), load_from_cache_file=False, keep_in_memory=True)
            if chosen.columns:
                taken = _source_columns(chosen.columns, table.column_names, said)
                table = table.select_columns(list(taken.values())).rename_columns(
                    {old: new for new, old in taken.items() if old != new}
                )
            for field, name in chosen.marked(config, split).items():
                _need_free(field, table.column_names, said)
                table = table.add_column(field, [name] * len(table))
            tables.append(table)
        joined = self._joined(tables, said)
        return joined if chosen.take is None else joined.select(range(min(chosen.take, len(joined))))

    def _joined(self, tables: Sequence[Any], said: str) -> Any:
        try:
            return tables[0] if len(tables) == 1 else self._datasets.concatenate_datasets(tables)
        except Exception as error:
            raise DataError(
                f"the configurations or splits do not fit together: {_reason(error)}",
                where=said,
                fix="Name those with the same columns, or use the common ones: columns: [a, b].",
            ) from error

    def streamed(self, commit: str, chosen: _Selection, said: str) -> Any:
        """Return what is taken of a stream. It is stored when the stream was read to its end."""
        about = [chosen.parts, chosen.where, chosen.columns, chosen.origin, chosen.take]
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
        folder = self._cache / commit / f"streamed-{digest}"
        if not folder.is_dir():
            self._need_hub(said)
            partial = folder.with_name(f".{folder.name}")
            shutil.rmtree(partial, ignore_errors=True)
            rows = list(islice(self._rows(commit, chosen, said), chosen.take))
            self._datasets.Dataset.from_list(rows).save_to_disk(str(partial))
            partial.rename(folder)
        return self._datasets.load_from_disk(str(folder))

    def _rows(self, commit: str, chosen: _Selection, said: str) -> Iterator[dict[str, Any]]:
        takes = RowFilter(chosen.where or {}, said)
        for config, split in chosen.parts:
            stream = iter(self._load(commit, config, split, said, streaming=True))
            while True:
                try:
                    row = next(stream, None)
                except Exception as error:  # see `_load`
                    raise self._failure(error, said) from error
                if row is None:
                    break
                if not takes(row):
                    continue
                taken = (
                    _source_columns(chosen.columns, list(row), said) if chosen.columns else {name: name for name in row}
                )
                kept = {new: row[old] for new, old in taken.items()}
                for field in chosen.marked(config, split):
                    _need_free(field, list(kept), said)
                yield {**kept, **chosen.marked(config, split)}

    def _need_hub(self, said: str) -> None:
        if self._options.offline:
            raise self._failure(LookupError(), said)
        if self._away:
            raise DataError(
                f"the Hugging Face Hub cannot be reached ({hub_address()})",
                where=said,
                fix="Check the network and HF_ENDPOINT, or give a local file: "
                f"--data {self._options.task or 'TASK'}=FILE.",
            )

    def _load(self, commit: str, config: str | None, split: str, said: str, streaming: bool = False) -> Any:
        cache = self._cache / commit
        arguments: dict[str, Any] = {"name": config, "split": split, "revision": commit, "cache_dir": str(cache)}
        if self._away and not any(cache.glob("**/*.arrow")):
            self._need_hub(said)
        try:
            with _offline(self._datasets) if self._options.offline or self._away else _as_it_is():
                loaded = self._datasets.load_dataset(self._dataset, **arguments, streaming=streaming)
                return _undecoded(loaded, self._datasets)
        except Exception as error:  # the library raises whatever its own dependencies raise
            raise self._failure(error, said) from error

    def _failure(self, error: Exception, said: str) -> DataError:
        if self._options.offline:
            return DataError(
                "the data set is not in the cache, and --offline forbids the network",
                where=said,
                fix=offline_fix(self._options),
            )
        names = {type(each).__name__ for each in _chain(error)}
        reason = _reason(error)
        page = f"{hub_address()}/datasets/{self._dataset}"
        if "GatedRepoError" in names or "is a gated dataset" in reason:
            return DataError(
                "the data set is gated: its owners give access to accounts that accept their terms",
                where=said,
                fix=f"Accept them at {page}, and set HF_TOKEN to a token of that account.",
            )
        if "RevisionNotFoundError" in names:
            fix = f"Its commits are listed at {page}/commits/main."
            return DataError(f"the data set has no such Revision: {reason}", where=said, fix=fix)
        fix = (
            "Check dataset, revision, config and split; a private data set needs the token of its account in HF_TOKEN."
        )
        return DataError(f"the data set cannot be loaded: {reason}", where=said, fix=fix)


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


def _source_columns(columns: Sequence[str] | Mapping[str, str], there: Sequence[str], said: str) -> Mapping[str, str]:
    """Return the name of each column in the docs and in the data. Raises DataError for one that these lack, or that is
    taken twice.
    """
    taken = renamed(columns)
    old = list(taken.values())
    twice = next((name for name in old if old.count(name) > 1), None)
    if twice is not None:
        first, second = [new for new, name in taken.items() if name == twice][:2]
        what = f"`columns` takes the column {twice!r} twice, as {first} and {second}"
        fix = f"Name it once, and copy it under `dataset`: fields: {{{second}: {first}}}"
        raise DataError(what, where=said, fix=fix)
    missing = [name for name in taken.values() if name not in there]
    if missing:
        what = f"the data have no column {missing[0]!r}; they have {', '.join(there)}"
        raise DataError(what, where=said, fix="Correct `columns` under `dataset`.")
    return taken


def _need_free(origin: str, there: Sequence[str], said: str) -> None:
    if origin in there:
        what = f"the data already have a column {origin!r}, which would hold the name of the split"
        raise DataError(what, where=said, fix="Name another field under `dataset`, as in origin: subset.")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


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
