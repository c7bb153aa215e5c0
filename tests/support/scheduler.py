"""How xdist spreads the files over its workers. Imported only where xdist is at work."""

from __future__ import annotations

from typing import Any

import pytest
from support.order import unit_of
from xdist.scheduler import LoadFileScheduling

__all__ = ["LongestFirst"]


class LongestFirst(LoadFileScheduling):
    """`--dist loadfile` that takes the files in the order in which the tests come."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
