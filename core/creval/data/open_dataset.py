"""Opens the dataset of a task: its own source, a local replacement, or a local mirror."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.data.data_options import DataOptions
from creval.data.dataset import Dataset
from creval.data.mirror import find_in_mirror
from creval.data.row_types import ListRows, Rows
from creval.data.shaping import Shaping
from creval.data.table_files import open_file
from creval.errors import CrevalError, DataError
from creval.plugins.registry import Component, Registry
from creval.tasks.task_components import COMPONENT_KEY
from creval.tasks.task_model import ComponentRef, DatasetRef, FewShot

__all__ = ["open_dataset"]


def open_dataset(ref: DatasetRef, registry: Registry, options: DataOptions) -> Dataset:
    """Open a dataset, check every row, and return it ready for lazy reading.

    It is the first of: `options.replacement`; for remote sources a file of `options.mirror`; the task's source. Raises
    DataError (missing, altered, malformed, offline), MissingPartError (a package is absent).
    """
    options = replace(options, task=options.task or ref.task, package=options.package or ref.package)
    dataset = _open(ref, registry, options)
    if ref.few_shot is None:
        return dataset
    try:
        return dataset.with_shots(ref.few_shot, _open_pool(ref, ref.few_shot, registry, options))
    except BaseException:
        dataset.close()
        raise


def _open(ref: DatasetRef, registry: Registry, options: DataOptions) -> Dataset:
    """Open the docs, without examples. The selection of rows also applies to a local copy of the source."""
    component = registry.get("source", ref.source)
    shaping = Shaping(ref.fields, ref.choices, ref.media)
    local = options.replacement or find_in_mirror(ref, component, options)
    rows = open_file(local) if local is not None else _open_source(ref, component, registry, options)
    where = ref.where if local is None else ref.where or ref.parameters.get("where")
    if options.replacement is None and (where, ref.columns, ref.take) != (None, None, None):
        from creval.data.row_selection import SelectedRows

        try:
            rows = SelectedRows(rows, where, ref.columns, ref.take)
        except BaseException:
            rows.close()
            raise
    return Dataset(rows, ref.id_field, replaced=local is not None, sample=ref.sample, shaping=shaping)


def _open_pool(ref: DatasetRef, few_shot: FewShot, registry: Registry, options: DataOptions) -> Dataset | None:
    """Open the data from which examples are drawn (None: the task's own). A local copy is called `<task>.<split>`."""
    if few_shot.pool is None:
        return None
    own = replace(options, replacement=None, task=f"{options.task}.{few_shot.pool_name}")
    return _open(replace(few_shot.pool, mirrored_by_task=True, media=ref.media), registry, own)


def _open_source(ref: DatasetRef, component: Component, registry: Registry, options: DataOptions) -> Rows:
    parameters = {name: _opened(value, name, component, registry) for name, value in ref.parameters.items()}
    factory = component.load()
    try:
        rows = factory(**parameters, base=ref.base, options=options)
    except CrevalError:
        raise
    except Exception as error:
        raise DataError(
            f"the source {component.name!r} failed: {type(error).__name__}: {error}",
            where=f"dataset of {options.task}" if options.task else str(ref.base),
        ) from error
    if isinstance(rows, Rows):
        return rows
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return ListRows(rows, f"{component.qualified} of {options.task}")
    raise DataError(
        f"the source {component.name!r} gave {type(rows).__name__}, neither rows nor a list",
        where=f"plugin {component.plugin}",
        fix="It must return what creval.data.row_types.Rows describes, or a list of mappings.",
    )


def _opened(value: Any, name: str, component: Component, registry: Registry) -> Any:
    """Open a parameter that is itself a component."""
    if not isinstance(value, ComponentRef):
        return value
    about: Mapping[str, Any] = component.parameters.get("properties", {}).get(name, {})
    inner = registry.get(about[COMPONENT_KEY], value.name)
    return inner.load()(**value.parameters)
