"""A policy file: requirements for a run, in tiers, as YAML that is checked like a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from creval.plugin.release import Node, Problem, TaskError, named_validator, plain, problem_at, problems_of, read_yaml

__all__ = ["DEMANDS", "Policy", "Rule", "Tier", "read_policy"]

Tier = Literal["critical", "supporting", "advisory"]
"""`critical` must pass, `supporting` must not fail, `advisory` is only reported."""

DEMANDS = ("at_least", "at_most", "no_worse_by", "better")


@dataclass(frozen=True, slots=True)
class Rule:
    """One requirement (`at_least`, `at_most`, `no_worse_by`, `better`) on a metric, or on the share of a status."""

    demand: str
    number: float
    tier: Tier = "critical"
    task: str | None = None
    metric: str | None = None
    condition: str | None = None
    status: str | None = None
    by: Literal["interval", "value"] = "interval"

    @property
    def of_baseline(self) -> bool:
        """Return whether the rule compares the run with a baseline."""
        return self.demand in ("no_worse_by", "better")

    @property
    def words(self) -> str:
        """Return the requirement as readable text."""
        said = {
            "at_least": f"at least {self.number:g}",
            "at_most": f"at most {self.number:g}",
            "no_worse_by": f"no worse than the baseline by {self.number:g}",
            "better": "better than the baseline",
        }
        return said[self.demand]


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a file, and the baseline run (None: not named)."""

    file: Path
    rules: tuple[Rule, ...]
    title: str | None = None
    baseline: Path | None = None


def read_policy(file: Path) -> Policy:
    """Read a policy. Raises TaskError with every problem and its line."""
    document = read_yaml(file)
    root = document.root
    if root is None or document.problems:
        raise TaskError(document.problems)
    problems = list(problems_of(root, named_validator("policy")))
    rules = root.get("rules")
    if not problems and rules is not None:
        for number, node in enumerate(rules.value):
            problems += _rule_problems(node, number)
    if problems:
        raise TaskError(problems)
    data = plain(root)
    baseline = data.get("baseline")
    return Policy(
        file,
        tuple(_rule(each) for each in data["rules"]),
        data.get("title"),
        None if baseline is None else file.parent / baseline,
    )


def _rule_problems(node: Node, number: int) -> list[Problem]:
    """Return problems that the schema cannot explain in helpful words."""
    path = ("rules", number)
    named = [name for name in DEMANDS if node.get(name) is not None]
    subjects = [name for name in ("metric", "status") if node.get(name) is not None]
    found = []
    if len(named) != 1:
        said = f"a rule demands one thing, not {len(named)}"
        found.append(problem_at(node.place, said, path, f"Write one of: {', '.join(DEMANDS)}."))
    if len(subjects) != 1:
        said = "a rule is about a metric or about a status" + (", not both" if subjects else "")
        found.append(problem_at(node.place, said, path, "Write metric: NAME, or status: errored."))
    elif subjects == ["status"] and any(name in named for name in ("no_worse_by", "better")):
        found.append(problem_at(node.place, "a status is not compared", path, "Write at_most: a share from 0 to 1."))
    return found


def _rule(data: dict[str, Any]) -> Rule:
    demand = next(name for name in DEMANDS if name in data)
    given = {name: value for name, value in data.items() if name not in DEMANDS}
    return Rule(demand, float(data[demand]), **given)
