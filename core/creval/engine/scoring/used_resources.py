"""The names of metrics: a number made with another resource, or by a changed task, never has the task's plain name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.engine.run_options import RunOptions
from creval.plugins.registry import ANY_SCORE, Component, Registry
from creval.tasks.sections.resource_section import resource_kind, role_behind
from creval.tasks.task_components import whole
from creval.tasks.task_model import ComponentRef, MetricSpec, ScorerRef, Task

__all__ = ["UsedResources", "changed_parameters", "changed_sections", "standard_metric"]

_DESCRIBING = frozenset({"title", "description", "tests", "task", "version", "source", "measures", "template"})
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class UsedResources:
    """The resources behind the numbers of one task in this run.

    `chosen` are the specifications in use, of resources and of the models of roles. `own` are those that the task names
    (a role without a model in the task has no entry). `names` are the full names, with revision or checksum if the
    resource reports it. `notes` are remarks for readers of the numbers. `played_with` are the full names of those that
    only a baseline uses: they produce answers, not numbers, and the run of another model has none.
    """

    chosen: Mapping[str, str]
    own: Mapping[str, str]
    names: Mapping[str, str]
    notes: Sequence[str] = ()
    played_with: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        task: Task,
        options: RunOptions,
        opened: Mapping[str, str],
        target: str = "",
        used: Collection[str] | None = None,
    ) -> UsedResources:
        """Return the resources of a task; `opened` are the full names of the resources that are open.

        `used` are the names of those that protocol, parsers and scorers use (None: all).
        """
        resources = {name: options.resources.get(name, spec) for name, spec in task.resources.items()}
        roles = {role: options.roles.get(role) or task.role_models.get(role) for role in task.roles}
        named = {role: spec for role, spec in roles.items() if spec is not None}
        chosen = resources | {role: _with_settings(spec, task, role, options) for role, spec in named.items()}
        notes = [
            f"the {role} is the target itself ({spec}): a model favours its own answers"
            for role, spec in roles.items()
            if spec is not None and _without_route(spec) == _without_route(target)
        ]
        named = {**chosen, **opened}
        unused = set() if used is None else {name for name in resources if name not in used}
        names = {name: full for name, full in named.items() if name not in unused}
        played = {name: full for name, full in opened.items() if name in unused}
        return cls(chosen, {**task.resources, **task.role_models}, names, notes, played)

    def metric_name(self, task: Task, metric: MetricSpec, registry: Registry) -> str:
        """Return `drat`, or `drat[embedded/minilm]` if another resource was used, `drat[quantile=0.8]` ...

        If the task builds on a plugin's task from outside the plugin, it is compared with that task's resources and
        parameters.
        """
        foreign = [*self._foreign(task, metric, registry), *changed_parameters(task, metric, registry)]
        return f"{metric.name}[{', '.join(foreign)}]" if foreign else metric.name

    def _foreign(self, task: Task, metric: MetricSpec, registry: Registry) -> list[str]:
        """Return the resources behind a metric that are not the task's own.

        A resource is behind a metric if the task's protocol uses it, or a scorer that produces its score.
        """
        components = [*whole(registry.get("protocol", task.protocol.name), task.protocol, registry)]
        scorers = [(registry.get("scorer", ref.name), ref) for ref in task.score]
        declared = any(_gives(scorer, ref, metric.source) for scorer, ref in scorers)
        for scorer, ref in scorers:
            if _gives(scorer, ref, metric.source) or (not declared and _may_give(scorer, ref, metric.source)):
                components += whole(scorer, ref, registry)
        own = self.own
        if task.base is not None and standard_metric(task, metric) is not None:
            own = {**own, **task.base.resources, **task.base.role_models}
        used = {name for component in components for name in (*component.uses, *component.roles)}
        specs = {**self.chosen, **own}  # the models that the task's own resources ask
        return [
            _spelled(self.chosen[name], self.chosen)
            for name in sorted(used)
            if name in own
            and name in self.chosen
            and not _same_resource(name, _spelled(self.chosen[name], self.chosen), _spelled(own[name], specs), registry)
        ]


def _gives(scorer: Component, ref: ComponentRef, score: str) -> bool:
    """Whether a scorer declares a score of the task."""
    names = scorer.produces if not isinstance(ref, ScorerRef) else [ref.named(name) for name in scorer.produces]
    return score in names


def _may_give(scorer: Component, ref: ComponentRef, score: str) -> bool:
    """Whether a scorer that names its scores at run time may give one."""
    return ANY_SCORE in scorer.produces and (not isinstance(ref, ScorerRef) or ref.own(score) is not None)


def _spelled(spec: str, models: Mapping[str, str]) -> str:
    """Return a specification, with the model if a role answers: `role/judge=openai/gpt-5-mini`."""
    model = models.get(role_behind(spec) or "")
    return spec if model is None else f"{spec}={model}"


def _same_resource(name: str, first: str, second: str, registry: Registry) -> bool:
    """Whether two specifications of a resource (or role) name the same resource, or one declared as equal to it."""
    return _measured(name, first, registry) == _measured(name, second, registry)


def _measured(name: str, spec: str, registry: Registry) -> str:
    """Return the resource to which a resource is declared equal, else itself."""
    kind = resource_kind(name)
    first, _, model = spec.partition("/")
    component = registry.find(kind, first) if kind is not None else None
    declared = dict(entry.split("=", 1) for entry in component.equals if "=" in entry) if component else {}
    return declared.get(model, spec)


def _with_settings(spec: str, task: Task, role: str, options: RunOptions) -> str:
    """Return a model's name with the settings of its role that the user changed, which make it another resource."""
    defaults, changes = task.role_settings.get(role, {}), options.role_options.get(role, {}).get("generation", {})
    changed = [f"{name}={_shortened(value)}" for name, value in changes.items() if defaults.get(name) != value]
    return " ".join([spec, *changed])


def _without_route(spec: str) -> str:
    """Return a model's name without its route."""
    return spec.strip().removeprefix("litellm/")


def standard_metric(task: Task, metric: MetricSpec) -> MetricSpec | None:
    """Return the metric of the same name in the task that this one builds on, or None."""
    metrics = task.base.metrics if task.base is not None else ()
    return next((candidate for candidate in metrics if candidate.name == metric.name), None)


def changed_sections(task: Task) -> Sequence[str]:
    """Return the sections of the YAML that differ from the task it builds on, without those that only describe."""
    if task.base is None:
        return ()
    before, after = task.base.resolved, task.resolved
    keys = sorted({*before, *after} - _DESCRIBING)
    return [key for key in keys if before.get(key) != after.get(key)]


def changed_parameters(task: Task, metric: MetricSpec, registry: Registry) -> list[str]:
    """Return the differences from the plugin's metric of this name: `quantile=0.8`, `failed=exclude`, `scorer=x`."""
    standard = standard_metric(task, metric)
    if standard is None or task.base is None:
        return []
    marks = [*_scorer_marks(_producing(task, metric, registry), _producing(task.base, standard, registry))]
    if _plain_value(metric.aggregate) != _plain_value(standard.aggregate):
        marks.append(f"aggregate={_shortened(_plain_value(metric.aggregate))}")
    for name in ("source", "failed", "failed_value"):
        if getattr(metric, name) != getattr(standard, name):
            marks.append(f"{'from' if name == 'source' else name}={_shortened(getattr(metric, name))}")
    return marks


def _producing(task: Task, metric: MetricSpec, registry: Registry) -> dict[str, ComponentRef]:
    """Return the scorers that may produce the metric's score, by name."""
    producers = {}
    for ref in task.score:
        scorer = registry.get("scorer", ref.name)
        if _gives(scorer, ref, metric.source) or _may_give(scorer, ref, metric.source):
            producers[scorer.qualified] = ref
    return producers


def _scorer_marks(now: dict[str, ComponentRef], before: dict[str, ComponentRef]) -> Iterator[str]:
    for name, ref in now.items():
        if name not in before:
            yield f"scorer={ref.name}"
            continue
        old = before[name].parameters
        for key in sorted({*ref.parameters, *old}):
            if _plain_value(ref.parameters.get(key)) != _plain_value(old.get(key)):
                yield f"{key}={_shortened(_plain_value(ref.parameters[key])) if key in ref.parameters else 'default'}"


def _plain_value(value: Any) -> Any:
    if isinstance(value, ComponentRef):
        return {value.name: _plain_value(value.parameters)} if value.parameters else value.name
    if isinstance(value, Mapping):
        return {key: _plain_value(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(member) for member in value]
    return value


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
