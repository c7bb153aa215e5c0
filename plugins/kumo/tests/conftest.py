"""Lets the tests of this folder import what they share (`kumo_games`, ...), and gives them a clone to read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def clone(reference_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out like the authors' repository, made of the published data of four domains."""
    from authors_clone import lay_out_domains

    folder = tmp_path_factory.mktemp("clone")
    lay_out_domains(folder, reference_data / "kumo", ("MedicalEnv", "FantasyEnv", "FishEnv", "CurrencyEnv"))
    return folder
