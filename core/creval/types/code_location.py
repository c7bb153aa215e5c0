"""Where a component's code is, as file and line, for messages about its faults."""

from __future__ import annotations

import inspect
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["line_of", "source_of"]

_LOG = logging.getLogger("creval.parts")


def source_of(method: Callable[..., Any]) -> str:
    """Return `file.py:12` for the definition of a function or method, or its module if the source is unknown."""
    code = getattr(inspect.unwrap(method), "__code__", None)
    if code is None:
        return f"module {getattr(method, '__module__', 'unknown')}"
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def line_of(error: BaseException) -> str:
    """Return `file.py:12`, where an error was raised; the traceback goes to the log `creval.parts`."""
    _LOG.debug("a part failed", exc_info=error)
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
