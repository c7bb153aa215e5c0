"""DRAT: Figure 8, the equations worked by hand, and what is no score."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from association_support import Table, context, scorer_input

from creval_association.banks import DratAnchors
from creval_association.gate import Gate, null_pool
from creval_association.scorers.drat import Drat

FIGURE_8 = {
    "good": "river symphony skeleton breath labyrinth garden engine web clockwork fabric",
    "diversity_collapse": "rhythm pulse flow network passage current circuit structure cascade vibration",
    "relevance_collapse": "sunrise thunderbolt maze symphony sculpture ocean meteor rainbow mosaic quasar",
}
ANCHORS = ["heartbeat", "oscillator", "pipeline", "topology"]


def score_figure_8(embedding: Any) -> dict[str, dict[str, float]]:
    items = [scorer_input({"anchors": ANCHORS}, words.split()) for words in FIGURE_8.values()]
    scores = Drat().score(items, context(embedding=embedding))
    return {name: dict(score.scores) for name, score in zip(FIGURE_8, scores, strict=True)}


def by_the_letter(
    words: Sequence[str], anchors: Sequence[str], vector: Callable[[str], np.ndarray], n_min: int = 3
) -> tuple[float, int]:
    """Eqs. 6 to 9 pair by pair in plain Python, sharing no code with the scorer."""

    def cos(a: str, b: str) -> float:
        x, y = vector(a), vector(b)
        return math.fsum(p * q for p, q in zip(x, y, strict=True)) / math.sqrt(
            math.fsum(p * p for p in x) * math.fsum(q * q for q in y)
        )

    def utility(word: str) -> float:
        return max(cos(word, anchor) for anchor in anchors)

    null = sorted(utility(noun) for noun in null_pool())
    place = 0.90 * (len(null) - 1)
    low = math.floor(place)
    threshold = null[low] + (place - low) * (null[min(low + 1, len(null) - 1)] - null[low])
    survivors = [word for word in words if utility(word) > threshold]
    k = len(survivors)
    if k < n_min:
        return 0.0, k
    total = math.fsum(1 - cos(a, b) for a, b in itertools.permutations(survivors, 2))
    return 100 * total / (k * (k - 1)), k


@pytest.mark.fidelity
def test_figure_8_with_the_papers_encoder(embedded: Callable[[str], Any], reference_data: Path, parity: Any) -> None:
    scores = score_figure_8(embedded("mpnet"))
    cases = json.loads((reference_data / "drat" / "figure8_cases.json").read_text())["cases"]
    assert {case["name"]: " ".join(case["words"]) for case in cases} == FIGURE_8
    for case in cases:
        assert scores[case["name"]]["drat"] == pytest.approx(case["expected"], abs=0.005)
    assert [scores[name]["survivors"] for name in FIGURE_8] == [3, 8, 0]
    pairs = [(scores[case["name"]]["drat"], case["expected"]) for case in cases]
    about = {"against": "the answers of Figure 8 (arXiv:2605.13450), with all-mpnet-base-v2"}
    parity.add("drat", about, pairs, 0.005, whole=False)


@pytest.mark.fidelity
def test_figure_8_with_sentence_transformers(reference_data: Path) -> None:
    """The same through the library that the paper used."""
    pytest.importorskip("sentence_transformers")
    from association_support import ROOT

    from creval.resources.resource_options import ResourceOptions
    from creval_encoders.sentence_encoder import SentenceTransformersEmbedding

    if not (ROOT / ".cache" / "models" / "all-mpnet-base-v2").is_dir():
        pytest.skip("all-mpnet-base-v2 is not there: run `make fidelity`, which fetches it")
    options = ResourceOptions(cache=ROOT / ".cache", offline=True)
    embedding = SentenceTransformersEmbedding("all-mpnet-base-v2", options)
    scores = score_figure_8(embedding)
    assert [round(scores[name]["drat"], 2) for name in FIGURE_8] == [81.99, 71.31, 0.0]
    assert embedding.name == "sentence-transformers/all-mpnet-base-v2@sha256:78c0197b6159"


def test_figure_8_with_minilm_by_an_independent_path(embedded: Callable[[str], Any]) -> None:
    embedding = embedded("minilm")
    scores = score_figure_8(embedding)
    known: dict[str, np.ndarray] = {}

    def vector(word: str) -> np.ndarray:
        if word not in known:
            known[word] = embedding.embed([word])[0].astype(np.float64)
        return known[word]

    seen = []
    for name, words in FIGURE_8.items():
        expected, survivors = by_the_letter(words.split(), ANCHORS, vector)
        assert scores[name]["survivors"] == survivors
        assert scores[name]["drat"] == pytest.approx(expected, abs=1e-3)
        seen.append(survivors)
    assert max(seen) >= 3, "at least one case must pass the gate, or nothing was tested"


def test_figure_8_with_glove_by_an_independent_path(embedded: Callable[[str], Any]) -> None:
    glove = embedded("glove-6b-50d")
    scores = score_figure_8(glove)
    for name, words in FIGURE_8.items():
        expected, survivors = by_the_letter(words.split(), ANCHORS, lambda w: glove.embed([w])[0].astype(np.float64))
        assert (scores[name]["drat"], scores[name]["survivors"]) == (pytest.approx(expected, abs=1e-4), survivors)


# A table whose cosines can be worked out by hand: the anchor points along x, each word at an angle to it.
def at(*degrees: float) -> list[list[float]]:
    return [[math.cos(math.radians(d)), math.sin(math.radians(d))] for d in degrees]


POOL = [f"noun{chr(97 + i)}" for i in range(11)]
TABLE = Table(
    {
        "anchor": [1.0, 0.0],
        "second": [0.0, 1.0],
        **dict(zip(POOL, at(*range(90, 35, -5)), strict=True)),  # cosines rise from 0 to cos 40
        **dict(zip(["ten", "twenty", "thirty"], at(10, -20, 30), strict=True)),
        "fortyfive": [math.cos(math.radians(45)), math.sin(math.radians(45))],
        "away": [-1.0, 0.0],
        "nothing": [0.0, 0.0],
    }
)


def score(value: Any, anchors: Sequence[str] = ("anchor",), **settings: Any) -> Any:
    settings.setdefault("pool", POOL)
    (result,) = Drat(**settings).score([scorer_input({"anchors": list(anchors)}, value)], context(embedding=TABLE))
    return result


def test_the_equations_by_hand() -> None:
    # Eleven nouns: the 90th percentile is the tenth value, cos 45; `fortyfive` lies on it, not above.
    result = score(["ten", "twenty", "thirty", "fortyfive", "away"])
    assert result.details["survivors"] == ["ten", "twenty", "thirty"]
    assert result.details["threshold"] == pytest.approx(math.cos(math.radians(45)), abs=1e-4)
    degrees = [(10, -20), (10, 30), (-20, 30)]
    expected = 100 * np.mean([1 - math.cos(math.radians(a - b)) for a, b in degrees])
    assert result.scores == {"drat": pytest.approx(expected), "survivors": 3.0, "gate_passed": 1.0}


def test_fewer_survivors_than_the_minimum_score_zero() -> None:
    assert score(["ten", "twenty", "away"]).scores == {"drat": 0.0, "survivors": 2.0, "gate_passed": 0.0}
    assert score(["ten", "twenty", "away"], min_survivors=2).scores["drat"] == pytest.approx(
        100 * (1 - math.cos(math.radians(30)))
    )


def test_a_tie_with_the_threshold_is_not_above_it_however_it_was_rounded(embedded: Callable[[str], Any]) -> None:
    """At quantile 1 the threshold is the utility of the pool's most relevant noun; as a word it ties with itself."""
    anchors = ["heartbeat", "oscillator", "pipeline", "topology"]
    where = context(embedding=embedded("minilm"))
    items = [scorer_input({"anchors": anchors}, [noun, "pulse", "rhythm", "network"]) for noun in null_pool()]
    for result in Drat(quantile=1.0).score(items, where):
        assert not set(result.details["survivors"]) & set(null_pool())
    gate = Gate(quantile=1.0)
    assert not gate.above(np.array([0.3 + 1e-15, 0.3, 0.2]), 0.3).any() and gate.above(np.array([0.3001]), 0.3).all()


def test_utilities_max_min_mean() -> None:
    rows = np.array(at(30))
    anchors = np.array([[1.0, 0.0], [0.0, 1.0]])
    cosines = [math.cos(math.radians(30)), math.sin(math.radians(30))]
    for name, expected in (("max", max(cosines)), ("min", min(cosines)), ("mean", sum(cosines) / 2)):
        assert Gate(name, 0.9, POOL).utilities(rows, anchors)[0] == pytest.approx(expected)  # type: ignore[arg-type]


def test_only_the_first_ten_valid_words_count() -> None:
    filler = ["Away", "away", "x", "9lives", "two words", "", None, 7]
    result = score([*filler, "ten", "twenty", "thirty"])
    assert result.details["words"] == ["away", "ten", "twenty", "thirty"]
    assert len(result.details["dropped"]) == 7
    ten = ["aa", "ab", "ac", "ad", "ae", "af", "ag", "ah", "ai", "aj"]
    result = score([*ten, "ten", "twenty", "thirty"])
    assert result.details["words"] == ten and result.scores["survivors"] == 0


@pytest.mark.parametrize("value", [[], None, "ten", ["1", "!!", "x"]])
def test_no_valid_word_is_unparsed(value: Any) -> None:
    result = score(value)
    assert result.failure == "no valid word in the answer" and not result.errored and result.scores == {}


def test_words_without_a_vector_are_listed_and_do_not_survive() -> None:
    result = score(["ten", "twenty", "thirty", "xyzzy", "nothing"])
    assert result.details["no_vector"] == ["xyzzy", "nothing"] and result.scores["survivors"] == 3


def test_a_missing_anchor_or_noun_is_an_error_never_a_zero() -> None:
    for result in (score(["ten", "twenty"], ["unheard"]), score(["ten", "twenty"], pool=["ten", "unheard"])):
        assert result.errored and "'unheard' has no vector" in result.failure and result.scores == {}


def test_an_anchor_of_two_words_is_their_mean_under_word_vectors() -> None:
    one = score(["ten", "twenty", "thirty", "fortyfive"], ["anchor second"])
    table = Table({**TABLE.vectors, "anchor second": [0.5, 0.5]})
    item = scorer_input({"anchors": ["anchor second"]}, ["ten", "twenty", "thirty", "fortyfive"])
    (two,) = Drat(pool=POOL).score([item], context(embedding=table))
    assert one.scores == two.scores and one.details["utilities"] == two.details["utilities"]


def test_a_batch_is_embedded_in_one_go() -> None:
    table = Table(TABLE.vectors)
    items = [scorer_input({"anchors": ["anchor"]}, ["ten", "twenty", "thirty"]) for _ in range(50)]
    Drat(pool=POOL).score(items, context(embedding=table))
    assert len(table.asked) == 1 and table.asked[0] == len(POOL) + 4


def test_the_banks_are_the_papers(reference_data: Path) -> None:
    banks = json.loads((reference_data / "drat" / "anchor_banks.json").read_text())
    for bank, name in (("scientific", "scientific_terms"), ("conceptnet", "conceptnet_distant")):
        docs = list(DratAnchors(bank, 4).docs())  # type: ignore[arg-type]
        assert [doc.fields["anchors"] for doc in docs] == banks[name]
        assert len({doc.id for doc in docs}) == 30
        for k in (2, 3):
            assert (
                [doc.fields["anchors"] for doc in DratAnchors(bank, k).docs()]
                == [  # type: ignore[arg-type]
                    anchors[:k] for anchors in banks[name]
                ]
            )
    assert list(null_pool()) == json.loads((reference_data / "drat" / "stimuli.json").read_text())["cdat_cues_50"]
