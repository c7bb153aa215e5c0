"""The example in the help of each analysis runs as printed, where what it names is there."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from support.commands import creval

from creval.plugins.loader import load_plugins
from creval_analyses.cli import _command

REGISTRY = load_plugins().registry
NAMES = [
    *(name for name in REGISTRY.names("analysis") if name.startswith("kumo-") and name != "kumo-split"),
    "trend",
    "validity",
]
"""kumo-split's example takes a domain of the authors, which is fetched; other plugins' analyses need judges or the
sandbox, and their own tests run them on runs that they make."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, a table of other benchmarks, and release dates."""
    place = tmp_path_factory.mktemp("examples")
    few = ("--tasks", "kumo_easy", "--limit", "3", "--repeats", "1")
    for model, name in (("baseline/floor", "mine"), ("baseline/ceiling", "other")):
        done = creval(place, *few, "--model", model, "-o", f"runs/{name}")
        assert done.returncode == 0, done.stderr
    (place / "benchmarks.csv").write_text("model,some_benchmark\nbaseline/floor,0.1\nbaseline/ceiling,0.9\n")
    models = ("gpt-3-5-turbo", "gpt-4-turbo", "gpt-4.1", "gpt-5")
    dates = "".join(f"openai/{model},202{year}-03-01\n" for year, model in enumerate(models, 3))
    (place / "dates.csv").write_text(f"model,date\n{dates}")
    return place


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_an_analysis_runs(folder: Path, name: str) -> None:
    example = str(_command(REGISTRY.get("analysis", name)).epilog).removeprefix("Example: creval ")
    done = creval(folder, *shlex.split(example))
    assert done.returncode == 0, f"creval {example}\n{done.stderr}"
