"""Ranking by a judge: comparisons, order, presentation, what is counted, and the whole analysis against a server."""

from __future__ import annotations

import asyncio
import json
import random
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.errors import CrevalError, ScoringError, UsageError
from creval.plugin import SampleKey
from creval_openended.analyses.novelty import Novelty
from creval_openended.novelty.judge import MACGYVER, Solution, messages_for, read_verdict
from creval_openended.novelty.sorting import Method, most_comparisons, ranked

JUDGE = "hosted_vllm/judge"
METHODS: tuple[Method, ...] = ("bubble", "merge")


class Asked:
    """Larger numbers win; counts."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self, one: int, other: int) -> bool:
        self.count += 1
        return one > other


@given(st.lists(st.integers(), max_size=40, unique=True), st.sampled_from(METHODS))
def test_a_transitive_judge_is_sorted_by_either_way_within_its_bound(items: list[int], method: Method) -> None:
    asked = Asked()
    assert asyncio.run(ranked(items, asked, method)) == sorted(items, reverse=True)
    assert asked.count <= most_comparisons(len(items), method)


def test_how_many_comparisons_there_are_at_most() -> None:
    assert [most_comparisons(n, m) for n in (50, 30) for m in METHODS] == [1225, 237, 435, 119]
    asked = Asked()
    asyncio.run(ranked(list(range(50)), asked, "bubble"))
    assert asked.count == 1225  # the worst order
    asked = Asked()
    asyncio.run(ranked(list(range(50, 0, -1)), asked, "bubble"))
    assert asked.count == 49  # the best: one pass that changes nothing


def test_with_a_judge_that_goes_round_the_two_ways_differ() -> None:
    async def beats(one: int, other: int) -> bool:
        return (one, other) in {(0, 1), (1, 2), (2, 0), (3, 0), (3, 1), (2, 3)}

    found = {method: asyncio.run(ranked([0, 1, 2, 3], beats, method)) for method in METHODS}
    assert found["bubble"] != found["merge"]


def solution(number: int) -> Solution:
    return Solution(SampleKey("macgyver", str(number), "default", 0), f"How {number}?", f"So {number}.")


def test_the_prompt_is_appendix_l() -> None:
    system, user = messages_for(MACGYVER, solution(1), solution(2))
    assert system.content.startswith("You are an expert judge. Your task is to compare two Question/Answer (Q/A) pairs")
    assert "respond with ONLY 'QA1'" in system.content and "'EQUAL'" in system.content
    assert user.content.startswith("Novelty Definition: How inventively each answer utilises tools, even when some")
    assert "QA1: Question 1: How 1? Answer 1: So 1.\n\nQA2: Question 2: How 2? Answer 2: So 2." in user.content
    assert user.content.endswith("(QA1 or QA2)? You must choose either QA1 or QA2.")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("QA1", True),
        ("'QA2'", False),
        ("**QA 1**", True),
        ("qa2.", False),
        ("EQUAL", None),
        ("QA1 or QA2", None),
        ("", None),
    ],
)
def test_verdicts(text: str, verdict: bool | None) -> None:
    assert read_verdict(text) is verdict


# --- the whole analysis -------------------------------------------------------------------------------


def step_of(request: Received) -> Answer:
    """A model whose steps name the problem, so that solutions can be distinguished."""
    if "STOP" not in request.prompt:
        return Answer("Step 1: Begin.\nStep 2: End.")
    number = len(request.prompt)
    return Answer(f"Step 1: Take thing {number} and turn it")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("novelty") / "run"
    with ChatServer(step_of) as server:
        creval.run(
            tasks=["macgyver_own"],
            model="hosted_vllm/solver",
            options=creval.RunOptions(
                output=folder,
                offline=False,
                limit=6,
                base_url=server.url,
                resources={"entailment": "cosine/0.85", "embedding": "embedded/minilm"},
            ),
        )
    return folder


def by_number(request: Received) -> Answer:
    """The larger number is the more novel."""
    one, other = re.findall(r"Take thing (\d+)", request.prompt.split("QA2:")[0] + "|")[0], ""
    other = re.findall(r"Take thing (\d+)", request.prompt.split("QA2:")[1])[0]
    return Answer("QA1" if int(one) > int(other) else "QA2")


def analyse(folder: Path, server: ChatServer, **options: Any) -> Any:
    given = {"role": {"judge": JUDGE}, "base_url": server.url, "task": None, **options}
    return Novelty().run([str(folder)], **given)


def test_solutions_are_ranked_and_verdicts_paid_once(run_folder: Path, tmp_path: Path) -> None:
    with ChatServer(by_number) as server:
        human = tmp_path / "ranks.jsonl"
        first = analyse(run_folder, server)
        (ranking,) = first.data["rankings"]
        asked = len(server.requests)
        assert len(ranking["novelty"]) == 6 and 5 <= ranking["comparisons"] <= 15
        assert ranking["contradicted"] == 0 and asked <= ranking["comparisons"]
        assert all(request.body["temperature"] == 0 for request in server.requests)
        people = [{"doc": each["doc"], "rank": 7 - each["novelty"]} for each in ranking["novelty"]]
        human.write_text("".join(json.dumps(row) + "\n" for row in people), "utf-8")
        again = analyse(run_folder, server, human=str(human), output=str(tmp_path / "out"))
        assert len(server.requests) == asked
        rows = {row[2]: row for row in again.rows}
        assert rows["people"][3:5] == (6, pytest.approx(1.0)) and rows["people"][7] == pytest.approx(1.0)
        assert {Path(file).name for file in again.files} == {"novelty.csv", "novelty.json", "novelty-rankings.json"}


def test_a_judge_that_always_names_the_first_is_found_out(run_folder: Path) -> None:
    with ChatServer(answer="QA1") as server:
        found = analyse(run_folder, server, both_orders=True, seed=4)
        (ranking,) = found.data["rankings"]
        assert ranking["turned_round"] == ranking["both_orders"] == ranking["comparisons"]
        assert ranking["first_shown_won"] == ranking["verdicts"] == 2 * ranking["comparisons"]
        assert "pairs turned round with the order" in found.notes[0]


def test_which_is_shown_first_depends_on_the_seed_and_the_pair_alone() -> None:
    from creval_openended.novelty.judge import _drawn

    one, other = solution(1).key, solution(2).key
    for seed in range(20):
        assert _drawn(seed, one, other) != _drawn(seed, other, one)
    assert 300 < sum(_drawn(seed, one, other) for seed in range(1000)) < 700


def test_a_judge_that_will_not_choose_is_an_error_that_keeps_the_rest(run_folder: Path) -> None:
    for said in ("EQUAL", Answer("It is not QA1", finish_reason="length")):
        with ChatServer(lambda request, said=said: said if isinstance(said, Answer) else Answer(said)) as server:
            with pytest.raises(ScoringError, match="named neither QA1 nor QA2"):
                analyse(run_folder, server, seed=9)
            assert len(server.requests) == 3


def test_what_cannot_be_ranked_is_reported_before_anything_is_paid(run_folder: Path) -> None:
    with ChatServer(answer="QA1") as server:
        with pytest.raises(UsageError, match="no sorting method"):
            analyse(run_folder, server, sort="quick")
        with pytest.raises(CrevalError, match="judge"):
            Novelty().run([str(run_folder)])
        assert not server.requests


def test_merge_takes_fewer_comparisons() -> None:
    chance = random.Random(1)
    items = chance.sample(range(1000), 50)
    counts = {}
    for method in METHODS:
        asked = Asked()
        asyncio.run(partial(ranked, items, asked)(method))
        counts[method] = asked.count
    assert counts["merge"] <= 237 < counts["bubble"] <= 1225
