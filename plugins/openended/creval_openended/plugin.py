"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params
from creval_openended.judges import register_judges

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]

_ANALYSES = (
    ("correlations", "commands:Correlations", "Entropy against surface measures of diversity, by step or by solution."),
    ("steps", "commands:Steps", "Entropy by the number of the step."),
    ("temperature", "temperature:Temperature", "Entropy and criteria by the temperature of sampling."),
    ("classes", "commands:Classes", "Entropy by the number of classes of meaning, and their histogram."),
    ("confounds", "commands:Confounds", "Confounds of entropy: length, place, temperature."),
    ("solutions", "solutions:Solutions", "Every solution with its entropy, and the interval over its candidates."),
    ("novelty", "novelty:Novelty", "Solutions ranked by a novelty judge, against entropy and people."),
)
_ENTROPIES = ("semantic_entropy", "semantic_entropy_count", "naive_entropy", "classes", "candidates")
_REVISION = params.text(
    pattern="^([0-9a-f]{40}|newest)$", about="a full commit of the hub, or newest: that of the first fetch, kept"
)
_EXPECTED: Mapping[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "integer", "minimum": 1}, "columns": params.list_of(params.text(1), minimum=1)},
    "additionalProperties": False,
    "description": "rows and columns that the newest commit must have; another one is refused",
}
_DIVERGENCE = (
    *(f"{name}{end}" for name in _ENTROPIES for end in ("", "_min", "_max")),
    "semantic_entropy_unfiltered",
    "relative_entropy",
    "steps",
)
_RANGES: Mapping[str, Any] = {
    **dict.fromkeys(_DIVERGENCE, (0, None)),
    **{f"{name}{end}": (1, None) for name in ("classes", "candidates") for end in ("", "_min", "_max")},
    "relative_entropy": (0, 1),
    "steps": (1, None),
}
"""Bounds without the number of candidates; the tasks, which sample ten, give tighter ones."""


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Commands under `creval openended`."""
    return {
        "import": "creval_openended.cli.importing:import_published",
        "discussion": "creval_openended.cli.discussion:discussion",
        "entailment-check": "creval_openended.cli.entailment_check:entailment_check",
    }


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the protocol, the scorers, the offline entailment model and the baselines."""
    _register_protocol(registry)
    _register_scorers(registry)
    _register_sources(registry)
    _register_baselines(registry)
    register_judges(registry)
    for name, target, summary in _ANALYSES:
        registry.add("analysis", f"openended-{name}", f"creval_openended.analyses.{target}", summary)


def _register_protocol(registry: Registry) -> None:
    registry.add(
        "protocol",
        "openended.stepwise",
        "creval_openended.stepwise.protocol:Stepwise",
        "a solution made step by step, the most probable of n candidates each",
        parameters=params.schema(
            n=params.integer(1, 128),
            steps=params.list_of(params.integer(1, 100), minimum=2),
            full_answer=params.flag(),
            variant=params.one_of(
                "paper", "released", about="the settings below as the paper or the released code has them"
            ),
            unit=params.one_of("step", "sentence"),
            select=params.one_of("mean", "sum"),
            majority=params.one_of("more_than_half", "half"),
            counted=params.one_of(
                "labels", "words", about="what steps of a full answer are: labels, or every word Step"
            ),
            ends=params.one_of("label", "line", about="where a candidate's step ends"),
            redraw=params.integer(0, about="times that a candidate of several steps is sampled again (0)"),
            leave_out=params.one_of(
                "nothing", "repeated_steps", about="solutions that are in no number but the unfiltered"
            ),
        ),
        prompts=("full", "step"),
        n=lambda parameters: parameters.get("n", 10),
        provides=("steps", "number", "limit", "last"),
    )


def _register_scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "openended.divergence",
        "creval_openended.task.divergence:Divergence",
        "entropy over classes of meaning among the candidates of each step",
        parameters=params.schema(
            rule=params.one_of("strict", "non_defeating"),
            variant=params.one_of(
                "paper", "released", about="the two below as the paper or the released code has them"
            ),
            label=params.one_of("drop", "keep", about="whether entailment sees Step 3:"),
            repeats=params.one_of("plain", "released", about="how candidates of one text count"),
            leave_out=params.one_of(
                "nothing", "repeated_steps", about="solutions that are in no number but the unfiltered"
            ),
        ),
        produces=_DIVERGENCE,
        ranges=_RANGES,
        uses=("entailment",),
        waits=True,
        batch_size=64,
    )
    registry.add(
        "scorer",
        "openended.surface",
        "creval_openended.task.surface:Surface",
        "how alike the candidates are by words and vectors",
        parameters=params.schema(cosine=params.one_of("candidates", "founders", about="among which texts of a step")),
        produces=("cosine", "self_bleu", "distinct_1", "distinct_2"),
        ranges={"cosine": (-1, 1), "self_bleu": (0, 1), "distinct_1": (0, 1), "distinct_2": (0, 1)},
        uses=("embedding",),
    )


def _register_sources(registry: Registry) -> None:
    registry.add(
        "source",
        "hypogen",
        "creval_openended.published.imported:open_hypogen",
        "HypoGen's bits and flips, from the Hugging Face hub",
        parameters=params.schema(revision=_REVISION, expected=_EXPECTED, remote=True),
    )
    registry.add(
        "source",
        "bookmia",
        "creval_openended.published.imported:open_bookmia",
        "beginnings and endings of BookMIA's excerpts, from the Hugging Face hub",
        parameters=params.schema(
            sentences=params.list_of(params.integer(1), minimum=2, about="of the beginning, of the ending"),
            between=params.integer(1, about="words that must be between them"),
            splitter=params.text(about="the rule that splits sentences"),
            revision=_REVISION,
            expected=_EXPECTED,
            remote=True,
        ),
    )
    registry.add(
        "source",
        "macgyver",
        "creval_openended.published.macgyver:open_macgyver",
        "the MacGyver problems out of their makers' workbook",
        parameters=params.schema(
            choice=params.one_of("paper", "solvable"),
            url=params.text(),
            wording=params.one_of(
                *("ours", "released", "llama", "vicuna", "mixtral"),
                about="the authors' texts, a field of each doc: released for GPT, the rest for local models",
            ),
            remote=True,
        ),
    )
    registry.add(
        "entailment",
        "cosine",
        "creval_openended.entropy.cosine:open_cosine",
        "cosine/0.85: no entailment, but closeness of sentence vectors, for trials offline",
    )


def _register_baselines(registry: Registry) -> None:
    registry.add(
        "baseline", "same_step", "creval_openended.task.baselines:SameStep", "the same step in every candidate"
    )
    registry.add(
        "baseline",
        "unrelated_steps",
        "creval_openended.task.baselines:UnrelatedSteps",
        "a different step in every candidate",
    )
    registry.add(
        "baseline",
        "written_solution",
        "creval_openended.task.baselines:WrittenSolution",
        "the solution that the doc holds",
    )
