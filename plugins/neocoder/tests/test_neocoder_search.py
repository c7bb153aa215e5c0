"""The tree search alone: what it asks, what it chooses, where it ends."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import FatalModelError
from creval.types.messages import Completion, TokenLogprob
from creval_neocoder.strategies.mcts import continuation
from creval_neocoder.strategies.search import Continuation, Rollout, Settings, is_end, search

Model = Mapping[str, Mapping[str, float]]
"""After each beginning the tokens that may follow with their probabilities; the empty token is the end."""


class Grammar:
    """A model made of a table, which remembers what it was asked; beginnings that it lacks are at their end."""

    def __init__(self, table: Model, longest: int = 50) -> None:
        self.table = table
        self.longest = longest
        self.asked: list[str] = []

    async def go_on(self, begin: str, room: int) -> Continuation:
        self.asked.append(begin)
        tokens: list[str] = []
        alternatives: list[list[tuple[str, float]]] = []
        text = begin
        while text in self.table:
            likely = sorted(self.table[text].items(), key=lambda pair: -pair[1])
            alternatives.append([(token, math.log(chance)) for token, chance in likely])
            if is_end(likely[0][0]):
                break
            if len(tokens) == min(room, self.longest):
                return Continuation(tokens, alternatives[:-1], cut=True)
            tokens.append(likely[0][0])
            text += likely[0][0]
        return Continuation(tokens, alternatives)


def run(model: Grammar, rewards: Mapping[str, float], **settings: float) -> list[Rollout]:
    async def reward(text: str) -> float:
        return rewards.get(text, 0.0)

    return asyncio.run(search(model.go_on, reward, Settings(**settings)))  # type: ignore[arg-type]


TREE: Model = {
    "": {"a": 0.6, "b": 0.3, "c": 0.1},
    "a": {"x": 0.9, "y": 0.1},
    "b": {"x": 0.5, "y": 0.5},
    "c": {"": 0.9, "z": 0.1},
}


def test_the_first_rollout_goes_through_the_likeliest_token_and_costs_one_call() -> None:
    model = Grammar(TREE)
    (found,) = run(model, {"ax": 1.0}, rollouts=9)
    assert (found.text, found.reward, found.depth, model.asked) == ("ax", 1.0, 1, [""])


def test_a_reward_draws_the_search_and_a_better_program_ends_it() -> None:
    model = Grammar(TREE)
    found = run(model, {"ax": 0.5, "by": 1.0}, rollouts=30)
    assert found[-1].text == "by"
    assert found[-1].reward == 1.0 == max(each.reward for each in found)
    assert "b" in model.asked
    assert len(model.asked) == len(set(model.asked)) < len(found) + 1


def test_every_rollout_makes_one_node_and_an_unlikely_end_is_a_program() -> None:
    found = run(Grammar(TREE), {}, rollouts=40)
    assert len(found) == 40
    assert {"ax", "ay", "bx", "by", "c"} <= {each.text for each in found}
    assert all(each.reward == 0 for each in found)


def test_the_bound_is_the_papers() -> None:
    """By hand: after one fruitless visit of `a` both bounds are equal, and the likelier is taken; after two `b` is."""
    found = run(Grammar(TREE), {}, rollouts=3)
    beta = math.log((2 + 10 + 1) / 10) + 4
    of_a, of_b = (beta * chance * math.sqrt(math.log(2)) / (1 + visits) for chance, visits in ((0.6, 1), (0.3, 0)))
    assert of_a == pytest.approx(of_b)
    assert [each.text for each in found] == ["ax", "ax", "bx"]
    assert [each.depth for each in found] == [1, 2, 1]


def test_a_cut_rollout_counts_by_what_it_holds() -> None:
    endless = Grammar({"a" * count: {"a": 0.7, "b": 0.3} for count in range(200)})
    found = run(endless, {"a" * 6: 0.5}, rollouts=5, max_tokens=6)
    assert (found[0].text, found[0].cut, found[0].reward) == ("aaaaaa", True, 0.5)
    assert max(len(each.text) for each in found) == 6


def test_a_tree_as_deep_as_the_limit_is_not_asked_beyond() -> None:
    endless = Grammar({"a" * count: {"a": 1.0} for count in range(50)})
    found = run(endless, {}, rollouts=12, max_tokens=3)
    assert endless.asked == [""]
    assert {each.text for each in found} == {"aaa"}
    assert max(each.depth for each in found) == 3


def test_a_model_that_leaves_no_choice_is_asked_once() -> None:
    model = Grammar({})
    assert run(model, {"": 0.5}, rollouts=7) == [Rollout("", 0.5, False, 0)]
    assert model.asked == [""]


@given(
    st.dictionaries(
        st.text("ab", max_size=4),
        st.dictionaries(st.sampled_from(["a", "b", ""]), st.floats(0.01, 0.99), min_size=1),
        max_size=12,
    ),
    st.dictionaries(st.text("ab", max_size=5), st.floats(0, 1), max_size=8),
    st.integers(1, 20),
)
def test_whatever_the_model_the_search_ends_within_its_rollouts(
    table: dict[str, dict[str, float]], rewards: dict[str, float], rollouts: int
) -> None:
    model = Grammar(table)
    found = run(model, rewards, rollouts=rollouts)
    assert 1 <= len(found) <= rollouts
    assert len(model.asked) == len(set(model.asked)) <= rollouts + 1
    assert all(each.reward == rewards.get(each.text, 0.0) for each in found)
    assert all(each.reward < 1 for each in found[:-1])


def logprob(token: str, *others: str) -> TokenLogprob:
    return TokenLogprob(token, -0.1, tuple((each, -0.1) for each in (token, *others)))


def test_a_completion_as_tokens() -> None:
    reported = (logprob("de", "x"), logprob("f"), logprob("", "!"))
    found = continuation(Completion("def", logprobs=reported))
    assert (list(found.tokens), len(found.alternatives), found.cut) == (["de", "f"], 3, False)
    assert continuation(Completion("de", "length", logprobs=reported[:1])).cut
    other = continuation(Completion("dé", logprobs=(logprob("d\ufffd", "x"), logprob("\ufffd"))))
    assert (list(other.tokens), len(other.alternatives)) == (["dé"], 1)
    with pytest.raises(FatalModelError, match="no alternatives"):
        continuation(Completion("def", logprobs=(TokenLogprob("def", -0.1),)))


@pytest.mark.parametrize("token", ["", "<|im_end|>", "<end_of_turn>", "</s>", "<eos>", "<|endoftext|>"])
def test_tokens_that_end_an_answer(token: str) -> None:
    assert is_end(token)


@pytest.mark.parametrize("token", [" ", "<", "a<|b", "|>", "s>"])
def test_tokens_that_do_not(token: str) -> None:
    assert not is_end(token)
