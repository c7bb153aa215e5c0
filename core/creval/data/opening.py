"""Opens the dataset of a task: its own source, a local replacement, or a local mirror."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from creval.data.dataset import Dataset
from creval.data.files import open_file
from creval.data.mirror import find_in_mirror
from creval.data.options import DataOptions
from creval.data.rows import ListRows, Rows
from creval.errors import CrevalError, DataError
from creval.plugins.registry import Component, Registry
from creval.tasks.components import COMPONENT_KEY
from creval.tasks.model import ComponentRef, DatasetRef

__all__ = ["open_dataset"]


def open_dataset(ref: DatasetRef, registry: Registry, options: DataOptions) -> Dataset:
    """Open a dataset, check every row, and return it ready for lazy reading.

    Taken is the first of: `options.replacement`; for remote sources a file of `options.mirror`; the task's source.
    Raises DataError (missing, altered, malformed, offline), MissingPartError (a package is absent).
    """
    options = replace(options, task=options.task or ref.task, package=options.package or ref.package)
    component = registry.get("source", ref.source)
    if options.replacement is not None:
        return Dataset(open_file(options.replacement), ref.id_field, replaced=True, sample=ref.sample)
    mirrored = find_in_mirror(ref, component, options)
    if mirrored is not None:
        return Dataset(open_file(mirrored), ref.id_field, replaced=True, sample=ref.sample)
    return Dataset(_open_source(ref, component, registry, options), ref.id_field, sample=ref.sample)


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
        cure="It must return what creval.data.rows.Rows describes, or a list of mappings.",
    )


def _opened(value: Any, name: str, component: Component, registry: Registry) -> Any:
    """Open a parameter that is a component itself."""
    if not isinstance(value, ComponentRef):
        return value
    about: Mapping[str, Any] = component.parameters.get("properties", {}).get(name, {})
    inner = registry.get(about[COMPONENT_KEY], value.name)
    return inner.load()(**value.parameters)
