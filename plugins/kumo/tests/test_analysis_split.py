"""Splitting a domain: the authors' halves of the medical domain, properties, and files that read back."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from authors_clone import domain_file
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import UsageError
from creval_kumo.analysis.commands.split import SplitAnalysis
from creval_kumo.analysis.domain_names import chosen_domains
from creval_kumo.analysis.graph import components, domain_graph
from creval_kumo.analysis.split import split_actions, split_domain
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.domains.domain import Action, Domain, Interval, Noun, Outcome, Truth
from creval_kumo.domains.domain_file import load_domain_file
from creval_kumo.domains.domain_text import domain_yaml
from creval_kumo.domains.rules import PLAYABLE_RULES
from creval_kumo.games.generation import Settings, generate
from creval_kumo.published.published_domains import read_domains
from creval_kumo.search.golden import golden_run
from creval_kumo.task.datasets import KumoDocs


@pytest.fixture(scope="module")
def medical(reference_data: Path) -> dict[str, Domain]:
    """The authors' medical domain, whole and in halves."""
    known = read_domains(reference_data / "kumo" / "seed_configs.jsonl.gz")
    return {half: known[f"Medical{half}Env"].domain for half in ("", "IND", "OOD")}


def names(domain: Domain) -> tuple[set[str], set[str]]:
    return {truth.name for truth in domain.truths}, {action.name for action in domain.actions}


def test_the_authors_halves_follow_the_rules_of_the_paper(medical: dict[str, Domain]) -> None:
    """No component is torn, components are dealt out in turn, and every action is where the rule puts it."""
    whole = medical[""]
    (ind_truths, ind_actions), (ood_truths, ood_actions) = names(medical["IND"]), names(medical["OOD"])
    parts = components(domain_graph(whole))
    assert all(set(part) <= ind_truths or set(part) <= ood_truths for part in parts)
    in_ind = sum(set(part) <= ind_truths for part in parts)
    assert abs(in_ind - (len(parts) - in_ind)) <= 1
    first, second = split_actions(whole, sorted(ind_truths))
    assert (set(first), set(second)) == (ind_actions, ood_actions)


def test_the_observations_of_the_authors_halves_are_those_of_the_whole(medical: dict[str, Domain]) -> None:
    for half in (medical["IND"], medical["OOD"]):
        for action in half.actions:
            assert action.outcomes == medical[""].action_by_name[action.name].outcomes


def test_our_split_of_the_same_domain_keeps_the_same_rules(medical: dict[str, Domain]) -> None:
    whole = medical[""]
    halves = split_domain(whole)
    truths, actions = zip(*map(names, halves), strict=True)
    assert truths[0] | truths[1] == names(whole)[0] and not truths[0] & truths[1]
    assert actions[0] | actions[1] == names(whole)[1] and not actions[0] & actions[1]
    parts = components(domain_graph(whole))
    assert all(set(part) <= truths[0] or set(part) <= truths[1] for part in parts)
    assert abs(len(truths[0]) - len(truths[1])) <= max(map(len, parts))
    assert sum(len(components(domain_graph(half))) for half in halves) == len(parts)


def test_games_of_both_halves_can_be_made_in_the_papers_sizes(medical: dict[str, Domain]) -> None:
    for half in split_domain(medical[""]):
        for sizes in (Settings(4, 6), Settings(12, 16)):
            game = next(generate(half, sizes, seed=1))
            game.check()
            assert set(game.truths) <= names(half)[0]


NOUN = Noun("truth", "truths")
LABELS = st.text(min_size=1, max_size=8).map(str.strip).filter(lambda text: bool(text) and text.isprintable())


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    truths = [f"T{number}" for number in range(draw(st.integers(2, 9)))]
    actions = []
    for number in range(draw(st.integers(1, 6))):
        related = draw(st.lists(st.sampled_from(truths), max_size=3, unique=True))
        if draw(st.booleans()):
            labels = draw(st.lists(LABELS, min_size=1, max_size=3, unique_by=lambda text: text.casefold()))
            states: list[str | Interval] = list(labels)
        else:
            ends = draw(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=4, unique=True).map(sorted))
            states = [Interval(lo, hi) for lo, hi in pairwise(ends)]
        outcomes = [Outcome(state, frozenset()) for state in states]
        outcomes[0] = replace(outcomes[0], rules_out=frozenset(related))
        kind = "float" if isinstance(states[0], Interval) else "str"
        unit = draw(st.sampled_from(["", "mg/dL", "%"])) if kind == "float" else ""
        actions.append(Action(f"A{number}", kind, tuple(outcomes), draw(st.sampled_from(["", 'It\'s: "so" #1'])), unit))  # type: ignore[arg-type]
    about = draw(st.sampled_from(["", "yes", "- x: [1]", "größe\u2028"]))
    return Domain("d", "A: title", "find it", NOUN, NOUN, tuple(Truth(n, about) for n in truths), tuple(actions))


@given(domains())
def test_halves_share_nothing_and_lose_nothing(domain: Domain) -> None:
    if len(components(domain_graph(domain))) < 2:
        with pytest.raises(UsageError, match="connected"):
            split_domain(domain)
        return
    first, second = split_domain(domain)
    assert {t.name for t in first.truths}.isdisjoint(t.name for t in second.truths)
    assert sorted([*first.truths, *second.truths], key=lambda t: t.name) == sorted(domain.truths, key=lambda t: t.name)
    for half in (first, second):
        inside = {truth.name for truth in half.truths}
        for action in half.actions:
            original = domain.action_by_name[action.name]
            assert action.related <= inside
            assert action.related == original.related  # no action is torn, so nothing of it is lost
            assert [o.state for o in action.outcomes] == [o.state for o in original.outcomes]
    assert len(first.actions) + len(second.actions) == len(domain.actions)


@settings(max_examples=60)
@given(domains())
def test_a_domain_written_as_yaml_reads_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, domain: Domain
) -> None:
    from creval_kumo.domains.domain_file import domain_faults

    path = tmp_path_factory.getbasetemp() / "round_trip.yaml"
    path.write_text(domain_yaml(domain), encoding="utf-8")
    read, _ = domain_faults(path, PLAYABLE_RULES)
    assert read == domain


@pytest.mark.parametrize("name", ["medical", "education"])
def test_a_shipped_domain_survives_the_round_trip(tmp_path: Path, name: str) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(domain_yaml(load_domain(name)), encoding="utf-8")
    assert load_domain_file(path) == load_domain(name)


def test_the_command_writes_two_domain_files_that_can_be_played(tmp_path: Path, reference_data: Path) -> None:
    whole = domain_file(tmp_path, reference_data / "kumo", "MedicalEnv")
    output = SplitAnalysis().run([], domain=str(whole), output=str(tmp_path))
    assert [Path(file).name for file in output.files] == ["MedicalEnv_ind.yaml", "MedicalEnv_ood.yaml"]
    assert output.notes == []
    for file, row in zip(output.files, output.rows[1:], strict=True):
        half = load_domain_file(Path(file), PLAYABLE_RULES)
        assert (half.name, len(half.truths), len(half.actions)) == row[:3]
        games = list(KumoDocs(domains=[file], truths=12, actions=16, count=3, seed=1).docs())
        assert len(games) == 3
        assert all(golden_run(game.fields).prediction in game.fields["valid_truths"] for game in games)
    assert [domain.name for domain in chosen_domains(output.files)] == ["MedicalEnv_ind", "MedicalEnv_ood"]


@pytest.mark.parametrize("value", [(), "medical,music", "all"])
def test_one_domain_is_split_at_a_time(value: object) -> None:
    with pytest.raises(UsageError, match="--domain medical"):
        SplitAnalysis().run([], domain=value)


def test_a_connected_domain_is_refused_with_the_reason() -> None:
    connected = [n for n in domain_names() if len(components(domain_graph(load_domain(n)))) == 1]
    assert connected
    with pytest.raises(UsageError, match=r"all \d+ truths are connected"):
        SplitAnalysis().run([], domain=connected[0])
