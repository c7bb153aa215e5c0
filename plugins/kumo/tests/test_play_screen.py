"""How a person sees a game: nothing hidden shows, nothing that a model is told is missing."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey
from creval_kumo.domains.domain import Interval
from creval_kumo.games.instance import GameAction, Instance, state_matches
from creval_kumo.play.observation_format import shown_observation
from creval_kumo.play.screen import GameScreen
from creval_kumo.task.answer import AnswerTag
from creval_kumo.task.datasets import KumoDocs


@pytest.fixture(scope="module")
def docs() -> list[dict[str, Any]]:
    games = KumoDocs(domains=["medical", "fantasy"], truths=4, actions=6, count=5, seed=1)
    return [dict(doc.fields) for doc in games.docs()]


def request(doc: dict[str, Any], taken: list[str]) -> GenerateRequest:
    screen = GameScreen()
    messages = [Message("system", "Play."), Message("user", "Begin.")]
    for name in taken:
        messages += [Message("assistant", screen.answer(name)), Message("user", "Result ...")]
    return GenerateRequest(tuple(messages), {}, Origin(SampleKey("kumo_easy", doc["id"], "default", 0), doc=doc))


def test_the_view_has_the_book_all_choices_and_the_goal(docs: list[dict[str, Any]]) -> None:
    for doc in docs:
        view = GameScreen().view(request(doc, []))
        assert view.reading == doc["book"]
        actions, truths = view.groups
        assert [choice.value for choice in actions.options] == doc["actions"]
        assert [choice.value for choice in truths.options] == doc["truths"]
        assert (actions.final, truths.final) == (False, True)
        assert doc["goal"] in view.goal
        assert view.past == ()


def test_taken_actions_are_marked_with_what_they_gave_and_can_be_taken_again(docs: list[dict[str, Any]]) -> None:
    doc = docs[0]
    first, second = doc["actions"][:2]
    view = GameScreen().view(request(doc, [second, first, second]))
    assert [past.step for past in view.past] == [second, first, second]
    assert {choice.value for choice in view.groups[0].options if choice.note} == {first, second}
    for past in view.past:
        observed = doc["observations"][past.step]
        assert isinstance(observed, float) or past.result == observed


def test_the_view_tells_neither_the_valid_truth_nor_what_was_not_observed(docs: list[dict[str, Any]]) -> None:
    """Two games that differ only in what the player cannot know look the same."""
    for doc in docs:
        taken = doc["actions"][:2]
        hidden = dict(doc)
        hidden["observations"] = {
            name: doc["observations"][name] if name in taken else "hidden" for name in doc["actions"]
        }
        hidden["valid_truths"] = [next(truth for truth in doc["truths"] if truth not in doc["valid_truths"])]
        assert GameScreen().view(request(hidden, taken)) == GameScreen().view(request(doc, taken))


def test_the_answer_is_what_the_task_reads(docs: list[dict[str, Any]]) -> None:
    for doc in docs:
        for name in [*doc["actions"], *doc["truths"]]:
            assert AnswerTag().parse(GameScreen().answer(name)).value == name


def test_several_valid_truths_are_reported(docs: list[dict[str, Any]]) -> None:
    doc = {**docs[0], "valid_truths": docs[0]["truths"][:2]}
    goal = GameScreen().view(request(doc, [])).goal
    assert "Exactly 2 of the 4" in goal
    assert "name one of them" in goal


def test_repeats_of_one_game_are_samples_of_their_own(docs: list[dict[str, Any]]) -> None:
    keys = [SampleKey("kumo_easy", docs[0]["id"], "default", repeat) for repeat in (0, 1)]
    first, second = (GameScreen().view(GenerateRequest((), {}, Origin(key, doc=docs[0]))).sample for key in keys)
    assert first != second


BOUNDS = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)), min_size=2, max_size=6, unique=True
).map(sorted)


@given(BOUNDS, st.integers(0, 2**32), st.sampled_from(["", "mg/dL"]))
def test_a_shown_number_tells_the_same_as_all_its_digits(bounds: list[float], seed: int, unit: str) -> None:
    intervals = [Interval(lo, hi) for lo, hi in itertools.pairwise(bounds)]
    action = GameAction("a", "", unit, tuple((interval, frozenset[str]()) for interval in intervals))
    value = random.Random(seed).uniform(bounds[0], bounds[-1])
    shown = shown_observation(action, value)
    number = float(shown.removesuffix(f" {unit}") if unit else shown)
    assert [state_matches(s, number) for s in intervals] == [state_matches(s, value) for s in intervals]


def test_numbers_are_short_where_they_can_be() -> None:
    action = GameAction("a", "", "mg/dL", ((Interval(0, 99), frozenset()), (Interval(100, 500), frozenset())))
    assert shown_observation(action, 314.75288407570395) == "314.8 mg/dL"
    assert shown_observation(action, 99.00000001) == "99.00000001 mg/dL"  # in the gap: 99.0 would say another thing
    assert shown_observation(action, 42) == "42 mg/dL"


def test_every_observation_of_the_published_games_can_be_shown(reference_data) -> None:
    import gzip

    folder = reference_data / "kumo"
    configs = {}
    with gzip.open(folder / "seed_configs.jsonl.gz", "rt") as lines:
        for line in lines:
            config = json.loads(line)
            configs[config["domain"]] = {o["action"]: o for o in config["outcomes"]}
    checked = 0
    with gzip.open(folder / "instances" / "MedicalEnv.easy.jsonl.gz", "rt") as lines:
        for line in lines:
            game = json.loads(line)
            for name, observed in game["observations"].items():
                states = configs["MedicalEnv"][name]["states"]
                outcomes = tuple(
                    (Interval(*state["state"]) if isinstance(state["state"], list) else state["state"], frozenset())
                    for state in states
                )
                shown = shown_observation(GameAction(name, "", "", outcomes), observed)
                assert shown == observed if isinstance(observed, str) else len(shown) < 10
                checked += 1
    assert checked == 300


def test_an_instance_without_words_of_a_domain_is_no_doc(docs: list[dict[str, Any]]) -> None:
    """The screen relies on the nouns that every doc of the generator carries."""
    assert Instance.from_doc(docs[0]).to_doc().keys() < docs[0].keys()
    assert {"truth_noun", "action_noun", "goal", "title", "book"} <= docs[0].keys()
