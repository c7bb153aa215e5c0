"""`creval analyse jury-agreement`: judges and annotators against the majority (Tables 2, 16, 17; Figure 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from creval.plugin import AnalysisOutput, FieldSpec, open_runs
from creval.plugin.report import write_csv
from creval_agreement.two_raters import agreement
from creval_analyses.figures import COLOURS, add_legend
from creval_openended.analyses.output import FIGURES, OPTIONS, finished
from creval_openended.validation.judged import Judged, read_judged
from creval_openended.validation.labels import Labels, Place, Verdicts, read_labels
from creval_openended.validation.rejection import area_under_rejection, area_under_rejection_released

__all__ = ["THRESHOLDS", "JuryAgreement", "pairwise_kappas", "threshold_accuracies"]

COLUMNS = (
    *(
        "who",
        "criterion",
        "n",
        "abstained",
        "failed",
        "accuracy",
        "AUARC",
        "AUARC_released",
        "kappa",
        "others_n",
        "others",
    ),
    *("others_kappa", "yes"),
)
THRESHOLDS = tuple(step / 10 for step in range(3, 10))
_POOLED = "all"
_OPTIONS = (
    FieldSpec("labels", "file", None, "Labels by people: doc, criterion, label (1 or 0), optionally annotator."),
    FieldSpec("people", "file", (), "A run that a person judged (creval play --as judge).", True),
)
_NOTES = (
    "accuracy, kappa: against the majority of all annotators, which contains each of them. others, others_kappa: "
    "annotators against the majority of the others. yes: the share of positive labels, what an always-yes judge gets.",
    "AUARC: mean accuracy of the m most confident verdicts over m, ties averaged. AUARC_released: as the released "
    "code, by the probability of yes. Verdicts that are missing count in neither: abstained (no verdict in the "
    "replies), failed (a call without a reply).",
)


class JuryAgreement:
    """Accuracy, AUARC and kappa of judges and people, kappa of pairs of people, accuracy by threshold."""

    example = "runs/jury --labels labels.csv"

    def options(self) -> Sequence[FieldSpec]:
        """Return the options."""
        return (*OPTIONS, *_OPTIONS)

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Compare every judge in the runs with people."""
        opened = open_runs(runs)
        named = [str(each) for each in options.get("people") or ()]
        people = open_runs(named) if named else []
        labels = read_labels(Path(options["labels"]) if options.get("labels") else None, people, opened)
        judged = read_judged(opened, options.get("task"))
        gold = labels.gold
        by_judge = {name: [each for each in judged if each.judge == name] for name in _names(judged)}
        rows = [row for name, some in by_judge.items() for row in _judge_rows(name, some, gold)]
        if len(labels.by) > 1:
            rows += [row for name in labels.by for row in _annotator_rows(name, labels)]
        curves = {name: curve for name, some in by_judge.items() if (curve := threshold_accuracies(some, gold))}
        kappas = pairwise_kappas(labels)
        notes = [*_NOTES, *_summary_lines(kappas, curves)]
        plot = _plot(curves) if curves else None
        output = finished("jury-agreement", "Judges and people", (COLUMNS, rows), notes, options, plot)
        if options.get("output") and kappas:
            names = sorted(labels.by)
            table = [[one, *(kappas.get(_pair(one, other)) for other in names)] for one in names]
            write_csv(Path(str(options["output"])) / "pairwise-kappa.csv", ["annotator", *names], table)
        return output


def pairwise_kappas(labels: Labels) -> dict[tuple[str, str], float | None]:
    """Return Cohen's kappa of each pair of annotators, the mean over criteria (Table 16); None where undefined."""
    found: dict[tuple[str, str], float | None] = {}
    for one, other in combinations(sorted(labels.by), 2):
        values = []
        for criterion in _criteria(labels.by[one]):
            shared = [place for place in labels.by[one] if place in labels.by[other] and place.criterion == criterion]
            kappa = _kappa([labels.by[one][p] for p in shared], [labels.by[other][p] for p in shared])
            if kappa is not None:
                values.append(kappa)
        found[one, other] = fmean(values) if values else None
    return found


def threshold_accuracies(judged: Sequence[Judged], gold: Verdicts) -> dict[float, float]:
    """Return the accuracy at each threshold from runs with a verdict after every round (Figure 12); {} without them."""
    whole = [each for each in judged if each.place in gold and _all_rounds(each)]
    if not whole:
        return {}
    found = {}
    for threshold in THRESHOLDS:
        right = []
        for each in whole:
            ended = next((stage for stage in each.stages if stage["mean"] > threshold), each.stages[-1])
            right.append(ended["verdict"] == gold[each.place])
        found[threshold] = fmean(right)
    return found


def _all_rounds(judged: Judged) -> bool:
    return len(judged.stages) > 1 and all(stage["verdict"] is not None for stage in judged.stages)


def _judge_rows(name: str, judged: Sequence[Judged], gold: Verdicts) -> Iterator[tuple[Any, ...]]:
    known = [each for each in judged if each.place in gold]
    for criterion, some in _by_criterion(known, lambda each: each.place.criterion):
        given = [each for each in some if each.fulfilled is not None]
        truth = [gold[each.place] for each in given]
        said = [bool(each.fulfilled) for each in given]
        sure = [each for each in given if each.confidence is not None]
        right = [each.fulfilled == gold[each.place] for each in sure]
        area = area_under_rejection(right, [float(each.confidence or 0) for each in sure])
        released = area_under_rejection_released(
            [gold[each.place] for each in sure], [float(each.probability or 0) for each in sure]
        )
        failed = sum(each.failed for each in some)
        base = fmean(gold[each.place] for each in some) if some else None
        yield (
            *(name, criterion, len(given), len(some) - len(given) - failed, failed),
            *(_accuracy(truth, said), area, released, _kappa(truth, said), None, None, None, base),
        )


def _annotator_rows(name: str, labels: Labels) -> Iterator[tuple[Any, ...]]:
    own, gold, others = labels.by[name], labels.gold, labels.without(name)
    for criterion, places in _by_criterion(list(own), lambda place: place.criterion):
        shared = [place for place in places if place in gold]
        apart = [place for place in places if place in others]
        truth, said = [gold[p] for p in shared], [own[p] for p in shared]
        rest, mine = [others[p] for p in apart], [own[p] for p in apart]
        yield (
            *(name, criterion, len(shared), 0, 0, _accuracy(truth, said), None, None, _kappa(truth, said)),
            *(len(apart), _accuracy(rest, mine), _kappa(rest, mine), fmean(truth) if truth else None),
        )


def _by_criterion(items: Sequence[Any], of: Callable[[Any], str]) -> Iterator[tuple[str, list[Any]]]:
    names = list(dict.fromkeys(map(of, items)))
    for name in names:
        yield name, [item for item in items if of(item) == name]
    if len(names) > 1:
        yield _POOLED, list(items)


def _accuracy(truth: Sequence[bool], said: Sequence[bool]) -> float | None:
    return agreement(list(map(float, truth)), list(map(float, said))).accuracy if truth else None


def _kappa(truth: Sequence[bool], said: Sequence[bool]) -> float | None:
    return agreement(list(map(float, truth)), list(map(float, said))).kappa if truth else None


def _names(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(each.judge for each in judged))


def _criteria(verdicts: Mapping[Place, bool]) -> list[str]:
    return list(dict.fromkeys(place.criterion for place in verdicts))


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _summary_lines(
    kappas: Mapping[tuple[str, str], float | None], curves: Mapping[str, Mapping[float, float]]
) -> Iterator[str]:
    known = [kappa for kappa in kappas.values() if kappa is not None]
    if known:
        yield f"Kappa of pairs of annotators, mean over criteria and {len(known)} pairs: {fmean(known):.4f}."
    for name, curve in curves.items():
        points = ", ".join(f"{threshold:.1f}: {accuracy:.3f}" for threshold, accuracy in curve.items())
        yield f"{name}, accuracy by threshold of confidence: {points}."


def _plot(curves: Mapping[str, Mapping[float, float]]) -> Callable[[Path], Sequence[Path]]:
    def plot(base: Path) -> Sequence[Path]:
        with FIGURES.draw(1, 1, 6.0, 4.0) as (drawn, axes):
            for number, (name, curve) in enumerate(curves.items()):
                colour = COLOURS[number % len(COLOURS)]
                axes[0].plot(list(curve), list(curve.values()), "o-", label=name, color=colour)
            axes[0].set_xlabel("threshold of confidence")
            axes[0].set_ylabel("accuracy")
            axes[0].set_ylim(0, 1.02)
            add_legend(drawn, axes)
            return FIGURES.save(drawn, base)

    return plot
