"""What the search tests share: engines, random puzzles, and the published data."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from creval_kumo.games.instance import Instance
from creval_kumo.published.published_domains import PublishedDomain, read_domains, read_instances
from creval_kumo.search.compiled_engine import available

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=["python", "compiled"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine in turn; the compiled one needs numba."""
    if request.param == "compiled" and not available():
        pytest.skip("numba is not installed: pip install numba")
    return str(request.param)


@pytest.fixture(scope="session")
def kumo_data(reference_data: Path) -> Path:
    """The folder of the authors' data."""
    folder = reference_data / "kumo"
    if not folder.is_dir():
        pytest.skip(f"no KUMO data in {reference_data}")
    return folder


@pytest.fixture(scope="session")
def published(kumo_data: Path) -> dict[str, PublishedDomain]:
    """The authors' configurations by name."""
    return read_domains(kumo_data / "seed_configs.jsonl.gz")


@pytest.fixture(scope="session")
def games(kumo_data: Path, published: dict[str, PublishedDomain]) -> Callable[[str, str], Iterator[Instance]]:
    """The sound published games of a domain and difficulty."""

    def read(domain: str, difficulty: str) -> Iterator[Instance]:
        return read_instances(kumo_data / "instances" / f"{domain}.{difficulty}.jsonl.gz", published[domain], "skip")

    return read


def _keyed(path: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(row["domain"], row["difficulty"], row["seed"]): row for row in rows}


@pytest.fixture(scope="session")
def expected_steps(kumo_data: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """E[S] of the published games by an independent exact solver; null where that did not finish."""
    return _keyed(kumo_data / "shipped_expected_steps.jsonl.gz")


@pytest.fixture(scope="session")
def golden_runs(kumo_data: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The authors' own optimal runs."""
    return _keyed(kumo_data / "golden_trajectories.jsonl.gz")
