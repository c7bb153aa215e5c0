"""Algorithm 1 on real triples, checked against the graph by code of its own; bounds; the same bytes from a seed."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.chat_server import Answer, ChatServer, HttpError, Received

from creval.plugin import DataError
from creval_create.builder.build import EXCLUDED, Plan, build
from creval_create.builder.classes import MOST_CLASSES, MOST_MEMBERS, collect_classes
from creval_create.builder.stream import Edge, triples
from creval_create.builder.targets import candidates
from creval_create.builder.wording import template_wording
from creval_create.builder.writer import fault_of
from creval_create.cli.building import build_queries
from creval_create.queries.lint import lint

RELATIONS = {"P463": "tail", "P161": "head", "P57": "head", "P40": "tail"}


@pytest.fixture(scope="module")
def codex(reference_data: Path) -> list[Path]:
    """The three files of CoDEx-M."""
    return [reference_data / "wikidata_triples" / f"codex-m_{part}.tsv" for part in ("train", "valid", "test")]


def plan(files: list[Path], seed: int = 1, **given: Any) -> Plan:
    return Plan(files, RELATIONS, seed, **given)  # type: ignore[arg-type]


def test_five_hundred_queries_hold_against_the_graph(codex: list[Path]) -> None:
    graph: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for file in codex:
        for line in file.read_text().splitlines():
            head, relation, tail = line.split("\t")
            graph[head].add((relation, tail))
    rows = build(plan(codex, count=250))
    assert len(rows) >= 500
    shared = {"head": 0, "tail": 0}
    for row in rows:
        first, second, last = (row[f"triple{number}"] for number in (1, 2, 3))
        assert all((relation, tail) in graph[head] for head, relation, tail in (first, second, last))
        assert first[1] == second[1] == row["relation"] and first != second
        start, expanded = (first[0], second[0]) if first[2] == second[2] else (first[2], second[2])
        shared["tail" if first[2] == second[2] else "head"] += 1
        assert (row["entity_a"], last[0]) == (start, expanded)
        assert tuple(last[1:]) not in graph[start], "the start satisfies its own target"
        assert last[1] not in EXCLUDED and last[2] != start
    assert min(shared.values()) > 100
    assert lint(rows) == []
    assert len({(row["entity_a"], row["rel_b"], row["entity_b"], row["relation"]) for row in rows}) == len(rows)


def test_the_same_bytes_from_a_seed_in_any_order_of_the_lines(codex: list[Path], tmp_path: Path) -> None:
    lines = [line for file in codex for line in file.read_text().splitlines()]
    random.Random(0).shuffle(lines)
    mixed = tmp_path / "mixed.tsv"
    mixed.write_text("\n".join(lines) + "\n")
    one, other = (json.dumps(build(plan(files, count=30))) for files in (codex, [mixed]))
    assert one == other
    assert json.dumps(build(plan(codex, seed=2, count=30))) != one


def test_no_class_fills_all(codex: list[Path]) -> None:
    rows = build(plan(codex, count=100))
    for relation in ("P463", "P161"):
        assert len({row["description"] for row in rows if row["relation"] == relation}) > 50


def test_what_is_held_is_bounded_and_a_uniform_sample() -> None:
    count, members = MOST_CLASSES * 3, 5

    def edges() -> Any:
        for number in range(count):
            for member in range(members):
                yield Edge(f"p{number}-{member}", "r", f"c{number}")
        for member in range(10_000):
            yield Edge(f"q{member}", "r", "large")

    (found,) = collect_classes(edges(), {"r": "tail"}, 3).values()
    assert len(found) == MOST_CLASSES
    assert max(len(each.members) for each in found) <= 2 * MOST_MEMBERS
    kept = sorted(int(each.category[1:]) for each in found if each.category != "large")
    assert abs(sum(kept) / len(kept) / count - 0.5) < 0.02, "early and late classes are kept alike"
    pairs = candidates(found, 10, 3)
    assert len(pairs) == 120 and len({one.group.category for one in pairs}) == 120
    assert {one.start < one.expanded for one in pairs} == {True, False}, "the draw swaps about half"


def test_a_start_that_satisfies_every_hop_gives_no_query(tmp_path: Path) -> None:
    file = tmp_path / "graph.tsv"
    both = "".join(f"{who}\tlives\t{where}\n" for who in "ab" for where in ("x", "y"))
    file.write_text("a\tin\tband\nb\tin\tband\n" + both)
    assert build(Plan([file], {"in": "tail"}, 1)) == []
    file.write_text(file.read_text() + "a\tborn\tz\nb\tborn\tw\n")
    (row,) = build(Plan([file], {"in": "tail"}, 1))
    assert row["rel_b"] == "born" and row["entity_b"] == {"a": "w", "b": "z"}[row["entity_a"]]


def test_labels_and_the_command(tmp_path: Path) -> None:
    (tmp_path / "graph.tsv").write_text("Q1\tP463\tQ9\nQ2\tP463\tQ9\nQ1\tP19\tQ7\nQ2\tP19\tQ8\n")
    (tmp_path / "labels.tsv").write_text("Q1\tAnna\nQ2\tBen\nQ7\tOslo\nQ8\tRome\n")
    (tmp_path / "relations.json").write_text('{"P463": {"label": "member of"}, "P19": "place of birth"}')
    out = tmp_path / "out.jsonl"
    arguments = ["--triples", "graph.tsv", "--labels", "labels.tsv", "--labels", "relations.json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(build_queries, [*arguments, "--relations", "P463", "--seed", "1", "-o", str(out)])
    assert done.exit_code == 0 and "1 queries written" in done.output, done.output
    row = json.loads(out.read_text())
    end = {"Anna": "Rome", "Ben": "Oslo"}[row["entity_a"]]
    assert row["query"].startswith(f"What are different ways of connecting {row['entity_a']} and someone or ")
    assert row["query"].endswith(f"whose place of birth is {end}?")
    assert row["triple3_labels"][1:] == ["place of birth", end]


@pytest.mark.parametrize(
    ("relations", "labels", "said"),
    [
        ("P999", True, "no triple has the relation P999"),
        ("P19", True, "no two entities share a tail by P19"),
        ("P27", True, "none leads one step further"),
        ("P463", False, "no label for Q1"),
    ],
)
def test_what_cannot_be_built_is_refused_with_its_reason(
    relations: str, labels: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    triples = ["Q1\tP463\tQ9", "Q2\tP463\tQ9", "Q1\tP19\tQ7", "Q2\tP19\tQ8", "Q3\tP27\tQ5", "Q4\tP27\tQ5"]
    Path("graph.tsv").write_text("\n".join(triples) + "\n")
    Path("labels.tsv").write_text("".join(f"Q{n}\tName {n}\n" for n in range(1, 10)))
    given = ["--labels", "labels.tsv"] if labels else []
    words = ["--triples", "graph.tsv", *given, "--relations", relations, "--seed", "1", "-o", "out.jsonl"]
    done = CliRunner().invoke(build_queries, words)
    assert isinstance(done.exception, DataError), done.output
    assert said in str(done.exception) and not Path("out.jsonl").exists()


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "graph.tsv"
    file.write_text("a\tb\tc\na\tb\n")
    with pytest.raises(DataError, match=r"graph\.tsv:2: 2 columns instead of head"):
        list(triples([file]))


PIERRE = {
    "id": "P463-0",
    "query": template_wording("Pierre Curie", "father", "Eugène Curie (physician)"),
    "entity_a": "Pierre Curie",
    "rel_b": "father",
    "entity_b": "Eugène Curie (physician)",
    "triple1_labels": ["Pierre Curie", "member of", "Academy"],
    "triple2_labels": ["Jacques Curie", "member of", "Academy"],
    "triple3_labels": ["Jacques Curie", "father", "Eugène Curie (physician)"],
}
GOOD = "What are different ways of connecting Pierre Curie and someone whose father is Eugène Curie (physician)?"


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (GOOD, None),
        ("How is Pierre Curie connected to a child of Eugène Curie (physician)?", "not one question that begins"),
        (f"{GOOD} Is it Jacques?", "not one question that begins"),
        ("What are different ways of connecting Pierre Curie and a Curie?", "is missing"),
        (GOOD.replace("Pierre Curie", "the physicist"), "does not name the start"),
        (GOOD.replace("someone", "Jacques Curie,"), "names the entity to be found"),
        (GOOD.replace("someone whose father is", "the father of"), "turns the relation round"),
    ],
)
def test_a_models_wording_is_checked_as_the_lint_does(said: str, fault: str | None) -> None:
    found = fault_of(PIERRE, said)
    assert found is None if fault is None else found is not None and fault in found


def test_queries_worded_by_a_model(tmp_path: Path) -> None:
    """One query is worded well at once, one at the second try, one never; one call fails for good."""
    lines = [
        f"M{i}\tP463\tBand{i}\nN{i}\tP463\tBand{i}\nM{i}\tborn in\tTown{i}\nN{i}\tborn in\tCity{i}\n" for i in range(4)
    ]
    (tmp_path / "graph.tsv").write_text("".join(lines))
    asked: Counter[str] = Counter()

    def script(request: Received) -> Answer | HttpError:
        start, end = re.findall(r"^(?:Start|Value): (.*)$", request.prompt, re.M)
        asked[start] += 1
        assert "Relation: born in" in request.prompt and request.body["temperature"] == 0
        good = f"What are different ways of connecting {start} and someone\n whose birthplace is {end}?"
        kind = "0123".index(start[1])
        if kind == 3:
            return HttpError(400)
        return Answer([good, good if asked[start] > 1 else "Sure!", "Sure!"][kind])

    out = tmp_path / "out.jsonl"
    arguments = ["--triples", str(tmp_path / "graph.tsv"), "--relations", "P463", "--seed", "1", "-o", str(out)]
    with ChatServer(script) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        done = CliRunner().invoke(build_queries, [*arguments, "--writer", "hosted_vllm/small"])
    assert done.exit_code == 0, done.output
    rows = {row["entity_a"][1]: row for row in map(json.loads, out.read_text().splitlines())}
    assert [rows[i]["worded_by"] for i in "0123"] == ["hosted_vllm/small"] * 2 + ["template"] * 2
    assert re.fullmatch(
        r"What are different ways of connecting [MN]1 and someone whose birthplace is \w+1\?", rows["1"]["query"]
    )
    assert rows["2"]["query"].endswith("and someone or something whose born in is " + rows["2"]["entity_b"] + "?")
    assert done.output.count("worded by the template") == 2
    assert sorted(asked.values()) == [1, 1, 2, 2]
