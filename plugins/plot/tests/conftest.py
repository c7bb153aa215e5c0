"""Runs of baselines, and copies of them under the names of models."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.plot_runs import MODELS, change_by, copy_run

import creval


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`floor`, `ceiling`, and `warm`: floor under three temperatures."""
    folder = tmp_path_factory.mktemp("runs")
    for name, model, varied in (
        ("floor", "baseline/floor", {}),
        ("ceiling", "baseline/ceiling", {}),
        ("warm", "baseline/floor", {"temperature": [0, 1, 2]}),
    ):
        options = creval.RunOptions(limit=6, repeats=1, seed=1, conditions=varied, output=folder / name)
        creval.run(["rat", "kumo_easy"], model, options)
    return folder


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """A folder with floor, ceiling, and three models with values, intervals and costs of their own."""
    for name in ("floor", "ceiling"):
        shutil.copytree(made / name, tmp_path / "runs" / name)
    for i, model in enumerate(MODELS):
        copy_run(made / "floor", tmp_path / "runs" / f"model-{i}", model, change_by(i))
    return tmp_path / "runs"
