"""Finds the installed distributions with an entry point of group `creval`.

It reads the same files as `importlib.metadata` (`*.dist-info/entry_points.txt` and `METADATA` on the import path),
because importing that module takes longer than the rest of a start.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "Distribution",
    "absent_distribution",
    "absent_distribution_of_analysis",
    "absent_distribution_of_plugin",
    "absent_distribution_of_task",
    "find_distributions",
    "installed_version",
    "normal_name",
    "satisfies",
]


_PLAIN = re.compile(r"\d+(?:\.\d+)*")
_CLAUSE = re.compile(r"(>=|<)\s*(\d+(?:\.\d+)*)")


def satisfies(version: str, requirement: str) -> bool:
    """Whether `version` meets every clause of `requirement` (comma-separated; empty: any version), by PEP 440.

    Raises ValueError if either cannot be read.
    """
    clauses = [clause.strip() for clause in requirement.strip().strip("()").split(",") if clause.strip()]
    plain = [_CLAUSE.fullmatch(clause) for clause in clauses]
    if _PLAIN.fullmatch(version) and all(plain):  # nearly all are plain, and importing `packaging` takes milliseconds
        have = _numbers(version)
        return all((have >= _numbers(match[2])) == (match[1] == ">=") for match in plain if match)
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    return SpecifierSet(",".join(clauses)).contains(Version(version), prereleases=True)


def _numbers(version: str) -> list[int]:
    """Return the numbers of a plain version without trailing zeros."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


GROUP = "creval"
_DISTRIBUTION_OF_COMPONENT = {
    ("sandbox", "bubblewrap"): "creval-sandbox",
    ("parser", "program"): "creval-sandbox",
    ("scorer", "code"): "creval-sandbox",
    ("provider", "human"): "creval-people",
    ("provider", "embedded"): "creval-embedded",
    ("provider", "litellm"): "creval-litellm",
    ("embedding", "embedded"): "creval-embedded",
    ("provider", "hf"): "creval-hf",
    ("executor", "ray"): "creval-ray",
    ("batching", "batches"): "creval-batches",
    ("protocol", "choices"): "creval-likelihoods",
    ("scorer", "likeliest_choice"): "creval-likelihoods",
    ("scorer", "first_token"): "creval-likelihoods",
    ("scorer", "choice_mass"): "creval-likelihoods",
    ("scorer", "perplexity"): "creval-likelihoods",
    ("aggregation", "perplexity"): "creval-likelihoods",
    ("baseline", "any_choice"): "creval-likelihoods",
    ("likelihoods", "chat"): "creval-likelihoods",
    ("likelihoods", "hosted_vllm"): "creval-likelihoods",
    ("likelihoods", "openai"): "creval-likelihoods",
    ("protocol", "turns"): "creval-turns",
    ("scorer", "each_turn"): "creval-turns",
    ("baseline", "turn_target"): "creval-turns",
    ("scorer", "judge"): "creval-judges",
    ("parser", "math"): "creval-math",
    ("scorer", "math_equal"): "creval-math",
    **{("scorer", n): "creval-text" for n in ("token_f1", "rouge", "bleu", "chrf", "edit_distance", "rules")},
    **{("scorer", n): "creval-diversity" for n in ("distinct", "set_distance")},
    ("source", "huggingface"): "creval-datasets",
    ("embedding", "sentence-transformers"): "creval-encoders",
    ("embedding", "glove"): "creval-encoders",
    ("embedding", "fasttext"): "creval-encoders",
    ("embedding", "vectors"): "creval-encoders",
    ("entailment", "transformers"): "creval-encoders",
    ("entailment", "exact"): "creval-encoders",
    ("entailment", "role"): "creval-encoders",
}
"""The distributions of components outside the core, by kind and name."""

_TASK_FAMILIES = {
    "creval-association": ("association", "aut", "cdat", "dat", "drat", "human_tests", "pace", "rat"),
    "creval-create": ("create",),
    "creval-creativityprism": ("creativityprism",),
    "creval-diversity": ("diversity", "noveltybench"),
    "creval-ideas": ("ideas", "liveideabench"),
    "creval-kumo": ("kumo",),
    "creval-neocoder": ("neocoder",),
    "creval-openended": ("bookmia", "hypogen", "jury", "macgyver", "novelty", "openended"),
    "creval-wordgames": ("clues", "connections", "wordgames", "words"),
    "creval-writing": ("vignettes",),
}
"""The distributions of tasks and suites, by the first part of their names (up to the first `_`)."""

_ANALYSES = {
    "judge-agreement": "creval-agreement",
    "corpus-scores": "creval-text",
    "trend": "creval-validity",
    "validity": "creval-validity",
    "writing-ranking": "creval-writing",
}
"""The distributions of analyses whose names do not begin with that of the distribution."""

_PLUGINS = frozenset(
    {"association", "create", "embedded", "kumo", "lmeval", "neocoder", "openended", "reasoning_gym", "validity"}
)
"""Plugins with their own commands (`creval kumo`), or with a collection of tasks (`lmeval/gsm8k`)."""

_CLOCK_TICK_NS = 50_000_000
"""Two changes of a folder within this time may have the same time stamp."""
_REQUIREMENT = re.compile(r"creval(?![\w.-])\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?$", re.IGNORECASE)


class Distribution(NamedTuple):
    """An installed distribution with plugins.

    `plugins` are (plugin name, target) pairs, the target a module or `module:attribute`. `core_api` is the
    requirement on the distribution `creval` (`>=0.1,<0.2`; empty: none stated). `folder` is its dist-info.
    """

    name: str
    version: str
    core_api: str
    plugins: tuple[tuple[str, str], ...]
    folder: Path


def find_distributions(path: Sequence[str] | None = None) -> Sequence[Distribution]:
    """Return the distributions on `path` (default: sys.path) with entry points of group `creval`, sorted by name.

    Of two copies of a distribution the first one on the path counts, as for imports.
    """
    entries = dict.fromkeys(sys.path if path is None else path)
    found = map(_folders_in, entries)
    return _distributions(tuple((changed, folders) for changed, folders in found if folders))


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116
    except OSError:
        return 0


def _folders_in(entry: str) -> tuple[int, Sequence[str]]:
    """Return when a folder of the import path ("": the working directory) was changed, and its dist-info folders.

    They are cached until the folder changes, as an installation changes it.
    """
    folder = entry or str(Path.cwd())
    changed = _changed(folder)
    recent = time.time_ns() - changed < _CLOCK_TICK_NS
    return changed, _listed.__wrapped__(folder, changed) if recent else _listed(folder, changed)


@functools.lru_cache(maxsize=256)
def _listed(entry: str, _changed: int) -> Sequence[str]:
    """List dist-info folders as texts: there are hundreds at every start, and Path objects would take milliseconds."""
    try:
        names = os.listdir(entry)  # noqa: PTH208
    except OSError:
        return ()
    return tuple(f"{entry}/{name}" for name in sorted(names) if name.endswith((".dist-info", ".egg-info")))


@functools.lru_cache(maxsize=4)
def _distributions(path: tuple[tuple[int, Sequence[str]], ...]) -> Sequence[Distribution]:
    """Return the distributions of dist-info folders, which are given with the time at which their parent changed."""
    by_name: dict[str, Distribution] = {}
    for folder in itertools.chain.from_iterable(folders for _, folders in path):
        plugins = _entry_points(folder)
        if plugins:
            name, version, core_api = _metadata(folder)
            by_name.setdefault(normal_name(name), Distribution(name, version, core_api, tuple(plugins), Path(folder)))
    return tuple(by_name[name] for name in sorted(by_name))


def installed_version(name: str, path: Sequence[str] | None = None) -> str | None:
    """Return the version of an installed distribution, or None."""
    normalised = normal_name(name)
    for folder in _metadata_folders(sys.path if path is None else path):
        if normal_name(folder.rpartition("/")[2]).startswith(normalised):
            distribution, version, _ = _metadata(folder)
            if normal_name(distribution) == normalised:
                return version
    return None


def absent_distribution(kind: str, name: str) -> str | None:
    """Return the distribution with a component of this name, if it is known and not installed."""
    return _if_absent(_DISTRIBUTION_OF_COMPONENT.get((kind, name)))


def absent_distribution_of_task(name: str) -> str | None:
    """Return the distribution with the tasks of this family, if it is known and not installed."""
    plugin, _, short = name.rpartition("/")
    family = short.removeprefix("paper_").partition("_")[0]
    return absent_distribution_of_plugin(plugin) or _if_absent(_distribution_of(short) or _distribution_of(family))


def absent_distribution_of_analysis(name: str) -> str | None:
    """Return the distribution with an analysis of this name, if it is known and not installed."""
    return _if_absent(_ANALYSES.get(name) or _distribution_of(name.partition("-")[0]))


def absent_distribution_of_plugin(name: str) -> str | None:
    """Return the distribution of a plugin with commands or a collection of tasks, if it is not installed."""
    return _if_absent(f"creval-{name}" if name in _PLUGINS else None)


def _distribution_of(family: str) -> str | None:
    return next((each for each, families in _TASK_FAMILIES.items() if family in families), None)


def _if_absent(distribution: str | None) -> str | None:
    return distribution if distribution is not None and installed_version(distribution) is None else None


def _metadata_folders(path: Sequence[str]) -> Iterator[str]:
    for entry in dict.fromkeys(path):
        yield from _folders_in(entry)[1]


def _entry_points(folder: str) -> list[tuple[str, str]]:
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123
            content = file.read()
    except OSError:
        return []
    if GROUP.encode() not in content:
        return []
    plugins = []
    section = ""
    for line in content.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            section = text[1:-1].strip()
        elif section == GROUP and "=" in text and not text.startswith(("#", ";")):
            name, _, target = text.partition("=")
            plugins.append((name.strip(), target.partition("[")[0].strip()))
    return plugins


def _metadata(folder: str) -> tuple[str, str, str]:
    """Return name, version and the requirement on creval from the metadata's header."""
    stem = folder.rpartition("/")[2].rsplit(".", 1)[0]
    name, _, version = stem.partition("-")
    clauses: list[str] = []
    for line in _header(folder):
        key, _, value = line.partition(":")
        value = value.strip()
        if key == "Name":
            name = value
        elif key == "Version":
            version = value
        elif key == "Requires-Dist":
            match = _REQUIREMENT.match(value)
            # A requirement of an extra says nothing about the plugin itself.
            if match and "extra" not in (match[2] or ""):
                clauses.append(match[1].strip())
    # "creval @ file:..." pins a place, not a version.
    return name, version, ",".join(clause for clause in clauses if clause and not clause.startswith("@"))


def _header(folder: str) -> Iterator[str]:
    for file_name in ("METADATA", "PKG-INFO"):
        try:
            with open(f"{folder}/{file_name}", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                for line in file:
                    if not line.strip():
                        return
                    yield line
            return
        except OSError:
            continue


def normal_name(name: str) -> str:
    """Return the name of a distribution in the form in which pip compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()
