"""Models, roles and resources without a run, for commands and analyses that ask models.

Promised: these names follow semantic versioning. It imports the engine.
"""

from __future__ import annotations

from creval.engine.workbench import Workbench
from creval.models.model import Model

__all__ = ["Model", "Workbench"]
