"""Connections: forms of answers, the score, our own puzzles, exact chance."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations, permutations
from math import comb, factorial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import creval
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_wordgames.connections import ConnectionsScore, RandomGroups, normal
from creval_wordgames.groups import WordGroups

OWN = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "creval_wordgames/data/connections_own.jsonl").read_text().splitlines()
]
PUZZLE = next(each for each in OWN if each["id"] == "alphabet")
GROUPS = [group["words"] for group in PUZZLE["answers"]]
NAMES = [group["answerDescription"] for group in PUZZLE["answers"]]
TITLED = list(zip(NAMES, GROUPS, strict=True))


def found(text: str, puzzle: Any = PUZZLE) -> float:
    parsed = WordGroups().parse(text)
    if not parsed.ok:
        return -1
    item: Any = SimpleNamespace(doc=puzzle, value=parsed.value)
    return float(ConnectionsScore().score([item], None)[0].scores["groups_found"])


def lines(template: str, words: str = ", ") -> str:
    return "\n".join(
        template.format(n=n, name=name, words=words.join(group)) for n, (name, group) in enumerate(TITLED, 1)
    )


FORMS = {
    "lines": lines("{words}"),
    "final_and": lines("{words}").replace(", rib", " and rib").replace(", sigma, omega", ", sigma, and omega"),
    "numbered": lines("{n}. {words}"),
    "labels": lines("{name}: {words}"),
    "bold_labels": lines("**{name}:** {words}"),
    "group_n": lines("**Group {n} ({name}):** {words}"),
    "label_last": lines("{words} ({name})"),
    "label_after_dash": lines("- {words} — {name}"),
    "dash_label": lines("{n}) {name} - {words}"),
    "semicolons": lines("{words}.", "; "),
    "slashes": lines("{words}", " / "),
    "capitals": lines("{words}", " ").upper().replace(NAMES[0].upper(), ""),
    "quoted": lines('{name}: "{words}"', '", "'),
    "emphasis": lines("{name}: *{words}*", "*, *"),
    "table": "| group | words |\n|---|---|\n" + lines("| {name} | {words} |"),
    "wide_table": "| group | a | b | c | d |\n|---|---|---|---|---|\n" + lines("| {name} | {words} |", " | "),
    "bullets_below": lines("**{name}**\n- {words}\n", "\n- "),
    "numbered_titles": lines("{n}. **{name}**\n   - {words}", "\n   - "),
    "plain_below": lines("{name}:\n{words}\n", "\n"),
    "json_lists": json.dumps(GROUPS),
    "json_pretty": json.dumps(GROUPS, indent=2),
    "json_fenced": f"Here:\n```json\n{json.dumps({'groups': GROUPS})}\n```\nDone.",
    "json_named": json.dumps(dict(TITLED)),
    "json_objects": json.dumps([{"category": name, "words": group} for name, group in TITLED]),
    "json_lines": "\n".join(map(json.dumps, GROUPS)),
    "python": str(GROUPS),
    "bare_brackets": lines("{n}: [{words}]"),
    "boxed": "$\\boxed{\\text{" + "; ".join(", ".join(group) for group in GROUPS) + "}}$",
    "tags": f"<answer>\n{lines('<group>{words}</group>')}</answer> Done.",
    "html": f"<ul>{lines('<li><b>{name}</b>: {words}</li>')}</ul>".replace("\n", ""),
    "one_line": lines("{words}").replace("\n", "; "),
    "other_commas": lines("{words}", "，").replace("femur，", "femur、"),
    "spaces": lines("{words}", " "),
    "tabs": lines("{words}", "\t"),
    "dashes": lines("{n}. {words}", " – "),
    "json_texts": json.dumps({name: ", ".join(group) for name, group in TITLED}),
    "columns": f"| {' | '.join(NAMES)} |\n|---|---|---|---|\n"
    + "\n".join(f"| {' | '.join(row)} |" for row in zip(*GROUPS, strict=True)),
    "numbered_rows": "| Word 1 | Word 2 | Word 3 | Word 4 |\n|---|---|---|---|\n" + lines("| {words} |", " | "),
    "german": lines("Gruppe {n}: {words}").replace(", rib", " und rib"),
    "after_a_draft": f"Maybe tango, waltz, poodle, rib?\n\n{lines('{words}')}",
    "other_draft_first": "alpha, tango, beagle, rib\nbravo, one, two, three\n\n" + lines("{name}: {words}"),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_an_answer(form: str) -> None:
    assert found(FORMS[form]) == 4


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("", -1),
        ("I would rather not.", -1),
        ("I'm sorry, I can't help with that.", -1),
        ("femur, tibia, skull", -1),
        ("femur, tibia, skull, rib, tango", -1),
        ("femur, tibia, skull, rib", 1),
        ("femur, femur, tibia, skull", 0),
        ("femur, tibia, skull, tango", 0),
        ("femur, tibia, skull, rib\nfemur, tibia, skull, tango", 0),  # the last one counts
        ("femur, tibia, skull, tango\nfemur, tibia, skull, rib", 1),
        (
            "femur, tibia, skull, rib\npoodle, beagle, boxer, tango\ncollie, waltz, polka, rumba\nalpha, delta, sigma",
            1,
        ),
    ],
)
def test_scores_by_hand(text: str, right: float) -> None:
    assert found(text) == right


def test_all_fours_in_one_answer_count_as_the_last_of_them() -> None:
    words = [*GROUPS[0], *GROUPS[1]]
    fours = [", ".join(four) for four in combinations(words, 4)]
    exchanged = ", ".join([*GROUPS[0][:3], GROUPS[1][0]])
    assert found("\n".join(fours)) == 2  # the last four of `combinations` and what is left of the words
    assert found("\n".join([*fours, exchanged])) == 0


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=300), st.text(alphabet="[]{}\"',:;|-*#\n ab1()=/&•", max_size=300)))
def test_hostile_text_never_raises(text: str) -> None:
    parsed = WordGroups().parse(text)
    assert parsed.ok or parsed.reason
    if parsed.ok:
        assert all(len(group) == 4 and all(group) for group in parsed.value)
        found(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "a, b, c, d\n" * 50_000,
        "|" * 200_000,
        "<a" * 90_000,
        "\\boxed{" * 30_000,
        '"' * 150_000,
        "- a\n" * 50_000,
        "a - " * 50_000,
    ],
)
def test_long_text_is_read_in_time(text: str) -> None:
    parsed = WordGroups().parse(text)
    assert not parsed.ok or len(parsed.value) <= 100


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(16)), st.sampled_from(["{words}", "{name}: {words}", "{n}. {words}"]))
def test_any_dealing_is_read_whole(order: list[int], template: str) -> None:
    words = [word for group in GROUPS for word in group]
    dealt = [[words[i] for i in order[start : start + 4]] for start in range(0, 16, 4)]
    text = "\n".join(template.format(n=n, name="x", words=", ".join(group)) for n, group in enumerate(dealt, 1))
    assert WordGroups().parse(text).value == dealt
    right = sum(set(group) in map(set, GROUPS) for group in dealt)
    assert found(text) == right


def test_our_own_puzzles() -> None:
    of: dict[str, set[str]] = defaultdict(set)
    for puzzle in OWN:
        for group in puzzle["answers"]:
            of[group["answerDescription"]] |= set(map(normal, group["words"]))
    assert len(OWN) == 20
    for puzzle in OWN:
        dealt = [word for group in puzzle["answers"] for word in group["words"]]
        assert sorted(dealt) == sorted(puzzle["words"]) and len({*map(normal, dealt)}) == 16
        names = [group["answerDescription"] for group in puzzle["answers"]]
        assert len(puzzle["answers"]) == 4 and all(len(group["words"]) == 4 for group in puzzle["answers"])
        for group in puzzle["answers"]:
            for word in group["words"]:
                assert [name for name in names if normal(word) in of[name]] == [group["answerDescription"]]
        assert ConnectionsScore().doc_fault(puzzle) is None


SPELLED = {
    "palindromes": lambda word: word == word[::-1],
    "letters that are Roman numerals": lambda word: set(word) <= set("mdclxvi"),
    "with a hidden number": lambda word: any(
        n in word for n in ("one", "two", "three", "four", "eight", "nine", "ten")
    ),
    "with a hidden animal": lambda word: any(
        a in word for a in ("cow", "rat", "bat", "fox", "ape", "hen", "pig", "dog")
    ),
    "other words backwards": lambda word: word[::-1] in {"desserts", "reward", "evil", "stop"},
    "anagrams of colours": lambda word: (
        sorted(word) in [sorted(c) for c in ("green", "teal", "tan", "rose", "red", "blue")] and word not in ("teal",)
    ),
}


@pytest.mark.parametrize("name", SPELLED)
def test_groups_by_spelling_have_no_other_word(name: str) -> None:
    puzzle = next(each for each in OWN if name in [group["answerDescription"] for group in each["answers"]])
    group = next(each["words"] for each in puzzle["answers"] if each["answerDescription"] == name)
    assert {word for word in puzzle["words"] if SPELLED[name](word.lower())} == set(group)


def test_chance_by_brute_force() -> None:
    """Of two groups of two: 3 ways to pair, one of them right; the formula agrees, and so does that of four fours."""
    words, right = "abcd", [{"a", "b"}, {"c", "d"}]
    counts = [sum(set(deal[i : i + 2]) in right for i in (0, 2)) for deal in permutations(words)]
    assert sum(counts) / len(counts) == pytest.approx(2 * 2 / comb(4, 2))
    assert counts.count(2) / len(counts) == pytest.approx(factorial(2) * factorial(2) ** 2 / factorial(4))
    assert 4 * 4 / comb(16, 4) == pytest.approx(0.008791, abs=5e-7)
    assert factorial(16) // (factorial(4) * factorial(4) ** 4) == 2_627_625


def test_the_floor_is_chance() -> None:
    random, floor = Random(1), RandomGroups()
    turn: Any = SimpleNamespace(doc=PUZZLE, random=random)
    dealt = [json.loads(floor.reply(turn)) for _ in range(4000)]
    mean = sum(set(group) in map(set, GROUPS) for groups in dealt for group in groups) / len(dealt)
    assert mean == pytest.approx(16 / 1820, abs=0.006)  # four standard errors: a group is found in .22 % of its places


def test_a_run_of_floor_and_ceiling(alone: Path) -> None:
    values = {}
    for end in ("floor", "ceiling"):
        result = creval.run(["connections_own"], f"baseline/{end}", creval.RunOptions(seed=1, output=alone / end))
        values[end] = [result.metrics("connections_own")[name]["value"] for name in ("groups_found", "solved")]
    assert values["ceiling"] == [4, 1]
    assert values["floor"][0] <= 0.3 and values["floor"][1] == 0


def test_the_suite_has_four_games_and_their_mean() -> None:
    tasks = TaskIndex(load_plugins()).expand(["wordgames"])
    assert [task.name for task in tasks] == ["connections_own", "clues_give", "clues_guess", "rat"]
    ((number,),) = {tuple(task.suites) for task in tasks}
    assert [(part.share, part.metrics) for part in number.parts] == [
        (0.25, (name,)) for name in ("groups_found", "points", "share", "rat")
    ]


@pytest.mark.parametrize("answers", [None, [], "x", [1], [{"words": []}], [{"words": ["a", "b"]}, {"words": ["A"]}]])
def test_faulty_puzzles_are_named(answers: Any) -> None:
    assert ConnectionsScore().doc_fault({"answers": answers})


def test_the_published_form_from_a_file(alone: Path) -> None:
    """The fields that the published copy has (id, date, answers with members), with words out of our own puzzle."""
    groups = [{"level": 0, "group": "A", "members": group["words"]} for group in PUZZLE["answers"]]
    row = {"id": 1, "date": "2023-06-12", "answers": groups}
    file = alone / "puzzles.jsonl"
    file.write_text(json.dumps(row) + "\n")
    options = creval.RunOptions(output=alone / "published", data={"connections": str(file)})
    result = creval.run(["connections"], "baseline/ceiling", options)
    assert result.metrics("connections")["solved"]["value"] == 1
    (sample,) = creval.open_run(alone / "published").samples()
    assert ", ".join(sorted(PUZZLE["words"])) in str(sample.calls[0].messages)
