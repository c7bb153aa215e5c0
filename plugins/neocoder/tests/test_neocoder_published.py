"""The published data give the paper's own counts and worked examples."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from creval.plugin import DataError
from creval.plugin.data import DataOptions
from creval_neocoder.problem import Problem
from creval_neocoder.published.published_files import FILES, PublishedFiles, content_digest
from creval_neocoder.published.published_problems import WITHOUT_SOLUTIONS
from creval_neocoder.published.samples import any_letter_case, read_samples
from creval_neocoder.task.source import open_published, soundness
from creval_neocoder.techniques.creativity import human_divergent
from creval_neocoder.techniques.vocabulary import VOCABULARY


def by_name(problems: list[Problem], name: str) -> Problem:
    return next(problem for problem in problems if problem.name == name)


def test_problems_by_state_are_table_1(problems: list[Problem]) -> None:
    assert [sum(len(p.constraints) > t for p in problems) for t in range(6)] == [199, 199, 198, 194, 176, 97]
    solved = [p for p in problems if p.name != WITHOUT_SOLUTIONS]
    assert [sum(len(p.constraints) > t for p in solved) for t in range(6)] == [198, 198, 197, 193, 175, 97]
    assert all(len(p.solutions) == len(p.techniques) == 30 for p in solved)
    missing = by_name(problems, WITHOUT_SOLUTIONS)
    assert (missing.solutions, len(missing.constraints)) == ((), 5)


def test_files_are_the_same_whatever_task_reads_them(tmp_path: Path) -> None:
    """So that all states of a run read them once: the advice, which names the task, does not count."""
    assert PublishedFiles(tmp_path, fix="of one task") == PublishedFiles(tmp_path, fix="of another")


def test_all_constraints(problems: list[Problem]) -> None:
    counts = Counter(name for problem in problems for name in problem.constraints[-1])
    assert sum(counts.values()) == 864
    assert len(counts) == 20
    assert set(counts) <= set(VOCABULARY)
    assert counts.most_common(4)[0] == ("for loop", 194)
    expected = {"if statement": 176, "while loop": 124, "tuple": 86, "recursion": 86, "matrix operation": 44}
    assert {name: counts[name] for name in expected} == expected


def test_worked_examples(problems: list[Problem]) -> None:
    table_4 = by_name(problems, "1895B")
    assert table_4.constraints[5] == ("for loop", "if statement", "while loop", "sorting", "tuple")
    block = table_4.text(5).splitlines()[1:7]
    assert block[0] == "Programming constraints: DO NOT use the following techniques"
    assert block[1:] == ["- tuple", "- sorting", "- while loop", "- if statement", "- for loop"]
    figure_8 = by_name(problems, "1898A").constraints[5]
    assert figure_8 == ("hashmap", "continue statement", "for loop", "if statement", "misc")


def test_statements_rebuilt_differ_by_empty_bullets_alone(problems: list[Problem]) -> None:
    differing = [[p for p in problems if len(p.constraints) > t and p.text(t) != p.published[t]] for t in range(6)]
    assert [len(found) for found in differing] == [0, 0, 4, 23, 42, 0]
    for state, found in enumerate(differing):
        for problem in found:
            lines = [line for line in problem.published[state].split("\n") if line.strip() != "-"]
            assert "\n".join(lines) == problem.text(state)


def test_human_techniques(problems: list[Problem]) -> None:
    solved = [p for p in problems if p.techniques]
    assert sum(len(p.human) for p in solved) / 198 == pytest.approx(6.898990, abs=5e-7)
    shipped = sum(human_divergent(p.techniques) for p in solved) / 198
    known = set(VOCABULARY)
    kept = [[tuple(name for name in names if name in known) for names in p.techniques] for p in solved]
    assert shipped == pytest.approx(0.0194729, abs=5e-8)
    assert sum(human_divergent(lists) for lists in kept) / 198 == pytest.approx(0.0189450, abs=5e-8)
    mentions = Counter(name for p in solved for names in p.techniques for name in dict.fromkeys(names))
    assert sum(mentions.values()) == 13_372
    commonest = [("for loop", 5504), ("if statement", 3660), ("while loop", 1090), ("tuple", 929), ("sorting", 418)]
    assert mentions.most_common(5) == commonest
    assert sum(count for name, count in mentions.items() if name not in known) > 0


def test_following_human_solutions_by_state(problems: list[Problem]) -> None:
    found = [
        sum(
            any(not set(names) & set(p.constraints[t]) for names in p.techniques)
            for p in problems
            if len(p.constraints) > t
        )
        for t in range(6)
    ]
    assert found == [198, 159, 110, 54, 24, 10]


def test_the_statements_own_samples(problems: list[Problem]) -> None:
    solved = [p for p in problems if p.solutions]
    assert all(read_samples(p.statement) for p in solved)
    assert sum(any_letter_case(p.statement) for p in solved) == 40
    sample = read_samples(by_name(problems, "1901A").statement)
    assert sample[0].input == "3\n3 7\n1 2 5\n3 6\n1 2 5\n1 10\n7\n"
    assert sample[0].output == "4\n3\n7\n"


def test_classes_of_cases(problems: list[Problem]) -> None:
    found = soundness()
    assert {p.name: len(p.cases) for p in problems if p.solutions} == {name: len(each) for name, each in found.items()}
    counts = Counter(name for each in found.values() for name in each)
    assert (counts["sound"], counts["letter_case"], counts["input_broken"], sum(counts.values())) == (
        724,
        131,
        47,
        1000,
    )
    assert sum(set(each) == {"sound"} for each in found.values()) == 122
    assert sum(set(each) <= {"sound", "letter_case"} for each in found.values()) == 146


def test_docs(reference_data: Path, tmp_path: Path) -> None:
    options = DataOptions(offline=True, mirror=reference_data, cache=tmp_path)
    rows = open_published(3, base=tmp_path, options=options)
    assert len(rows) == 193
    assert len(open_published(3, problems="all", base=tmp_path, options=options)) == 194
    doc = dict(rows.row(0))
    assert (doc["id"], len(doc["constraints"]), len(doc["solutions"])) == ("1901A", 3, 30)
    assert doc["problem"].splitlines()[1] == "Programming constraints: DO NOT use the following techniques"


def test_an_altered_file_is_refused(reference_data: Path, tmp_path: Path) -> None:
    name = "human_solution_techniques"
    data = json.loads(gzip.decompress((reference_data / "neocoder" / f"{name}.json.gz").read_bytes()))
    assert content_digest(data) == FILES[name].content
    (tmp_path / f"{name}.json").write_text(json.dumps(data, indent=1))  # another formatting of the same content
    assert PublishedFiles(tmp_path, offline=True).read(name) == data
    data["1901A"][0].append("misc")
    (tmp_path / f"{name}.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match="not that of the published"):
        PublishedFiles(tmp_path, offline=True).read(name)
    (tmp_path / f"{name}.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        PublishedFiles(tmp_path, offline=True).read(name)
    with pytest.raises(DataError, match="--offline forbids"):
        PublishedFiles(tmp_path, offline=True).read("NeoCoder")
