"""Identifies the code of a component, so that one that raised is not tried again until its code changes."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import sys
from pathlib import Path

from creval.errors import CrevalError, InterfaceError
from creval.plugins.distributions import find_distributions, installed_version
from creval.types.sample import ComponentFault

__all__ = ["code_of", "fault_of", "is_unchanged"]


def fault_of(component: str, part: object, error: BaseException) -> ComponentFault | None:
    """Return the fault of a component that raised, or None if another try may succeed.

    That is the case for errors of creval other than InterfaceError (e.g. a failed call), of the operating system, of
    memory, and for a task that a library cancelled.
    """
    passes = isinstance(error, CrevalError) and not isinstance(error, InterfaceError)
    if passes or isinstance(error, OSError | MemoryError | asyncio.CancelledError):
        return None
    module = type(part).__module__
    code = code_of(module)
    return ComponentFault(component, module, code) if code else None


def is_unchanged(fault: ComponentFault) -> bool:
    """Whether the component's current code is the code that raised; False if its module is not imported."""
    return bool(fault.code) and fault.code == code_of(fault.module)


def code_of(module: str) -> str:
    """Return `distribution version sha256:...` of an imported module; empty if it has no file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        status = Path(file or "").stat() if file else None
        digest = _digest(file, status.st_mtime_ns, status.st_size) if file and status else ""
    except OSError:
        return ""
    return f"{_distribution(module.partition('.')[0])} sha256:{digest}" if digest else ""


@functools.lru_cache(maxsize=64)
def _digest(file: str, changed: int, size: int) -> str:
    """Return the digest of a file, which is read again only if it has changed."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@functools.cache
def _distribution(package: str) -> str:
    for each in find_distributions():
        if any(target.partition(":")[0].partition(".")[0] == package for _, target in each.plugins):
            return f"{each.name} {each.version}"
    return f"{package} {installed_version(package) or 'unknown'}"
