"""Which code a component is made of, so that one that raised is not tried again before its code changes."""

from __future__ import annotations

import functools
import hashlib
import sys
from pathlib import Path

from creval.errors import CrevalError, MisshapenError
from creval.plugins.distributions import find_distributions, installed_version
from creval.types.sample import ComponentFault

__all__ = ["code_of", "fault_of", "is_unchanged"]


def fault_of(component: str, part: object, error: BaseException) -> ComponentFault | None:
    """Return the fault of a component that raised; None where another try may end otherwise.

    Other errors of creval than MisshapenError (a failed call), of the operating system and of memory are worth another
    try.
    """
    passes = isinstance(error, CrevalError) and not isinstance(error, MisshapenError)
    if passes or isinstance(error, OSError | MemoryError):
        return None
    module = type(part).__module__
    code = code_of(module)
    return ComponentFault(component, module, code) if code else None


def is_unchanged(fault: ComponentFault) -> bool:
    """Whether the component's code of today is that which raised. A module that is not imported is no component."""
    return bool(fault.code) and fault.code == code_of(fault.module)


def code_of(module: str) -> str:
    """Return `distribution version sha256:...` of an imported module; empty where it has no file."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        status = Path(file or "").stat() if file else None
        digest = _digest(file, status.st_mtime_ns, status.st_size) if file and status else ""
    except OSError:
        return ""
    return f"{_distribution(module.partition('.')[0])} sha256:{digest}" if digest else ""


@functools.lru_cache(maxsize=64)
def _digest(file: str, changed: int, size: int) -> str:
    """Read a file once for each state of it."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@functools.cache
def _distribution(package: str) -> str:
    for each in find_distributions():
        if any(target.partition(":")[0].partition(".")[0] == package for _, target in each.plugins):
            return f"{each.name} {each.version}"
    return f"{package} {installed_version(package) or 'unknown'}"
