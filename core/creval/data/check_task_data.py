"""Checks the components of a task, and its templates against its data: faults that the YAML alone cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from creval.data.dataset import Dataset
from creval.data.doc_fit import prompts_of
from creval.errors import CrevalError, MissingPartError, PluginError, Problem
from creval.plugins.registry import Registry
from creval.plugins.traits import ParserTraits
from creval.tasks.task_model import ComponentRef, ScorerRef, Task
from creval.tasks.templates.rendering import undefined_fields
from creval.types.kinds import Kind

__all__ = ["check_components", "check_fields", "parsers_of", "scorers_of"]


def parsers_of(task: Task) -> Iterator[tuple[str, ComponentRef]]:
    """Yield the parsers of all readings of a task, each with its key path."""
    for name, chain in task.chains.items():
        section = f"readings.{name}" if name else "parse"
        written = task.resolved["readings"][name] if name else task.resolved.get("parse")
        yield from ((f"{section}[{i}]" if isinstance(written, list) else section, ref) for i, ref in enumerate(chain))


def scorers_of(task: Task) -> Iterator[tuple[str, ComponentRef]]:
    """Yield the scorers of a task, each with its key path."""
    listed = isinstance(task.resolved.get("score"), list)
    for index, ref in enumerate(task.score):
        place = ref.position if isinstance(ref, ScorerRef) else index
        yield (f"score[{place}]" if listed else "score"), ref


def check_components(task: Task, registry: Registry) -> Sequence[Problem]:
    """Create every parser and scorer of a task once and return faults of its parameters (e.g. a faulty pattern).

    Opens no resource. A missing package is not a fault of the task; a run reports it.
    """
    sections: tuple[tuple[Kind, Iterator[tuple[str, ComponentRef]]], ...] = (
        ("parser", parsers_of(task)),
        ("scorer", scorers_of(task)),
    )
    problems = []
    for kind, refs in sections:
        for path, ref in refs:
            try:
                component = registry.get(kind, ref.name)
                if kind == "scorer":
                    component.make_scorer(ref.parameters)
                else:
                    component.load()(**ref.parameters)
            except (MissingPartError, PluginError):
                continue
            except CrevalError as error:
                message, fix = error.what, error.fix
            except (Exception, SystemExit) as error:  # a plugin's own code
                message, fix = f"{type(error).__name__}: {error}", None
            else:
                continue
            problems.append(task.problem_at(path, f"the {kind} {ref.name!r} cannot be made: {message}", fix))
    return list(dict.fromkeys(problems)) or [*_check_kinds(task, registry), *_check_means(task, registry)]


def _check_means(task: Task, registry: Registry) -> Iterator[Problem]:
    """Yield a problem for every mean over groups, and part of a metric of metrics, that is not a ratio of sums."""
    parts = {name: each.name for each in task.combined for name in each.parts}
    for metric in task.metrics:
        use = "is a mean over groups" if metric.average != "micro" else f"is part of {parts.get(metric.name)!r}"
        ref = metric.aggregate
        if metric.average == "micro" and metric.name not in parts:
            continue
        try:
            ratio = hasattr(registry.get("aggregation", ref.name).load()(**ref.parameters), "own_parts")
        except (Exception, SystemExit):  # a plugin's own code; the run reports it when it creates the component
            continue
        if not ratio:
            what = f"the metric {metric.name!r} {use}, which {ref.name} cannot be"
            yield task.problem_at("metrics", what, "Aggregate by mean, rate or pass@k.")


def _check_kinds(task: Task, registry: Registry) -> Sequence[Problem]:
    """Return a problem for every scorer that cannot use the values of its reading's parsers (if both declare kinds)."""
    parsers = {name: [registry.find("parser", ref.name) for ref in chain] for name, chain in task.chains.items()}
    kinds = {
        name: _value_kinds(
            [part.parser_traits(ref.parameters) for part, ref in zip(parts, task.chains[name], strict=True) if part]
        )
        for name, parts in parsers.items()
    }
    problems = []
    for path, ref in scorers_of(task):
        scorer = registry.find("scorer", ref.name)
        if scorer is None:
            continue
        name, value_kinds = ref.name, kinds[ref.reading if isinstance(ref, ScorerRef) else ""]
        takes = scorer.scorer_traits(ref.parameters).takes
        wrong = sorted(kind for kind in value_kinds if kind and kind not in takes)
        # If one alternative fits, the others are for answers of another form.
        if takes and len(wrong) == len(value_kinds):
            parse = f"the reading {ref.reading!r}" if isinstance(ref, ScorerRef) and ref.reading else "`parse`"
            what = f"the scorer {name!r} takes a {' or a '.join(sorted(takes))}, but {parse} gives a {wrong[0]}"
            problems.append(task.problem_at(path, what, "Use another parser or scorer."))
    return problems


def _value_kinds(parsers: Sequence[ParserTraits]) -> set[str]:
    """Return the kinds of values of a parser chain (empty: any): those of the last parser of each alternative."""
    starts = [place for place, parser in enumerate(parsers) if not parser.refines]
    refining = [place for place in range(len(parsers)) if place not in starts]
    last = [max([place, *(each for each in refining if each > place)]) for place in starts] or refining[-1:]
    return {parsers[place].gives for place in last} if parsers else {"text"}


def check_fields(task: Task, dataset: Dataset, registry: Registry) -> Sequence[Problem]:
    """Return a problem for every field in a template that neither all docs have nor the protocol provides."""
    problems: list[Problem] = []
    for path, messages, provided in prompts_of(task, registry):
        found = undefined_fields(messages, dataset.fields, task.file, provided, dataset.optional_fields)
        problems.extend(problem._replace(path=path, message=problem.message + dataset.left_out) for problem in found)
    return problems
