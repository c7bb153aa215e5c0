"""Nothing of the user's own environment, and an index of names that is made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.user_environment import hide_user


@pytest.fixture(autouse=True, scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Load this plugin and no other, with a cache of its own. Skips without the library."""
    pytest.importorskip("reasoning_gym", reason="no Reasoning Gym: pip install reasoning-gym==0.1.25")
    folder = tmp_path_factory.mktemp("gym")
    with pytest.MonkeyPatch.context() as patch:
        hide_user(patch)
        patch.setenv("CREVAL_PLUGINS", "reasoning_gym")
        patch.setenv("CREVAL_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        yield folder
