"""How a plugin shows its tasks to people: the types of a screen, a component of kind `screen`.

Promised: these names follow semantic versioning. They are part of the core, so that a plugin with
screens works where nobody plays; `creval-people` shows them.
"""

from __future__ import annotations

from creval.types.screens import OptionGroup, PastStep, Screen, ScreenOption, Seat, View

__all__ = ["OptionGroup", "PastStep", "Screen", "ScreenOption", "Seat", "View"]
