"""Judges' replies: all published ones read as stored, and what is no verdict is refused."""

from __future__ import annotations

from typing import Any

import pytest

from creval_create.judging.replies import UnreadableVerdictError, read_class_sizes, read_factuality
from creval_create.utility.strength import triple_strength


def test_every_published_reply_gives_the_stored_scores(judged: list[dict[str, Any]]) -> None:
    count = 0
    for row in judged:
        for place, path in enumerate(row["parsed_paths"]):
            factual = read_factuality(row["factuality_raw"][place], len(path))
            assert list(map(float, factual)) == row["factuality_per_triple"][place]
            sizes = read_class_sizes(row["strength_raw"][place], len(path))
            assert list(map(triple_strength, sizes)) == row["strength_per_triple"][place]
            count += 1
    assert count == 178


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"explanation": "", "judgments": ["not hallucinated", "hallucinated"]}', (True, False)),
        ('Sure:\n```json\n{"judgments": ["Not Hallucinated", "HALLUCINATED"]}\n```', (True, False)),
        ('{"judgments": ["not  hallucinated", "not hallucinated"]}', (True, True)),
    ],
)
def test_factuality(text: str, verdict: tuple[bool, ...]) -> None:
    assert read_factuality(text, 2) == verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("Both are true.", "no JSON object"),
        ('{"explanation": "both"}', "with 'judgments'"),
        ('{"judgments": ["not hallucinated"]}', "1 judgements for 2 triples"),
        ('{"judgments": ["not hallucinated", "not hallucinated", "hallucinated"]}', "3 judgements for 2 triples"),
        ('{"judgments": "not hallucinated"}', "not a list"),
        ('{"judgments": ["not hallucinated", "cannot verify"]}', "'cannot verify' is neither"),
        ('{"judgments": [true, false]}', "neither"),
        ('{"judgments": ["not hallucinated", "hallu', "never closed"),
    ],
)
def test_no_factuality(text: str, reason: str) -> None:
    with pytest.raises(UnreadableVerdictError, match=reason):
        read_factuality(text, 2)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ('[{"explanation": "", "judgment": 12}, {"explanation": "", "judgment": 0}]', (12, 0)),
        ('```json\n[{"judgment": 12}, {"judgment": 100000}]\n```', (12, 100000)),
    ],
)
def test_class_sizes(text: str, sizes: tuple[int, ...]) -> None:
    assert read_class_sizes(text, 2) == sizes


def test_one_triple_may_be_judged_by_the_object_alone() -> None:
    assert read_class_sizes('{"explanation": "", "judgment": 7}', 1) == (7,)
    with pytest.raises(UnreadableVerdictError):
        read_class_sizes('{"explanation": "", "judgment": 7}', 2)


@pytest.mark.parametrize("size", ['"5,000"', '"5000"', "-1", "3.5", "null", "true", "[]", '"many"'])
def test_no_class_size(size: str) -> None:
    with pytest.raises(UnreadableVerdictError, match="no whole number"):
        read_class_sizes(f'[{{"judgment": 1}}, {{"judgment": {size}}}]', 2)


@pytest.mark.parametrize(
    "text", ["", "About 50 each.", "[]", "[1, 2]", '[{"judgment": 1}]', '[{"judgment": 1}, {"e": 1}]']
)
def test_no_class_sizes(text: str) -> None:
    with pytest.raises(UnreadableVerdictError):
        read_class_sizes(text, 2)
