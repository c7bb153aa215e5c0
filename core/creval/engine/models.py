"""The models of a run by role, sharing one budget and one limiter a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from creval.errors import UsageError
from creval.models.model import Model
from creval.models.opening import open_model
from creval.models.options import ModelOptions
from creval.plugins.registry import Registry

__all__ = ["RoleModels"]

TARGET = "target"


class RoleModels:
    """Opens the model of a role when it is first asked. `--base-url` belongs to the target alone."""

    def __init__(self, specs: Mapping[str, str], registry: Registry, options: ModelOptions) -> None:
        self._specs = dict(specs)
        self._registry = registry
        self._options = options
        self._open: dict[str, Model] = {}

    def get(self, role: str) -> Model:
        """Return the model that plays a role. Raises UsageError where none does."""
        if role not in self._open:
            if role not in self._specs:
                raise UsageError(
                    f"no model plays the role {role!r}", where="--role", cure=f"Add: --role {role}=<provider>/<model>"
                )
            options = self._options if role == TARGET else replace(self._options, base_url=None)
            self._open[role] = open_model(self._specs[role], self._registry, options)
        return self._open[role]

    def describe(self) -> dict[str, dict[str, Any]]:
        """Return plain data on the models opened, by role."""
        return {role: model.describe() for role, model in self._open.items()}

    def opened(self) -> Mapping[str, Model]:
        """Return the models opened so far, by role."""
        return self._open

    async def close(self) -> None:
        """Close them all."""
        for model in self._open.values():
            await model.close()
