"""Check a run against a policy: go, no-go, or undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from creval.plugin import Run, UnknownNameError, UsageError
from creval_compare.metric_comparison import Comparison, ComparisonRequest, compare_runs
from creval_release.policy import Policy, Rule

__all__ = ["EXIT_CODES", "Answer", "Checked", "Decision", "decide"]

Answer = Literal["passed", "failed", "undecided"]
Decision = Literal["go", "no-go", "undecided"]

EXIT_CODES: Mapping[Decision, int] = {"go": 0, "no-go": 10, "undecided": 11}
"""Distinct from 1 to 3, which mean that a command or a run failed."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A checked rule: the number (a difference for a rule with a baseline), its interval, the answer."""

    rule: Rule
    task: str
    subject: str
    value: float | None
    low: float | None
    high: float | None
    answer: Answer


def decide(run: Run, policy: Policy, baseline: Run | None, force: bool = False) -> tuple[Decision, list[Checked]]:
    """Check every rule, and decide.

    No-go if a critical or supporting rule failed; undecided if a critical one is undecided. Raises UsageError
    if the run is a shard, or a rule needs a baseline and none is named, UnknownNameError for a task, metric or
    condition that the run does not have, and RunError if run and baseline are not comparable.
    """
    if baseline is None and any(rule.of_baseline for rule in policy.rules):
        raise UsageError(
            "a rule compares with a baseline, and none is named",
            where=str(policy.file),
            fix="Add --baseline RUN, or baseline: RUN to the file.",
        )
    shard = run.manifest.get("options", {}).get("shard")
    if shard:
        fix = "Make one run of all shards with creval merge, and check that run against the policy."
        raise UsageError(f"the run is shard {shard}, a part of a whole", where=str(run.folder), fix=fix)
    checked = [_check(run, rule, policy, baseline, force) for rule in policy.rules]
    deciding = [each for each in checked if each.rule.tier != "advisory"]
    if any(each.answer == "failed" for each in deciding):
        return "no-go", checked
    if any(each.answer == "undecided" and each.rule.tier == "critical" for each in deciding):
        return "undecided", checked
    return "go", checked


def _check(run: Run, rule: Rule, policy: Policy, baseline: Run | None, force: bool) -> Checked:
    task = _task(run, rule, policy)
    if rule.status is not None:
        counts = run.result(task)["counts"]
        share = counts[rule.status] / max(1, sum(counts.values()))
        return Checked(rule, task, f"share {rule.status}", share, None, None, _placed(rule, share, share))
    metric = _metric(run, task, rule, policy)
    if not rule.of_baseline:
        value, low, high = metric["value"], metric["ci_low"], metric["ci_high"]
        ends = (value, value) if rule.by == "value" else (low, high)
        return Checked(rule, task, metric["name"], value, low, high, _placed(rule, *ends))
    assert baseline is not None
    found, _ = compare_runs([baseline, run], ComparisonRequest((task,), (metric["name"],), force=force))
    comparison = next((each for each in found if each.condition == metric["condition"]), None)
    if comparison is None:
        raise UnknownNameError("condition", str(rule.condition), [], where=str(baseline.folder))
    return _check_against_baseline(rule, task, comparison, policy)


def _placed(rule: Rule, low: float | None, high: float | None) -> Answer:
    """Return whether the whole interval is on the right side of the rule's number, or all of it on the wrong side."""
    if low is None or high is None:
        return "undecided"
    if rule.demand == "at_least":
        return "passed" if low >= rule.number else "failed" if high < rule.number else "undecided"
    return "passed" if high <= rule.number else "failed" if low > rule.number else "undecided"


def _check_against_baseline(rule: Rule, task: str, comparison: Comparison, policy: Policy) -> Checked:
    """Check a rule with a baseline; the difference counts as a gain, whichever direction of the metric is better."""
    if comparison.higher_is_better is None:
        raise UsageError(
            f"{comparison.metric!r} of {task!r} does not say which way is better",
            where=str(policy.file),
            fix="Demand a number: at_least or at_most.",
        )
    (contrast,) = comparison.contrasts
    difference = contrast.difference
    ends: Sequence[float | None] = (difference.low, difference.high)
    if rule.by == "value":
        ends = (difference.value, difference.value)
    sign = 1.0 if comparison.higher_is_better else -1.0
    gains = sorted(sign * end for end in ends if end is not None)
    answer: Answer = "undecided"
    if rule.demand == "better":
        known: dict[str, Answer] = {"better": "passed", "worse": "failed"}
        answer = known.get(difference.verdict(comparison.higher_is_better, None), "undecided")
    elif len(gains) == 2:
        answer = "passed" if gains[0] >= -rule.number else "failed" if gains[1] < -rule.number else "undecided"
    return Checked(rule, task, comparison.metric, difference.value, difference.low, difference.high, answer)


def _task(run: Run, rule: Rule, policy: Policy) -> str:
    if rule.task is None and len(run.tasks) > 1:
        raise UsageError(
            f"the run has {len(run.tasks)} tasks, and a rule names none",
            where=str(policy.file),
            fix=f"Add task: one of {', '.join(run.tasks)}.",
        )
    name = rule.task or run.tasks[0]
    if name not in run.tasks:
        raise UnknownNameError("task", name, run.tasks, where=str(policy.file))
    return name


def _metric(run: Run, task: str, rule: Rule, policy: Policy) -> Mapping[str, Any]:
    metrics = run.result(task)["metrics"]
    named = [each for each in metrics if each["name"] == rule.metric]
    named = named or [each for each in metrics if each["name"].partition("[")[0] == rule.metric]
    if not named:
        known = list(dict.fromkeys(each["name"] for each in metrics))
        raise UnknownNameError("metric", str(rule.metric), known, where=str(policy.file))
    for each in named:
        if each["condition"] == rule.condition:
            found: Mapping[str, Any] = each
            return found
    known = [each["condition"] for each in named if each["condition"]]
    raise UnknownNameError("condition", str(rule.condition), known, where=str(policy.file))
