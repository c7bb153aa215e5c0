"""What the tests share: nothing of the user's own environment, and lm-eval's caches in a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.lmeval_data import FOLDERS, make_data
from support.lmeval_server import GeneratingServer
from support.user_environment import hide_user

from creval_lmeval import names
from creval_lmeval.library import load_task
from creval_lmeval.roots import known

os.environ.setdefault("DISABLE_MULTIPROC", "1")  # lm-eval's bootstrap would start a pool


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with made-up data sets, in which this process works, with caches of its own."""
    folder = tmp_path_factory.mktemp("lmeval")
    with pytest.MonkeyPatch.context() as patch:
        hide_user(patch)
        patch.setenv("CREVAL_PLUGINS", "lmeval,likelihoods,datasets,sandbox")
        patch.setenv("CREVAL_CACHE", str(folder / "cache"))
        patch.setenv("CREVAL_STATE", str(folder / "state"))
        patch.delenv("CREVAL_DATA", raising=False)
        patch.chdir(folder)
        datasets = pytest.importorskip("datasets", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "hf")
        patch.setattr("creval.scoring.intervals.REPLICATES", 60)
        patch.setattr("creval_lmeval.aggregation.ITERATIONS", 100)
        make_data(folder)
        index_some()
        yield folder


def index_some() -> None:
    """Make an index of some folders: the whole takes seconds."""
    found = names.installed()
    assert found is not None
    rows = sorted(row for folder in FOLDERS for row in names._built(found.tasks / folder))
    names.write_index(found.cache / "names.json", list({row[0]: row for row in rows}.values()))
    known.cache_clear()
    load_task.cache_clear()


@pytest.fixture(scope="module")
def server() -> Iterator[GeneratingServer]:
    """A server that writes and gives log-likelihoods."""
    with GeneratingServer() as made:
        yield made
