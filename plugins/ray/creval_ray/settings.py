"""Settings from `--executor-option`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from creval.plugin import MissingPartError, UnknownNameError, UsageError

__all__ = ["Settings"]

_OPTION = "--executor-option"
_NAMES = ("workers", "env", "batch", "cpus", "patience")


@dataclass(frozen=True, slots=True)
class Settings:
    """`workers` of each kind (None: as many as fit into the cluster); `env` names the variables that they get.

    `batch`: maximum number of samples scored in one piece of work. `cpus`: cores that Ray reserves per worker.
    `patience`: seconds to wait for the first worker, and for another one if all are lost.
    """

    workers: int | None = None
    env: tuple[str, ...] = ()
    batch: int = 32
    cpus: int = 1
    patience: float = 120.0

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Settings:
        """Read the options. Raises UnknownNameError, UsageError."""
        for name in given:
            if name not in _NAMES:
                raise UnknownNameError("option of the executor ray", name, _NAMES, where=_OPTION)
        numbers = {name: _number(name, given[name]) for name in ("workers", "batch", "cpus") if name in given}
        if "patience" in given:
            numbers["patience"] = _number("patience", given["patience"])
        names = tuple(name for name in given.get("env", "").replace("+", ",").split(",") if name)
        return cls(**numbers, env=names)

    def environment(self) -> dict[str, str]:
        """Return the workers' variables, from this process's environment. Raises MissingPartError if one is not set."""
        missing = [name for name in self.env if name not in os.environ]
        if missing:
            raise MissingPartError(
                f"the variable {missing[0]} is not set here",
                where=f"{_OPTION} env",
                fix=f"Set it (export {missing[0]}=...), or leave it out.",
            )
        return {name: os.environ[name] for name in self.env}


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or not int(text[:9]) > 0:
        raise UsageError(f"{name}={text} is not a number of 1 or more", where=_OPTION)
    return int(text[:9])
