"""Domain graphs: edges, components, communities, and modularity against Equation 5 computed literally."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import networkx
import pytest
from authors_clone import domain_file
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import UnknownNameError
from creval_kumo.analysis.commands.graph import GraphAnalysis
from creval_kumo.analysis.domain_names import chosen_domains
from creval_kumo.analysis.graph import DomainGraph, communities, components, domain_graph, modularity
from creval_kumo.analysis.graph_layout import layout
from creval_kumo.analysis.graph_plot import Picture, plot_overview
from creval_kumo.domains.domain import Action, Domain, Noun, Outcome, Truth


def domain(*actions: Sequence[str], truths: str = "abcdef") -> Domain:
    """A domain; each action is the states' truths, e.g. `("ab", "c")`."""
    made = tuple(
        Action(f"action {i}", "str", tuple(Outcome(f"state {j}", frozenset(names)) for j, names in enumerate(states)))
        for i, states in enumerate(actions)
    )
    noun = Noun("t", "ts")
    return Domain("d", "D", "g", noun, noun, tuple(Truth(name) for name in truths), made)


def equation_5(graph: DomainGraph, parts: Sequence[Sequence[str]]) -> float:
    """The double sum as it is printed."""
    community = {name: number for number, part in enumerate(parts) for name in part}
    adjacent = {pair for a, b in graph.edges for pair in ((a, b), (b, a))}
    degree = {name: sum((name, other) in adjacent for other in graph.truths) for name in graph.truths}
    m = len(graph.edges)
    total = 0.0
    for i in graph.truths:
        for j in graph.truths:
            if community[i] == community[j]:
                total += ((i, j) in adjacent) - degree[i] * degree[j] / (2 * m)
    return total / (2 * m)


def test_truths_of_one_action_are_joined_across_its_states() -> None:
    graph = domain_graph(domain(("ab", "c"), ("d",)))
    assert graph.edges == {("a", "b"), ("a", "c"), ("b", "c")}
    assert components(graph) == [("a", "b", "c"), ("d",), ("e",), ("f",)]


def test_joined_by_state_only_what_one_state_rules_out_is_joined() -> None:
    assert domain_graph(domain(("ab", "c"), ("bc",)), "state").edges == {("a", "b"), ("b", "c")}


def test_two_triangles_by_hand() -> None:
    """Two triangles joined by an edge: m = 7; Q = 2 (3/7 - (7/14)^2) = 5/14."""
    graph = domain_graph(domain(("abc",), ("def",), ("cd",)))
    parts = communities(graph, seed=0)
    assert parts == [("a", "b", "c"), ("d", "e", "f")]
    assert modularity(graph, parts) == pytest.approx(5 / 14, abs=1e-12)


def test_one_community_has_modularity_zero_and_without_edges_there_is_none() -> None:
    whole = domain_graph(domain(("abcdef",)))
    assert modularity(whole, [whole.truths]) == pytest.approx(0.0, abs=1e-12)
    assert modularity(domain_graph(domain(("a",))), [("a",), ("b",)]) is None


@st.composite
def graphs(draw: st.DrawFn) -> DomainGraph:
    names = tuple("abcdefghij"[: draw(st.integers(2, 10))])
    edges = draw(st.sets(st.sampled_from(list(combinations(names, 2))), min_size=1))
    return DomainGraph(names, frozenset(edges))


@given(graphs(), st.data())
def test_modularity_is_equation_5(graph: DomainGraph, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(graph.truths), max_size=len(graph.truths)))
    parts = [[name for name, label in zip(graph.truths, labels, strict=True) if label == wanted] for wanted in range(4)]
    found = modularity(graph, parts)
    assert found == pytest.approx(equation_5(graph, parts), abs=1e-12)
    built = networkx.Graph(list(graph.edges))
    built.add_nodes_from(graph.truths)
    assert found == pytest.approx(networkx.community.modularity(built, [set(p) for p in parts if p]), abs=1e-12)


@given(graphs(), st.integers(0, 5))
def test_communities_are_a_partition_no_worse_than_trivial_ones(graph: DomainGraph, seed: int) -> None:
    parts = communities(graph, seed)
    assert sorted(name for part in parts for name in part) == sorted(graph.truths)
    q = modularity(graph, parts)
    whole, alone = modularity(graph, [graph.truths]), modularity(graph, [[name] for name in graph.truths])
    assert q is not None and whole is not None and alone is not None
    assert q >= max(whole, alone) - 1e-12


@given(graphs())
def test_components_are_those_of_networkx(graph: DomainGraph) -> None:
    built = networkx.Graph(list(graph.edges))
    built.add_nodes_from(graph.truths)
    assert {frozenset(part) for part in components(graph)} == {
        frozenset(part) for part in networkx.connected_components(built)
    }


@given(graphs())
def test_every_truth_has_a_place_of_its_own(graph: DomainGraph) -> None:
    places = layout(graph, seed=1)
    assert sorted(places) == sorted(graph.truths)
    assert len(set(places.values())) == len(graph.truths)


def test_the_medical_domain_of_the_authors(reference_data: Path, tmp_path: Path) -> None:
    """Its 19 components hold the communities, so modularity is high; FantasyEnv is a complete graph."""
    files = [str(domain_file(tmp_path, reference_data / "kumo", name)) for name in ("MedicalEnv", "FantasyEnv")]
    medical, fantasy = chosen_domains(files)
    graph = domain_graph(medical)
    parts = components(graph)
    assert (len(graph.truths), len(parts)) == (65, 19)
    q = modularity(graph, communities(graph, 0))
    assert q == pytest.approx(equation_5(graph, communities(graph, 0)), abs=1e-12)
    assert q is not None and q >= (modularity(graph, parts) or 0.0) - 1e-12
    n = len(fantasy.truths)
    assert len(domain_graph(fantasy).edges) == n * (n - 1) // 2


CODE = """
from creval_kumo.analysis.domain_names import chosen_domains
from creval_kumo.analysis.graph import communities, domain_graph
from creval_kumo.analysis.graph_layout import layout
from creval_kumo.analysis.graph_plot import Picture, plot_overview
import hashlib
graph = domain_graph(chosen_domains("education")[0])
print(hashlib.sha256(repr((communities(graph, 3), sorted(layout(graph, 3).items()))).encode()).hexdigest())
"""


def test_the_hash_seed_of_the_process_changes_nothing() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(digests) == 1


def test_the_command_writes_the_same_files_again(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        GraphAnalysis().run([], domain="education", seed=5, output=str(tmp_path / folder))
    first = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}
    assert {"graphs.csv", "communities.csv", "graphs.json", "graph_education.svg"} <= first.keys()
    assert first["graph_education.png"].startswith(b"\x89PNG")


def test_several_domains_are_drawn_side_by_side(tmp_path: Path) -> None:
    graph = domain_graph(domain(("abc",), ("def",)))
    pictures = [Picture(title, graph, components(graph), 0.5) for title in ("one", "two", "three")]
    png, svg = (Path(file) for file in plot_overview(pictures, tmp_path / "graphs", seed=0))
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text()


def test_the_command_reports_all_domains_asked_for() -> None:
    output = GraphAnalysis().run([], domain=("medical", "music"), no_plots=True)
    assert [row[0] for row in output.rows] == ["medical", "music"]
    for row, data in zip(output.rows, (output.data or {})["domains"], strict=True):
        assert row[2] == len(data["edges"])
        assert sum(map(len, data["communities"])) == row[1] == len(data["truths"])


def test_unknown_words_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="medical"):
        GraphAnalysis().run([], domain="medcal")
    with pytest.raises(UnknownNameError, match="action"):
        GraphAnalysis().run([], join="actoin")
