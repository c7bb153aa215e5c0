"""The models of a run by role, sharing one budget and one limiter per provider."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from creval.engine.run_options import RunOptions
from creval.errors import UsageError
from creval.models.batching import Batching
from creval.models.budget import Budget
from creval.models.model import Model
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.plugins.registry import Registry
from creval.resources.resource_options import ResourceOptions
from creval.tasks.sections.settings import EXTRA

__all__ = ["TARGET", "Others", "RoleModels", "model_options"]

TARGET = "target"
Others = Callable[[str, str | None], Model]
"""Finds the model of a role that is not opened here, from the role and the task's own model for it."""


def model_options(options: RunOptions, budget: Budget) -> ModelOptions:
    """Return the options with which the models of a run are opened."""
    folder = ResourceOptions(cache=options.cache_folder).folder
    return ModelOptions(
        base_url=options.base_url,
        offline=options.offline,
        timeout=options.timeout,
        max_retries=options.max_retries,
        rate_limit_wait=options.rate_limit_wait,
        concurrency=options.concurrency,
        trust_remote_code=options.trust_remote_code,
        cache=folder / "responses.sqlite" if options.cache else None,
        budget=budget,
    )


class RoleModels:
    """Opens the model of a role on first use. `--base-url` applies to the model of one role, `addressed`, and to roles
    with the same model.

    `own` are a role's settings other than its model (`RunOptions.role_options`). With `batching` calls over a network
    are sent in batches when no other call of these models is in flight.
    """

    def __init__(
        self,
        specs: Mapping[str, str],
        registry: Registry,
        options: ModelOptions,
        addressed: str = TARGET,
        batching: Batching | None = None,
    ) -> None:
        self.batching = batching
        self.own: Mapping[str, Mapping[str, Any]] = {}
        self._specs = dict(specs)
        self._registry = registry
        self._options = options
        self._addressed = addressed
        self.others: Others | None = None
        self._open: dict[str, Model] = {}
        self._stand_ins: dict[str, Model] = {}
        if batching is not None:
            batching.others_in_flight = self.moving

    def get(self, role: str, default: str | None = None) -> Model:
        """Return the model of a role: the user's choice, else `default` (the task's own).

        Raises UsageError if there is neither.
        """
        if role in self._stand_ins:
            return self._stand_ins[role]
        if self.others is not None and role != TARGET:
            return self.others(role, default)
        choice = self._specs.get(role)
        name = role if choice is not None or default is None else f"{role}={default}"
        if name not in self._open:
            spec = choice or default
            if spec is None:
                raise UsageError(
                    f"no model plays the role {role!r}", where="--role", fix=f"Add: --role {role}=<provider>/<model>"
                )
            with self.explained(role, default):
                self._open[name] = self._open_role(role, spec)
        return self._open[name]

    @contextmanager
    def explained(self, role: str, default: str | None, kind: type[UsageError] = UsageError) -> Iterator[None]:
        """Let an error about a role's model say where it is named; for the task's own, also how to choose another."""
        try:
            yield
        except kind as error:
            own = self._specs.get(role) is None and default is not None
            if role != TARGET and (error.where == "--model" or (own and error.where in (None, f"--role {role}"))):
                error.where = f"roles: {role}" if own else f"--role {role}"
            line = f"The task chose {default} for the role {role!r}. For another: --role {role}=<provider>/<model>"
            if own and line not in (error.fix or ""):  # samples that wait for one call share the error
                error.fix = f"{error.fix}\n{line}" if error.fix else line
            raise

    def _open_role(self, role: str, spec: str) -> Model:
        same = role == self._addressed or spec == self._specs.get(self._addressed)
        options = self._options if same else replace(self._options, base_url=None)
        overrides = {name: value for name, value in self.own.get(role, {}).items() if name != "generation"}
        if overrides:
            options = replace(options, **overrides, own_limit=role if "concurrency" in overrides else "")
        return open_model(spec, self._registry, options, self.batching)

    @property
    def options(self) -> ModelOptions:
        """The options with which the models are opened, with the budget and limiters that they share."""
        return self._options

    def stand_in(self, role: str, model: Model) -> None:
        """Use this model in a role, whichever model the user named."""
        self._stand_ins[role] = model

    def named(self, role: str) -> str | None:
        """Return the user's model for a role, as written."""
        return self._specs.get(role)

    def settings(self, role: str) -> Mapping[str, Any]:
        """Return the user's generation settings of a role, which replace all others."""
        settings = self.own.get(role, {}).get("generation", {})
        return {**{name: value for name, value in settings.items() if name != EXTRA}, **settings.get(EXTRA, {})}

    def describe(self) -> dict[str, dict[str, Any]]:
        """Return plain data about the opened models, by role (`judge=openai/x`: a task's own model for the role)."""
        return {role: model.describe() for role, model in self._open.items()}

    def opened(self) -> Mapping[str, Model]:
        """Return the models opened so far, by role."""
        return self._open

    @property
    def batched(self) -> bool:
        """Whether a model opened so far sends its calls in batches."""
        return any(model.batched for model in self._open.values())

    def moving(self) -> bool:
        """Whether single (not batched) calls are in flight."""
        return any(model.stats().in_flight for model in self._open.values() if not model.batched)

    async def close(self) -> None:
        """Close them all."""
        for model in self._open.values():
            await model.close()
        if self.batching is not None:
            await self.batching.close()
