"""PACE: Eq. 4, chains and what is left out, the authors' type-token ratios, and the two stages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from association_support import Table, context, scorer_input, turn
from support.chat_server import ChatServer

import creval
from creval.engine.run_options import RunOptions
from creval.plugin import Message
from creval.resources.resource_options import ResourceOptions
from creval.resources.wordlists import WordList
from creval_association.banks import read_jsonl
from creval_association.baselines.pace_chains import GreedyChains, RandomChains
from creval_association.chains import PaceChain, PaceProtocol, read_entries
from creval_association.scorers.pace import Pace, compose

X, Y, Z = [1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]
TABLE = Table({"seed": X, "aa": Y, "bb": X, "cc": Z, "dd": Y})


def score(*chains: Any, seed: str = "seed", embedding: Any = TABLE, **settings: Any) -> Any:
    (result,) = Pace(**settings).score([scorer_input({"seed": seed}, *chains)], context(embedding=embedding))
    return result


def test_equation_4_by_hand() -> None:
    # x, y, x, z: 1; (0 + 1) / 2; 1 -> mean 5/6.
    result = score(["aa", "bb", "cc"])
    assert result.scores["pace"] == pytest.approx(5 / 6)
    assert result.scores["chains"] == 1 and result.scores["chain_words"] == 4
    # Two chains: the mean of theirs.
    assert score(["aa", "bb", "cc"], ["aa"]).scores["pace"] == pytest.approx((5 / 6 + 1) / 2)


def test_chains_begin_with_the_seed_and_end_at_twenty() -> None:
    words = [f"w{i}" for i in range(25)]
    assert compose("rock", ["Rock", "rock", "Stone", *words], 20) == ["rock", "Stone", *words[:18]]
    # The other code puts the first association twice and cuts then.
    assert compose("rock", ["Stone", *words], 20, "released") == ["rock", "Stone", "Stone", *words[:17]]
    assert compose("rock", [None, " ", 3, "stone"], 20) == ["rock", "stone"]


def test_words_without_a_vector() -> None:
    dropped = score(["aa", "unheard", "bb", "cc"])
    assert dropped.scores["pace"] == pytest.approx(5 / 6) and dropped.scores["out_of_vocabulary"] == 1
    assert dropped.details["no_vector"] == ["unheard"]
    both = score(["aa", "unheard"], ["aa", "bb"], out_of_vocabulary="drop_chain")
    assert both.scores["chains"] == 1 and both.scores["pace"] == pytest.approx(0.75)
    assert "no chain" in score(["aa", "unheard"], out_of_vocabulary="drop_chain").failure


def test_the_mean_vector_replaces_it_where_asked() -> None:
    @dataclass
    class WithMean(Table):
        def mean_vector(self) -> np.ndarray:
            return np.array([0, 0, 2.0])

    with_mean = score(["aa", "unheard"], embedding=WithMean(TABLE.vectors), out_of_vocabulary="mean_vector")
    assert with_mean.scores["pace"] == score(["aa", "cc"]).scores["pace"]
    from creval.errors import ScoringError

    with pytest.raises(ScoringError, match="needs word vectors"):
        score(["aa", "unheard"], out_of_vocabulary="mean_vector")


def test_unreadable_chains_are_left_out_and_counted() -> None:
    result = score([], ["aa", "bb"], ["unheard"])
    assert result.scores["chains"] == 1
    assert "no chain of at least 2 words" in score([], ["unheard"], []).failure


def test_the_authors_type_token_ratios(reference_data: Path, parity: Any) -> None:
    """22 seeds; the ratio does not depend on the vectors."""
    lines = (reference_data / "pace" / "sample_claude-3.5-sonnet.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 22
    vocabulary = {w.lower() for row in rows for chain in row["chains"] for w in [row["seed"], *chain]}
    table = Table({word: list(np.random.default_rng(i).normal(size=4)) for i, word in enumerate(sorted(vocabulary))})
    items = [scorer_input({"seed": row["seed"]}, *row["chains"]) for row in rows]
    results = Pace().score(items, context(embedding=table))
    pairs = [
        (result.scores["type_token_ratio"], row["expected"]["ttr"]) for result, row in zip(results, rows, strict=True)
    ]
    assert all(ours == pytest.approx(theirs, abs=1e-9) for ours, theirs in pairs)
    against = (
        "the authors' type-token ratios of one model's chains for 22 seeds, github.com/ziliang6/PACE; with which "
        "vectors their distances were made is not stated"
    )
    parity.add("pace", {"against": against, "commit": "cbffbed71e0f5b951c70f5dc55a025e6100a5ee3"}, pairs, 1e-9)


def test_the_seeds_are_the_papers(reference_data: Path) -> None:
    seeds = json.loads((reference_data / "drat" / "stimuli.json").read_text())["pace_seeds_50"]
    assert [row["seed"] for row in read_jsonl("pace_seeds.jsonl")] == seeds


FIRST = (
    '{"results": [{"word": "stone", "reason": "a \\"small\\" rock"}, {"word": "roll"}, {"word": "hard", "reason": 3}]}'
)


@pytest.mark.parametrize(
    ("text", "words", "route"),
    [
        (FIRST, ["stone", "roll", "hard"], "json_array/object"),
        (f"```json\n{FIRST}\n```", ["stone", "roll", "hard"], "json_array/fenced"),
        (f"Of course! {FIRST} Done.", ["stone", "roll", "hard"], "json_array/embedded"),
        ('[{"word": "stone"}, {"word": ""}, {"word": "roll"}]', ["stone", "roll"], "json_array"),
        ('{"results": ["stone", "roll"]}', ["stone", "roll"], "json_array/object"),
        ('["stone", "roll"]', ["stone", "roll"], "json_array"),
        ("1. stone - a piece\n2. roll", ["stone", "roll"], "marked_lines"),
        ("I would rather not say anything about that.", [], "refusal"),
        (
            "Rocks are what I think of most of the time.",
            [],
            "unreadable (no list of at least 2 items in the answer)",
        ),
        (
            '{"results": 3}',
            [],
            "unreadable (1 JSON value in the answer, no array of at least 1 item)",
        ),
    ],
)
def test_reading_entries(text: str, words: list[str], route: str) -> None:
    entries, found = read_entries(text)
    assert [word for word, _ in entries] == words and found == route
    parsed = PaceChain().parse(text)
    assert parsed.ok and parsed.value == words and parsed.route == route


ONE, TWO = '{"word": "stone", "reason": "x"}', '{"word": "sand", "reason": "y"}'


@pytest.mark.parametrize(
    "answer",
    [
        f'{{"results": [{ONE}, {TWO}, ]}}',
        f'{{"results": [{ONE} {TWO}]}}',
        f'{{"results": [{ONE}, {TWO}, …]}}',
        f'```json\n{{"results": [{ONE}, {TWO}],}}\n```',
        '{"results": [{"word": "stone", "reason": "a "small" rock"}, {"word": "sand", "reason": "see, "x""}]}',
        '{"results": [{"word": "stone", "reason": "two\nlines"}, {"word": "sand", "reason": "y"}]}',
        "{'results': [{'word': 'stone', 'reason': 'it's hard'}, {'word': 'sand', 'reason': 'don't'}]}",
        '{"results": [{"word": "stone" "reason": "x"}, {"word": "sand", "reason": "y"}]}',
        "{“results”: [{“word”: “stone”, “reason”: “x”}, {“word”: “sand”, “reason”: “y”}]}",
        '{results: [{word: "stone", reason: "x"}, {word: "sand", reason: "y"}]}',
    ],
)
def test_a_slip_of_json_is_repaired_and_never_read_as_commas(answer: str) -> None:
    parsed = PaceChain().parse(answer)
    assert parsed.value == ["stone", "sand"] and parsed.route.endswith("/repaired")


@pytest.mark.parametrize(
    "answer",
    [
        f'{{"results": [{ONE}, {TWO}',
        f'{{"results": [{ONE}, {{"word": "sa',
        f'```json\n[{ONE}, {TWO}, {{"word": "gravel", "reason": "rolls, and',
        '{"first": "stone", "second": "sand", "third": "gravel"}',
        '{"stone": "hard, grey, cold", "sand": "fine, dry, hot"}',
        '[["stone", "x"], ["sand", "y"]]',
        f"{ONE}\n{TWO}",
        '{"chain": ["stone", "sand"], "reasons": ["hard", "fine"]}',
    ],
)
def test_json_that_is_cut_or_of_another_shape_is_unreadable(answer: str) -> None:
    parsed = PaceChain().parse(answer)
    assert parsed.value == [] and parsed.route.startswith("unreadable (")


class Ended(Exception):
    pass


@dataclass
class Play:
    """A session that answers from a list and notes what it was asked."""

    replies: Sequence[str]
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    outcome: dict[str, Any] = field(default_factory=dict)

    def prompt(self, name: str = "prompt", **extra: Any) -> Any:
        self.asked.append((name, extra))
        return []

    async def ask(self, messages: Any, role: str = "target", **settings: Any) -> Any:
        @dataclass
        class Reply:
            text: str

        return Reply(self.replies[len(self.asked) - 1])

    def answer(self, text: str) -> None:
        self.answers.append(text)

    def report(self, **outcome: Any) -> None:
        self.outcome.update(outcome)

    def unparsed(self, reason: str) -> None:
        raise Ended(reason)


def test_two_stages_in_four_calls() -> None:
    play = Play([FIRST, "one", "two", "three"])
    asyncio.run(PaceProtocol().run(play))  # type: ignore[arg-type]
    assert play.asked == [
        ("first", {}),
        ("chain", {"word": "stone", "reason": 'a \\"small\\" rock'}),
        ("chain", {"word": "roll", "reason": ""}),
        ("chain", {"word": "hard", "reason": ""}),
    ]
    assert play.answers == ["one", "two", "three"] and play.outcome["first"] == ["stone", "roll", "hard"]


def test_repeated_first_associations_do_not_count_twice() -> None:
    with pytest.raises(Ended, match="2 first associations, 3 needed"):
        asyncio.run(PaceProtocol().run(Play(['["stone", "Stone", "roll"]'])))  # type: ignore[arg-type]


def test_baselines_play_both_stages(embedded: Callable[[str], Any]) -> None:
    from dataclasses import replace

    from creval_association.nouns import open_nouns

    where = context(embedding=embedded("glove-6b-50d"), wordlist=open_nouns("oewn", ResourceOptions()))
    distances = {}
    for player in (RandomChains(), GreedyChains()):
        chains = []
        first = turn({"seed": "rock"}, where)
        starts = [word for word, _ in read_entries(player.reply(first))[0]]
        assert len(set(starts)) == 3
        for call, start in enumerate(starts, 1):
            asked = (Message("user", f'Starting with the word pair "rock" -> "{start}", generate'),)
            reply = player.reply(replace(first, call=call, messages=asked))
            words = PaceChain().parse(reply).value
            assert words[0] == start and len(set(words)) == 20
            chains.append(words)
        (result,) = Pace().score([scorer_input({"seed": "rock"}, *chains)], where)
        distances[type(player)] = result.scores["pace"]
    assert distances[GreedyChains] > distances[RandomChains] + 0.1


def test_the_greedy_chain_avoids_its_own_words() -> None:
    words = WordList("test", ["seed", "aa", "bb", "cc", "dd", *(f"w{c}" for c in "abcdefgh")])
    table = Table({**TABLE.vectors, **{f"w{c}": [1.0, i, 2.0] for i, c in enumerate("abcdefgh")}})
    entries, _ = read_entries(GreedyChains().reply(turn({"seed": "seed"}, context(embedding=table, wordlist=words))))
    assert "seed" not in [word for word, _ in entries]


def test_a_chain_with_an_item_that_gives_no_word_is_unreadable() -> None:
    rows = '[{"word": "stone"}, {"wrod": "sand"}, {"word": "sea"}]'
    assert read_entries(rows)[0] == []
    assert read_entries(rows.replace("wrod", "Word"))[0] == [("stone", ""), ("sand", ""), ("sea", "")]
    assert read_entries('[{"word": "stone"}, ["sand", "sea"]]')[0] == []


def test_each_anchor_word_has_a_seed_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temperature 0, and chance by the seed (3.1); the same run draws the same seeds again."""
    entries = [{"word": word, "reason": "near"} for word in ("stone", "river", "cloud")]
    asked = []
    for name in ("one", "two"):
        with ChatServer(answer=json.dumps({"results": entries})) as server:
            monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
            options = RunOptions(
                output=tmp_path / name, limit=3, seed=1, resources={"embedding": "embedded/glove-6b-50d"}
            )
            creval.run(["pace"], "hosted_vllm/m", options)
            asked.append(sorted((request.body["seed"], request.body["temperature"]) for request in server.requests))
    assert asked[0] == asked[1] and len(asked[0]) == 12
    assert len({seed for seed, _ in asked[0]}) == 12 and {heat for _, heat in asked[0]} == {0}
