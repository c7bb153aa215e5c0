"""The formulas and the reading of a reviewer's list."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.plugin import Completion, Message, Reply, SampleKey
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_neocoder.own.own_problems import gold_answers, read_own
from creval_neocoder.task.techniques import detect
from creval_neocoder.techniques.creativity import (
    follows,
    human_convergent,
    human_divergent,
    human_neogauge,
    new_share,
)
from creval_neocoder.techniques.syntax import SEEN, techniques_of
from creval_neocoder.techniques.vocabulary import VOCABULARY, Unreadable, read_techniques

NAMES = st.lists(st.sampled_from(VOCABULARY), max_size=12)


def test_the_vocabulary_is_the_papers() -> None:
    assert len(VOCABULARY) == len(set(VOCABULARY)) == 34


def test_figure_3_in_numbers() -> None:
    techniques, human = ("for loop", "if statement", "recursion"), {"for loop", "if statement", "while loop"}
    assert new_share(techniques, human) == pytest.approx(1 / 3)
    assert not follows(techniques, ["for loop"])


def test_list_and_set_in_the_denominator() -> None:
    techniques = ("for loop", "for loop", "recursion")
    assert new_share(techniques, {"for loop"}) == 1 / 2
    assert new_share(techniques, {"for loop"}, listed=True) == 1 / 3


@given(NAMES, st.sets(st.sampled_from(VOCABULARY)), st.sets(st.sampled_from(VOCABULARY)), st.booleans())
def test_identities(techniques: list[str], human: set[str], constraints: set[str], correct: bool) -> None:
    """neogauge <= min(convergent, divergent), convergent <= min(pass@1, constraint following), for each program."""
    share, follow = new_share(techniques, human), follows(techniques, constraints)
    convergent = float(follow and correct)
    neogauge = share * convergent
    assert 0 <= share <= 1
    assert neogauge <= min(convergent, share)
    assert convergent <= min(float(correct), float(follow))
    assert new_share(techniques, human, listed=True) <= share
    assert follows([], constraints)
    assert new_share([], human) == 0


@given(st.lists(NAMES, min_size=2, max_size=5))
def test_human_numbers_by_their_definition(solutions: list[list[str]]) -> None:
    assert human_convergent(solutions, []) == 1
    total = 0.0
    for i, own in enumerate(solutions):
        others = {name for j, names in enumerate(solutions) if j != i for name in names}
        total += len(set(own) - others) / len(set(own)) if own else 0
    assert human_divergent(solutions) == pytest.approx(total / len(solutions))


@given(st.lists(NAMES, min_size=2, max_size=5), st.sets(st.sampled_from(VOCABULARY)))
def test_human_neogauge_is_within_both(solutions: list[list[str]], constraints: set[str]) -> None:
    """Next to the others a solution can be new; without constraints NeoGauge is divergent creativity."""
    mean, best = human_neogauge(solutions, constraints)
    assert 0 <= mean <= min(human_convergent(solutions, constraints), human_divergent(solutions) + 1e-12)
    assert mean <= best <= 1
    assert human_neogauge(solutions, [])[0] == pytest.approx(human_divergent(solutions))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- for loop\n- tuple", ("for loop", "tuple")),
        ("The techniques are:\n\n* 'For Loop'\n* \"hashmap\" (a dict)\n", ("for loop", "hashmap")),
        ("1. Kadane’s algorithm\n2. divide & conquer.", ("Kadanes algorithm", "divide & conquer")),
        ("- for loop\n- for loop", ("for loop", "for loop")),
        ("misc", ("misc",)),
        ("• for loop\n◦ sorting", ("for loop", "sorting")),
        (
            "- Kadane's algorithm\n- Divide and  Conquer\n- \u200bheap",
            ("Kadanes algorithm", "divide & conquer", "heap"),
        ),
    ],
)
def test_lists_that_can_be_read(text: str, expected: tuple[str, ...]) -> None:
    assert read_techniques(text).names == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "none", "I see a for loop here", "- list", "- quantum annealing\n- list comprehension"),
        "- recursion (not used)",
        "- for loop\n\nTechniques not used:\n- recursion",
    ],
)
def test_lists_that_cannot_be_read(text: str) -> None:
    with pytest.raises(Unreadable):
        read_techniques(text)


@pytest.mark.parametrize(
    ("text", "names", "unknown"),
    [
        ("- for loop\n- list comprehension", ["for loop"], ["list comprehension"]),
        ("- dictionary / hashmap", ["dictionary", "hashmap"], []),
        ("- for loops\n- Dictionaries\n- matrix operations", ["for loop", "dictionary", "matrix operation"], []),
        ("- **for loop**: iterates over, say, a set", ["for loop"], []),
        ("for loop, if statement", ["for loop", "if statement"], []),
        ("1. for loop\n2. quantum annealing", ["for loop"], ["quantum annealing"]),
        ("- `sorting`; _stack_", ["sorting", "stack"], []),
        ("- for loop\n- recursion (not used)", ["for loop"], ["- recursion (not used)"]),
        ("for loop: in line 3\n- sorting", ["for loop", "sorting"], []),
        ("Techniques:\n- heaps, tries", ["heap"], ["tries"]),
        ("- if statements\n- if-else", ["if statement"], ["if-else"]),
        ("* Depth First Search (DFS)\n* [tuple]", ["depth first search", "tuple"], []),
    ],
)
def test_what_is_not_of_the_vocabulary_is_dropped_and_named(text: str, names: list[str], unknown: list[str]) -> None:
    assert read_techniques(text) == (tuple(names), tuple(unknown))


@given(st.text(max_size=200))
def test_any_text_is_a_list_or_unreadable(text: str) -> None:
    try:
        assert set(read_techniques(text).names) <= set(VOCABULARY)
    except Unreadable:
        pass


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("for i in x:\n    pass", {"for loop", "pass statement"}),
        ("print([i for i in x if i])", {"for loop"}),
        ("def f(n):\n    return n and f(n - 1)", {"recursion"}),
        (
            "while a:\n    if b:\n        break\n    continue",
            {"while loop", "if statement", "break statement", "continue statement"},
        ),
        ("match a:\n    case 1:\n        b = sorted({1, 2})", {"match statement", "sorting", "set"}),
        ("from heapq import heappush\nheappush(h, (1, 2))", {"heap", "tuple"}),
        ("this is no program", set()),
    ],
)
def test_the_syntax_detector(program: str, expected: set[str]) -> None:
    assert techniques_of(program) == expected
    assert set(VOCABULARY) >= SEEN


def test_our_own_problems_are_as_they_should_be() -> None:
    problems, gold = read_own(), gold_answers()
    assert len(problems) == 15
    for problem in problems:
        assert [len(names) for names in problem.constraints] == list(range(6))
        assert all(set(a) < set(b) for a, b in zip(problem.constraints, problem.constraints[1:], strict=False))
        assert set(problem.constraints[5]) | problem.human <= set(VOCABULARY)
        assert len(problem.solutions) == len(problem.techniques) == 5
        seen = techniques_of(gold[problem.name])
        assert "recursion" in seen - problem.human
        assert not seen & set(problem.constraints[5])
        for source, names in zip(problem.solutions, problem.techniques, strict=True):
            assert {"for loop", "while loop", "recursion", "sorting"} & techniques_of(source) <= set(names)


class Augmenter:
    """A context whose augmenter gives these replies one after the other."""

    def __init__(self, *replies: Completion) -> None:
        self._replies = list(replies)
        self.unread: list[str] = []

    def prompt(self, name: str, fields: Mapping[str, Any], **extra: Any) -> list[Message]:
        return [Message("user", str(extra["program"]))]

    async def ask(self, role: str, messages: Sequence[Message], key: SampleKey) -> Reply:
        return Reply([self._replies.pop(0)])

    def unreadable(self, reply: Reply, reason: str) -> None:
        self.unread.append(reason)


def test_a_list_that_was_cut_is_no_list() -> None:
    """It would name fewer techniques than the program has, and so follow constraints that it breaks."""
    context: Any = Augmenter(Completion("- for loop", "length"), Completion("- for loop\n- recursion"))
    key = SampleKey("neocoder", "d", "default", 0)
    assert asyncio.run(detect("while True: pass", key, {}, context)).names == ("for loop", "recursion")
    assert context.unread == ["the answer was cut at the token limit (max_tokens)"]


def test_the_released_tasks_name_the_augmenter_of_the_paper() -> None:
    """The snapshot that the paper used, not the one that is offered in its place today."""
    index = TaskIndex(load_plugins())
    released = index.expand([f"neocoder_released_state{state}" for state in range(6)])
    assert {task.role_models["augmenter"] for task in released} == {"openai/gpt-4-1106-preview"}
    assert "openai/gpt-4-1106-preview" not in index.expand(["neocoder_state0"])[0].role_models.values()
