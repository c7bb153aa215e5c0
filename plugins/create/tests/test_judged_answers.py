"""The authors' judged answers, from the text of a reply to the utility of a query, against stored values."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from creval_create.paths.strings import path_string
from creval_create.paths.triples import as_path, distinct
from creval_create.paths.validity import RULES, Target, Validity, fault
from creval_create.reading.answer import read_answer
from creval_create.utility.distance import cosine_distances, mean_distance, transformed
from creval_create.utility.rules import Rules
from creval_create.utility.utility import utility

PATIENCES = (0.7, 0.9, 1.0)
COMMIT = "32a5e674efe447f03f4691b3f3866b1b2e4c9e83"


def target(row: dict[str, Any]) -> Target:
    return Target(row["entity_a"], row["rel_b"], row["entity_b"])


def kept(row: dict[str, Any], rule: Validity) -> list[int]:
    """Places of the paths that are valid under a rule and factual by the stored verdicts."""
    paths = [as_path(path) for path in row["parsed_paths"]]
    return [
        place
        for place in distinct(paths)
        if fault(paths[place], target(row), rule) is None and all(row["factuality_per_triple"][place])
    ]


def strengths(row: dict[str, Any], places: list[int]) -> list[float]:
    scores = [row["strength_per_triple"][place] for place in places]
    return [min(each[:-1] or each) for each in scores]


def test_every_reply_is_read_as_the_authors_read_it(judged: list[dict[str, Any]]) -> None:
    read = 0
    for row in judged:
        reading = read_answer(row["raw_prediction"][0])
        assert not reading.unread
        lower = [[[part.lower() for part in triple] for triple in found.path] for found in reading.paths]
        assert lower == row["parsed_paths"]
        read += len(lower)
    assert read == 178


def test_validity_and_the_paths_kept(judged: list[dict[str, Any]], parity: Any) -> None:
    pairs: list[tuple[float, float]] = []
    for row in judged:
        paths = [as_path(path) for path in row["parsed_paths"]]
        assert [float(fault(path, target(row), "released") is None) for path in paths] == row["validity"]
        assert kept(row, "released") == row["indices_to_keep"]
        assert strengths(row, row["indices_to_keep"]) == row["strength_path_kept"]
        stored = dict(zip(row["indices_to_keep"], row["strength_path_kept"], strict=True))
        ours = dict(zip(kept(row, "released"), strengths(row, kept(row, "released")), strict=True))
        pairs += [(ours.get(place, 0.0), stored.get(place, 0.0)) for place in range(len(paths))]
    assert {rule: sum(len(kept(row, rule)) for row in judged) for rule in RULES} == {
        "strict": 88,
        "shared": 116,
        "released": 116,
    }
    against = (
        "the strength of each path, 0 where it is not valid and factual, as the authors stored it for one model's "
        "answers to twenty queries, github.com/ManyaWadhwa/manyawadhwa.github.io"
    )
    parity.add("create_published_released", {"against": against, "commit": COMMIT}, pairs, 0)


def test_a_fifth_of_the_judge_calls_is_saved(judged: list[dict[str, Any]]) -> None:
    """Two a path were asked for what is stored. Here: the truth of valid paths, the strength of those that are true."""
    paths = sum(len(row["parsed_paths"]) for row in judged)
    calls = {}
    for rule in RULES:
        valid = [
            fault(as_path(path), target(row), rule) is None
            for row in judged
            for place, path in enumerate(row["parsed_paths"])
            if place in distinct([as_path(each) for each in row["parsed_paths"]])
        ]
        calls[rule] = sum(valid) + sum(len(kept(row, rule)) for row in judged)
    assert calls == {"strict": 221, "shared": 294, "released": 294}
    assert calls["strict"] <= 0.8 * 2 * paths, "the default rule"


def test_utility_per_query(judged: list[dict[str, Any]], expected: dict[str, Any], minilm: Any, parity: Any) -> None:
    """Released rules, and Eq. 1 under the released validity, per query and on the mean."""
    equation = Rules(validity="released")
    sums: dict[tuple[str, float], list[float]] = {}
    pairs: dict[str, list[tuple[float, float]]] = {"released": [], "equation": []}
    for row in judged:
        places = kept(row, "released")
        stored = expected["queries"][str(row["index"])]
        assert (len(row["parsed_paths"]), sum(map(int, row["validity"])), len(places)) == (
            stored["parsed"],
            stored["valid"],
            stored["kept"],
        )
        strings = [path_string(as_path(row["parsed_paths"][place])) for place in places]
        raw = cosine_distances(minilm.embed(strings)) if strings else cosine_distances(minilm.embed(["x"]))[:0, :0]
        qualities = strengths(row, places)
        for name, rules in (("released", Rules.of("released")), ("equation", equation)):
            distances = transformed(raw, rules.over_one)
            for patience in PATIENCES:
                found = utility(qualities, distances, rules, patience)
                assert found == pytest.approx(stored[name][str(patience)], abs=2e-4), (row["index"], name, patience)
                sums.setdefault((name, patience), []).append(found)
                if patience == 0.9:
                    pairs[name].append((found, stored[name][str(patience)]))
        if stored["mean_distance"] is not None:
            assert mean_distance(distances) == pytest.approx(stored["mean_distance"], abs=2e-4)
    apart = "computed apart from this code from the authors' stored judgements of one model's answers to twenty queries"
    said = {"released": f"creative utility by the released rules, {apart}"}
    said["equation"] = f"creative utility by Eq. 1 over the paths that the released rules hold valid, {apart}"
    parity.add("create_released", {"against": said["released"], "commit": COMMIT}, pairs["released"], 2e-4)
    for task in ("create", "create_published"):
        parity.add(task, {"against": said["equation"], "commit": COMMIT}, pairs["equation"], 2e-4)
    means = {key: statistics.mean(values) for key, values in sums.items()}
    for key, value in {
        ("released", 0.7): 8.0560,
        ("released", 0.9): 9.1975,
        ("released", 1.0): 10.0126,
        ("equation", 0.7): 6.9292,
        ("equation", 0.9): 8.7078,
    }.items():
        assert means[key] == pytest.approx(value, abs=2e-4)


BUSH = [
    ("ronald reagan", "spouse", "nancy reagan"),
    ("nancy reagan", "position held", "first lady of the united states"),
]
FIRST_LADY = ("position held", "first lady of the united states")
TABLE_5 = [
    (
        [("george h. w. bush", "successor as president to", "ronald reagan"), *BUSH],
        [("george h. w. bush", "vice president to", "ronald reagan"), *BUSH],
        0.1307,
        0.0030,
    ),
    (
        [
            ("lee jong wook", "was director-general of", "world health organization"),
            ("world health organization", "has employee educated at", "london school of hygiene & tropical medicine"),
        ],
        [
            ("lee jong wook", "worked at", "world health organization"),
            ("world health organization", "employed", "david nabarro"),
            ("david nabarro", "educated at", "london school of hygiene & tropical medicine"),
        ],
        0.3262,
        0.1119,
    ),
    (
        [
            ("josefa edralin marcos", "relative", "michael marcos keon"),
            ("michael marcos keon", "occupation", "lawyer"),
        ],
        [
            ("josefa edralin marcos", "spouse", "ferdinand marcos"),
            ("ferdinand marcos", "legal mentor of", "benjamin abalos jr."),
            ("benjamin abalos jr.", "occupation", "lawyer"),
        ],
        0.4043,
        0.2503,
    ),
    (
        [("christopher nolan", "sibling", "jonathan nolan"), ("jonathan nolan", "spouse", "lisa joy")],
        [
            ("christopher nolan", "directed", "the dark knight trilogy"),
            ("the dark knight trilogy", "screenplay by", "jonathan nolan"),
            ("jonathan nolan", "spouse", "lisa joy"),
        ],
        0.5778,
        0.7696,
    ),
    (
        [
            ("joe spinell", "worked with director", "martin scorsese"),
            ("martin scorsese", "place of birth", "new york city"),
            ("new york city", "includes borough", "brooklyn"),
        ],
        [
            ("joe spinell", "acted in tv movie", "she waits"),
            ("she waits", "produced by", "abc"),
            ("abc", "headquarters in", "new york city"),
            ("new york city", "includes borough", "brooklyn"),
        ],
        0.7058,
        1.0,
    ),
    (
        [
            ("george h. w. bush", "associated with", "bush family"),
            ("bush family", "includes", "barbara bush"),
            ("barbara bush", *FIRST_LADY),
        ],
        [
            ("george h. w. bush", "served as", "director of central intelligence"),
            ("director of central intelligence", "advised", "hillary clinton"),
            ("hillary clinton", *FIRST_LADY),
        ],
        0.7952,
        1.0,
    ),
]


@pytest.mark.parametrize("pair", TABLE_5)
def test_table_5(minilm: Any, pair: Any) -> None:
    one, other, raw, transform = pair
    distances = cosine_distances(minilm.embed([path_string(tuple(one)), path_string(tuple(other))]))
    assert distances[0, 1] == pytest.approx(raw, abs=2e-3)
    assert transformed(distances)[0, 1] == pytest.approx(transform, abs=2e-3)


def test_the_string_of_a_path() -> None:
    path = (("A B", "R", "C"), ("C", "s", "D"), ("D", "t", "E"))
    assert path_string(path) == " [r] c | c [s] d"
    assert path_string(path, "counted") == " [r] c | c [s] d | d [t] e"
    assert path_string(path[:1]) == path_string(path[:1], "counted") == " [r] c"
