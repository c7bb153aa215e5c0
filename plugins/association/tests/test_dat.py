"""DAT: the published scorer's rules, the equation, and human lists."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from association_support import Table, context, scorer_input
from hypothesis import given
from hypothesis import strategies as st

from creval.resources.resource_options import ResourceOptions
from creval.resources.wordlists import WordList, open_word_file
from creval_association.nouns import open_english
from creval_association.scorers.dat import Dat, DatDictionary
from creval_association.validation import candidates, valid_words
from creval_encoders.word_vectors import open_glove

RNG = np.random.default_rng(3)
WORDS = ["arm", "bee", "cul-de-sac", "drum", "egg", "fog", "gate", "hill", "icecream"]
TABLE = Table({word: list(RNG.normal(size=6)) for word in WORDS})


@pytest.fixture(scope="session")
def dictionary(reference_data: Path) -> WordList:
    return open_word_file(str(reference_data / "dat" / "words.txt.gz"), ResourceOptions())


def test_spellings() -> None:
    assert candidates("cul de sac") == ("cul-de-sac", "culdesac")
    assert candidates("  Ice-Cream! ") == ("ice-cream", "icecream")
    assert candidates("x") == () and candidates("9") == () and candidates("") == ()
    assert candidates("don't") == ("dont",)
    assert candidates("cul de sac", "released") == ("culdesac",)
    assert candidates("ice-cream", "released") == ("icecream",)


def test_the_published_validation_example(dictionary: WordList, reference_data: Path) -> None:
    examples = json.loads((reference_data / "dat" / "readme_examples.json").read_text())["validate"]
    assert examples
    for example in examples:
        assert valid_words([example["input"]], lambda word: word in dictionary).words == (example["expected"],)


def test_the_dictionary_step_on_human_lists(dictionary: WordList, reference_data: Path, parity: Any) -> None:
    """`valids` counts words in the dictionary *and* in GloVe's vocabulary: the dictionary alone is an upper bound."""
    pairs: list[tuple[float, float]] = []
    for study in ("olson2021_study1a.tsv", "olson2021_study1b.tsv"):
        with (reference_data / "dat" / study).open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file, delimiter="\t") if row["valids"] not in ("", "NA")]
        assert len(rows) > 130
        for row in rows:
            typed = [row[f"word.{i}"] or "" for i in range(1, 11)]
            mine = len(valid_words(typed, lambda word: word in dictionary).words)
            pairs.append((mine, int(row["valids"])))
    assert all(mine >= theirs for mine, theirs in pairs)
    assert sum(mine == theirs for mine, theirs in pairs) / len(pairs) > 0.97
    against = (
        "the published counts of valid words in people's lists (doi:10.1073/pnas.2022340118, studies 1a and 1b), which "
        "ask for GloVe's vocabulary too; the scores need GloVe 840B"
    )
    about = {"against": against, "commit": "2652cf343d5be9d95596e7b17df7518fc30e3ca6"}
    parity.add("dat_dictionary", about, pairs, 0)


def score(value: Any, scorer: Dat | None = None, **resources: Any) -> Any:
    (result,) = (scorer or Dat()).score([scorer_input({}, value)], context(embedding=TABLE, **resources))
    return result


def test_equation_1_pair_by_pair() -> None:
    typed = ["ARM", " bee ", "cul de sac", "unheard", "drum", "egg", "fog.", "gate", "hill"]
    result = score(typed)
    used = ["arm", "bee", "cul-de-sac", "drum", "egg", "fog", "gate"]
    distances = []
    for a, b in itertools.combinations(used, 2):
        x, y = np.array(TABLE.vectors[a]), np.array(TABLE.vectors[b])
        distances.append(1 - x @ y / math.sqrt((x @ x) * (y @ y)))
    assert result.details["words"] == used and result.details["dropped"] == ["unheard"]
    assert result.scores["dat"] == pytest.approx(100 * np.mean(distances), abs=1e-4)
    assert result.scores["valid_words"] == 8


def test_fewer_than_seven_words_are_unparsed_never_zero() -> None:
    for value, valid in (
        (["arm", "arm", "bee", "drum", "egg", "fog", "gate"], 6),
        ([], 0),
        (None, 0),
        (["arm"] * 10, 1),
    ):
        result = score(value)
        assert result.scores == {"valid_words": valid} and "7 needed" in result.failure and not result.errored


def test_a_dictionary_validates_where_the_embedding_has_no_vocabulary(embedded: Callable[[str], Any]) -> None:
    where = context(embedding=embedded("minilm"), wordlist_dictionary=open_english("scowl-60", ResourceOptions()))
    consonants = ["qwrtz", "bcdfg", "hjklm", "npqrs", "tvwxz", "zxwvt", "srqpn"]
    words = ["hippo", "jumper", "machinery", "prickle", "tickets", "tomato", "violin"]
    nothing, all_seven = Dat().score([scorer_input({}, consonants), scorer_input({}, words)], where)
    assert nothing.scores == {"valid_words": 0} and nothing.failure == "0 valid words, 7 needed"
    assert all_seven.scores["valid_words"] == 7 and "dat" in all_seven.scores
    assert all_seven.details["validated_by"].startswith("english/scowl-60@sha256:")
    vectors = score(WORDS)
    assert vectors.details["validated_by"] == "the vocabulary of table@1"


def test_the_dictionary_excludes_what_only_the_vocabulary_has() -> None:
    words = WordList("test", ["arm", "bee", "drum", "egg", "fog", "gate", "hill", "-x"])
    result = score(WORDS, DatDictionary(), wordlist_dictionary=words)
    assert result.details["words"] == ["arm", "bee", "drum", "egg", "fog", "gate", "hill"]
    assert result.details["dropped"] == ["cul-de-sac", "icecream"]
    assert "6 valid words" in score(WORDS[:7], DatDictionary(), wordlist_dictionary=words).failure


@given(st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=20)), max_size=15))
def test_any_list_is_handled(value: list[Any]) -> None:
    kept = valid_words(value, lambda word: True)
    assert len(set(kept.words)) == len(kept.words) and all(len(word) >= 1 for word in kept.words)


def test_close_words_score_lower_with_real_vectors(embedded: Callable[[str], Any]) -> None:
    """The published low, middle and high examples, in that order, with the small vectors of the package."""
    examples = (
        "arm eyes feet hand head leg body",
        "bag bee burger feast office shoes tree",
        "hippo jumper machinery prickle tickets tomato violin",
    )
    where = context(embedding=embedded("glove-6b-50d"))
    scores = [s.scores["dat"] for s in Dat().score([scorer_input({}, e.split()) for e in examples], where)]
    assert scores == pytest.approx([38.0, 71.9, 98.3], abs=0.05)


@pytest.mark.fidelity
def test_the_published_values_with_glove_840b(reference_data: Path, parity: Any) -> None:
    """Needs the vectors of the published test: creval association vectors add glove-840b FILE."""
    from creval.errors import MissingPartError

    try:
        glove = open_glove("840b", ResourceOptions())
    except MissingPartError as error:
        pytest.skip(str(error))
    examples: Mapping[str, Any] = json.loads((reference_data / "dat" / "readme_examples.json").read_text())
    pairs: list[tuple[float, float]] = []
    for example in examples["dat"]:
        scorer = Dat(words=example["minimum"])
        (result,) = scorer.score([scorer_input({}, example["words"])], context(embedding=glove))
        if "expected" in example:
            pairs.append((result.scores["dat"], example["expected"]))
        else:
            pairs.append((round(result.scores["dat"]), example["expected_rounded"]))
        assert pairs[-1][0] == pytest.approx(pairs[-1][1], abs=0.006)
    against = "the examples of the published scorer, github.com/jayolson/divergent-association-task"
    about = {"against": against, "commit": "9978dd8103670a90c59bc35a7210acc60995dcdb"}
    parity.add("dat", about, pairs, 0.006, whole=False)


def test_the_prompts_of_the_other_paper_are_the_printed_ones(reference_data: Path) -> None:
    """Table 18 of arXiv:2603.09970, whose white space the text has lost."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex
    from creval.tasks.templates.rendering import render

    papers = list((reference_data.parent / "papers").glob("000_*.txt"))
    if not papers:
        pytest.skip("the text of arXiv:2603.09970 is not there")
    printed = "".join(papers[0].read_text(encoding="utf-8").split())
    index = TaskIndex(load_plugins())
    for name, fields in (("dat_create", {}), ("rat_create", {"stems": ["cottage", "swiss", "cake"]})):
        task = index.load(name)
        (message,) = render(task.prompts["prompt"], fields, task.file)
        assert "".join(message.content.split()) in printed
