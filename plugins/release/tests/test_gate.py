"""`creval gate`: the three decisions by tier, their exit codes, and policies that are at fault."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from creval_release.policy import read_policy

HOLDS = "{metric: accuracy, at_least: 0.5}"  # strong met 18 of 20: .683 to .988
BROKEN = "{metric: accuracy, at_most: 0.5}"
OPEN = "{metric: accuracy, at_least: 0.9}"


def policy(folder: Path, *rules: str, **more: Any) -> str:
    """Write a policy and return its name."""
    lines = ["schema: 1", *(f"{key}: {value}" for key, value in more.items()), "rules:", *(f"  - {r}" for r in rules)]
    (folder / "policy.yaml").write_text("\n".join(lines) + "\n")
    return "policy.yaml"


def tier(name: str, rule: str) -> str:
    return "{tier: " + name + ", " + rule.removeprefix("{")


@pytest.mark.parametrize(
    ("rules", "code", "decision"),
    [
        ([HOLDS], 0, "go"),
        ([BROKEN], 10, "no-go"),
        ([OPEN], 11, "undecided"),
        ([HOLDS, OPEN, BROKEN], 10, "no-go"),
        ([HOLDS, tier("supporting", OPEN)], 0, "go"),
        ([HOLDS, tier("supporting", BROKEN)], 10, "no-go"),
        ([HOLDS, tier("advisory", BROKEN), tier("advisory", OPEN)], 0, "go"),
        ([tier("critical", OPEN), tier("supporting", HOLDS)], 11, "undecided"),
        (["{metric: accuracy, at_least: 0.9, by: value}"], 0, "go"),
        (["{metric: accuracy, at_least: 0.91, by: value}"], 10, "no-go"),
        (["{status: errored, at_most: 0}"], 0, "go"),
        (["{task: spelling, status: scored, at_least: 1}"], 0, "go"),
    ],
)
def test_decisions(runs: Path, said: Any, rules: list[str], code: int, decision: str) -> None:
    found, out, _ = said("gate", "strong", "--policy", policy(runs, *rules))
    assert found == code
    assert out.splitlines()[-1].startswith(f"{decision}: of {len(rules)} rule")


def test_the_last_line_counts_the_answers(runs: Path, said: Any) -> None:
    rules = [HOLDS, BROKEN, tier("advisory", OPEN), tier("supporting", OPEN)]
    _, out, _ = said("gate", "strong", "--policy", policy(runs, *rules))
    assert out.splitlines()[-1] == "no-go: of 4 rules 1 passed, 1 failed, 2 undecided"


@pytest.mark.parametrize(
    ("rule", "run", "baseline", "answer"),
    [
        ("{metric: accuracy, better: true}", "strong", "weak", "passed"),
        ("{metric: accuracy, better: true}", "weak", "strong", "failed"),
        ("{metric: accuracy, better: true}", "alike", "strong", "undecided"),
        ("{metric: accuracy, no_worse_by: 0.3}", "alike", "strong", "passed"),
        ("{metric: accuracy, no_worse_by: 0.1}", "alike", "strong", "undecided"),
        ("{metric: accuracy, no_worse_by: 0.1}", "weak", "strong", "failed"),
        ("{metric: errors, no_worse_by: 0.1}", "weak", "strong", "passed"),  # less is better there
        ("{metric: errors, no_worse_by: 0.1}", "strong", "weak", "failed"),
        ("{metric: errors, better: true}", "weak", "strong", "passed"),
        ("{metric: accuracy, no_worse_by: 0.06, by: value}", "alike", "strong", "passed"),
    ],
)
def test_next_to_a_baseline(runs: Path, said: Any, rule: str, run: str, baseline: str, answer: str) -> None:
    codes = {"passed": 0, "failed": 10, "undecided": 11}
    code, out, _ = said("gate", run, "--policy", policy(runs, rule), "--baseline", baseline, "--json")
    found = json.loads(out)
    assert (found["rules"][0]["answer"], code) == (answer, codes[answer])
    assert found["baseline"] == baseline and found["model"] == f"hosted_vllm/{run}"


def test_the_baseline_of_the_file_lies_next_to_it(runs: Path, said: Any, tmp_path: Path) -> None:
    named = policy(runs, "{metric: accuracy, better: true}", baseline="weak", title="Release")
    code, out, _ = said("gate", "strong", "--policy", str(runs / named), "--csv")
    assert code == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["tier"], row["demand"], row["answer"]) == ("critical", "better than the baseline", "passed")
    assert float(row["found"]) == pytest.approx(0.5)
    assert "Release" in said("gate", "strong", "--policy", named)[1]


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        (["{metric: accuracy, at_lest: 1}"], "policy.yaml:3:24: [rules[0].at_lest] unknown key 'at_lest'"),
        (["{metric: accuracy}"], "a rule demands one thing, not 0"),
        (["{metric: accuracy, at_least: 1, at_most: 2}"], "a rule demands one thing, not 2"),
        (["{at_least: 1}"], "a rule is about a metric or about a status"),
        (["{metric: accuracy, status: errored, at_most: 1}"], "not both"),
        (["{status: errored, better: true}"], "a status is not compared"),
        (["{metric: accuracy, at_least: high}"], "must be a number"),
        (["{metric: accuracy, no_worse_by: 0}"], "must be above 0"),
        (["{metric: acuracy, at_least: 1}"], "Did you mean 'accuracy'?"),
        (["{task: speling, metric: accuracy, at_least: 1}"], "Did you mean 'spelling'?"),
        (["{metric: accuracy, condition: hot, at_least: 1}"], "condition 'hot'"),
        (["{metric: accuracy, better: true}"], "none is named"),
    ],
)
def test_a_policy_at_fault_is_neither_go_nor_no_go(runs: Path, said: Any, rules: list[str], complaint: str) -> None:
    code, out, err = said("gate", "strong", "--policy", policy(runs, *rules))
    assert (code, out) == (2, "") and complaint in err


def test_the_policy_of_the_docs_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "compare.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "release.yaml").write_text(text)
    found = read_policy(tmp_path / "release.yaml")
    assert [rule.demand for rule in found.rules] == ["at_least", "no_worse_by", "at_most", "better", "at_most"]
    assert found.baseline == tmp_path / "runs" / "before"


def test_a_rule_names_its_task_where_there_are_several(runs: Path, said: Any) -> None:
    code, _, err = said("gate", "trials_strong", "--policy", policy(runs, HOLDS))
    assert code == 2 and "the run has 2 tasks" in err


def test_a_baseline_that_does_not_compare_is_refused(runs: Path, said: Any) -> None:
    named = policy(runs, "{task: spelling, metric: accuracy, better: true}")
    code, _, err = said("gate", "strong", "--policy", named, "--baseline", "trials_weak")
    assert code == 2 and "spelling" in err
