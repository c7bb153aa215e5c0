"""The installed Reasoning Gym: its version, its names, its data sets and their items."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from creval.plugin import DataError, MissingPartError, nearest
from creval.plugin.collections import cache_folder
from creval.plugin.collections import installed_version as version

__all__ = ["INSTALL", "Made", "entry", "installed_version", "levels_of", "names", "need_library", "open_set"]

INSTALL = "pip install 'creval-reasoning-gym[library]'"
_UNSHOWN = ("composite",)
"""Data sets that combine others: in creval they are suites."""


class Made(NamedTuple):
    """The origin of an item: the data set, its size and seed, settings as JSON, a level of its curriculum or none."""

    name: str
    size: int
    seed: int
    settings: str = "{}"
    level: int | None = None


def installed_version() -> str | None:
    """Return the version of the installed package, None if there is none, without importing it.

    The version in the module itself is older than the package's.
    """
    return None if importlib.util.find_spec("reasoning_gym") is None else version("reasoning-gym")


def need_library() -> str:
    """Return the installed version. Raises MissingPartError if there is none."""
    found = installed_version()
    if found is None:
        raise MissingPartError("the data sets need Reasoning Gym, which is not installed", fix=f"Install it: {INSTALL}")
    return found


def names() -> Mapping[str, Sequence[int]]:
    """Return the curriculum levels that each data set's generator accepts, by name; none without a curriculum.

    The library is imported once per version; later an index in the cache is read. Raises MissingPartError.
    """
    file = cache_folder() / "reasoning_gym" / f"names-{need_library()}.json"
    try:
        kept = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        kept = None
    if isinstance(kept, dict) and kept and all(_is_levels(levels) for levels in kept.values()):
        return kept
    found = _read_names()
    from creval.plugin.report import write_text

    write_text(file, json.dumps(found))
    return found


def _is_levels(kept: object) -> bool:
    return isinstance(kept, list) and all(type(level) is int for level in kept)


def _read_names() -> dict[str, list[int]]:
    from reasoning_gym.factory import CURRICULA, DATASETS

    found: dict[str, list[int]] = {}
    for name in sorted(set(DATASETS) - set(_UNSHOWN)):
        count = 0
        if name in CURRICULA:
            count = max((len(each.levels) for each in CURRICULA[name]().attributes.values()), default=0)
        found[name] = [level for level in range(count) if _takes(name, level)]
    return found


def _takes(name: str, level: int) -> bool:
    try:
        _config(Made(name, 2, 0, "{}", level))
    except DataError:
        return False
    return True


@lru_cache(maxsize=64)
def open_set(made: Made) -> Any:
    """Return the library's data set. Raises DataError for invalid settings."""
    from reasoning_gym.factory import DATASETS

    config = _config(made)
    try:
        return DATASETS[made.name][0](config=config)
    except (AssertionError, TypeError, ValueError) as error:
        raise _refused(made.name, error) from None


def _config(made: Made) -> Any:
    """Return the settings of a data set, at a level or by default, overridden by the given ones."""
    from reasoning_gym.factory import CURRICULA, DATASETS

    if made.name not in DATASETS:
        near = nearest(made.name, list(DATASETS))
        fix = f"Did you mean {' or '.join(map(repr, near))}?" if near else "creval ls 'reasoning_gym/*' lists them."
        raise DataError(f"Reasoning Gym has no data set {made.name!r}", where="dataset.name", fix=fix)
    form = DATASETS[made.name][1]
    settings = {"size": made.size, "seed": made.seed, **json.loads(made.settings)}
    known = form.__dataclass_fields__
    unknown = [name for name in settings if name not in known]
    if unknown:
        near = nearest(unknown[0], list(known))
        fix = f"Did you mean {near[0]!r}? " if near else ""
        what = f"{made.name} has no setting {unknown[0]!r}"
        raise DataError(what, where="dataset.settings", fix=f"{fix}There are: {', '.join(known)}.")
    if made.level is not None and made.name not in CURRICULA:
        raise DataError(f"{made.name} has no curriculum", where="dataset.levels", fix="Leave levels out.")
    try:
        if made.level is None:
            config = form(**settings)
        else:
            curriculum = CURRICULA[made.name]()
            curriculum.set_global_level(made.level)
            config = curriculum.generate_configuration(settings)
            for name, value in settings.items():
                setattr(config, name, value)
        if hasattr(config, "validate"):
            config.validate()
    except (AssertionError, TypeError, ValueError) as error:
        raise _refused(made.name, error) from None
    return config


def _refused(name: str, error: Exception) -> DataError:
    words = str(error) or type(error).__name__
    return DataError(f"Reasoning Gym refuses the settings of {name}: {words}", where="dataset", fix="Change them.")


@lru_cache(maxsize=4096)
def entry(made: Made, index: int) -> Mapping[str, Any]:
    """Return an item as the library generates it: `question`, `answer`, `metadata`."""
    found: Mapping[str, Any] = open_set(made)[index]
    return found


def levels_of(name: str) -> Sequence[int]:
    """Return up to four levels of the easier half of a curriculum; some generators take hours at their hardest."""
    known = names().get(name, ())
    easier = known[: len(known) // 2 + 1]
    last = len(easier) - 1
    return [easier[i] for i in sorted({round(i * last / 3) for i in range(4)})] if last > 0 else ()
