"""Fields made of a row's own, choices in their order, and examples: the asked doc is never among its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.data.dataset import Dataset
from creval.data.row_types import ListRows
from creval.data.shaping import Shaping
from creval.errors import DataError
from creval.tasks.task_model import ChoicesRef, FewShot, FieldRef


def made(row: Mapping[str, Any], *fields: FieldRef) -> Mapping[str, Any]:
    return Shaping(fields).fields_of(row)


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [
        ({"q": "why?"}, FieldRef("a", "q"), "why?"),
        ({"a.b": 1, "a": {"b": 2}}, FieldRef("a", "a.b"), 1),
        ({"answers": [{"text": "x"}, {"text": "y"}]}, FieldRef("a", "answers.1.text"), "y"),
        ({"s": "so #### 1,250 "}, FieldRef("a", "s", "#### (.*)"), "1,250"),
        ({"s": "so #### 1,250 "}, FieldRef("a", "s", "#### (.*)", number=True), 1250),
        ({"s": "about 2.5e3"}, FieldRef("a", "s", r"\S+$", number=True), 2500.0),
        ({"s": "9007199254740993"}, FieldRef("a", "s", number=True), 9007199254740993),
        ({"s": "2\u202f602.5"}, FieldRef("a", "s", number=True), 2602.5),
        ({"s": "\\frac{1}{2}"}, FieldRef("a", "s", number=True), 0.5),
        ({"s": "#### .5"}, FieldRef("a", "s", "#### (.*)", number=True), 0.5),
        ({}, FieldRef("a", value=[1]), [1]),
    ],
)
def test_fields(row: Mapping[str, Any], field: FieldRef, value: object) -> None:
    assert made(row, field)["a"] == value


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        ({"q": 1}, FieldRef("a", "p"), "there is no field 'p'; there is q"),
        ({"q": [1]}, FieldRef("a", "q.3"), "no field 'q.3'"),
        ({"s": "none"}, FieldRef("a", "s", "#### (.*)"), "is not in the field 's': 'none'"),
        ({"s": 5}, FieldRef("a", "s", "5"), "is not a text"),
        ({"s": "five"}, FieldRef("a", "s", number=True), "'five' cannot be read as a number"),
        ({"s": "4,2"}, FieldRef("a", "s", number=True), "'4,2' cannot be read as a number"),
        ({"s": "1_2"}, FieldRef("a", "s", number=True), "cannot be read as a number"),
        ({"s": True}, FieldRef("a", "s", number=True), "cannot be read as a number"),
        ({"s": "a" * 40 + "b"}, FieldRef("a", "s", "(a|aa)+$"), "takes too long|is not in"),
    ],
)
def test_a_row_that_does_not_fit_says_why(row: Mapping[str, Any], field: FieldRef, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(row, field)


def test_a_faulty_row_is_named_with_its_place() -> None:
    rows = ListRows([{"s": "#### 1"}, {"s": "no"}], "list")
    with pytest.raises(DataError, match="item 2: the pattern"):
        Dataset(rows, shaping=Shaping([FieldRef("t", "s", "#### (.*)")]))


@given(st.lists(st.text(min_size=1), min_size=2, max_size=26, unique=True), st.data(), st.integers())
def test_choices_are_shuffled_and_the_right_one_stays_right(texts: list[str], data: st.DataObject, seed: int) -> None:
    right = data.draw(st.integers(0, len(texts) - 1))
    ref = ChoicesRef("texts", "right", seed=seed)
    row = {"texts": texts, "right": right}
    fields = Shaping(choices=ref).choices_of(row, "doc")
    assert sorted(fields["choices"]) == sorted(texts)
    assert fields["choices"][fields["letters"].index(fields["target"])] == fields["target_text"] == texts[right]
    assert fields == Shaping(choices=ref).choices_of(row, "doc")


def test_each_doc_has_an_order_of_its_own_and_none_without_a_seed() -> None:
    row = {"texts": list("abcdef"), "right": 0}
    orders = {
        tuple(Shaping(choices=ChoicesRef("texts", "right", seed=1)).choices_of(row, str(i))["choices"])
        for i in range(9)
    }
    assert len(orders) > 5
    assert Shaping(choices=ChoicesRef("texts", "right")).choices_of(row, "0")["choices"] == list("abcdef")


@pytest.mark.parametrize(
    ("kind", "answer", "letter"), [("index", 1, "B"), ("number", "2", "B"), ("letter", "b", "B"), ("text", "y", "B")]
)
def test_the_right_choice_in_each_form(kind: Any, answer: object, letter: str) -> None:
    ref = ChoicesRef(("one", "two"), "right", answer_is=kind)
    assert Shaping(choices=ref).choices_of({"one": "x", "two": "y", "right": answer}, "0")["target"] == letter


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"texts": ["a"], "right": 0}, "1 choice"),
        ({"texts": ["a", "a"], "right": 0}, "two choices are 'a', the right one"),
        ({"texts": ["a", "b"], "right": 2}, "no index of the 2 choices"),
        ({"texts": ["a", "b"], "right": True}, "no index"),
        ({"texts": "ab", "right": 0}, "is not a list of choices"),
        ({"texts": ["a", "b"]}, "no field 'right'"),
    ],
)
def test_choices_that_cannot_be_asked(row: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Shaping(choices=ChoicesRef("texts", "right")).choices_of(row, "0")


def test_two_wrong_choices_may_be_the_same():
    assert Shaping(choices=ChoicesRef("t", "r")).choices_of({"t": ["a", "b", "b"], "r": 0}, "0")["target"] == "A"


ARC = [  # the form of AI2's ARC: labels are letters in most rows and digits in some, of three to five choices
    ({"text": ["a", "b", "c", "d"], "label": ["A", "B", "C", "D"]}, "C", "C", "c"),
    ({"text": ["a", "b", "c", "d"], "label": ["1", "2", "3", "4"]}, "3", "3", "c"),
    ({"text": ["a", "b", "c"], "label": ["A", "B", "C"]}, "A", "A", "a"),
    ({"text": ["a", "b", "c", "d", "e"], "label": ["A", "B", "C", "D", "E"]}, "E", "E", "e"),
]


@pytest.mark.parametrize(("choices", "key", "target", "text"), ARC)
def test_rows_with_labels_of_their_own(choices, key, target, text):
    ref = ChoicesRef("choices.text", "answerKey", answer_is="label", labels="choices.label")
    fields = Shaping(choices=ref).choices_of({"choices": choices, "answerKey": key}, "0")
    assert (fields["target"], fields["target_text"], fields["letters"]) == (target, text, choices["label"])
    assert fields["options"].startswith(f"{choices['label'][0]}. a\n")
    shuffled = dataclasses.replace(ref, seed=5)
    fields = Shaping(choices=shuffled).choices_of({"choices": choices, "answerKey": key}, "0")
    assert fields["choices"][fields["letters"].index(fields["target"])] == text


def test_labels_that_the_task_gives():
    ref = ChoicesRef("texts", "right", answer_is="label", labels=("1", "2", "3", "4"))
    assert Shaping(choices=ref).choices_of({"texts": ["a", "b"], "right": 2}, "0")["options"] == "1. a\n2. b"
    for right, labels, message in [
        (3, ("1", "2", "3"), "no label"),
        (1, ("1",), "2 choices and 1 label"),
        (1, "x", "no"),
    ]:
        ref = ChoicesRef("texts", "right", answer_is="label", labels=labels)
        with pytest.raises(ValueError, match=message):
            Shaping(choices=ref).choices_of({"texts": ["a", "b"], "right": right}, "0")


def shot(
    rows: Sequence[Mapping[str, Any]], few_shot: FewShot, pool: Sequence[Mapping[str, Any]] | None = None
) -> Dataset:
    others = None if pool is None else Dataset(ListRows(pool, "pool"), "id")
    return Dataset(ListRows(rows, "list"), "id").with_shots(few_shot, others)


@given(
    st.lists(st.text("ab", max_size=3), min_size=4, max_size=30),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers()),
    st.booleans(),
)
def test_the_asked_doc_is_never_among_its_own_examples(texts: list[str], n: int, seed: int | None, own: bool) -> None:
    rows = [{"id": f"d{place}", "text": text} for place, text in enumerate(texts)]
    pool = None if own else [{"id": f"p{place}", "text": text} for place, text in enumerate(texts)]
    try:
        dataset = shot(rows, FewShot(n, seed), pool)
        docs = list(dataset)
    except DataError as error:
        assert any(sum(other != text for other in texts) < n for text in texts), error
        return
    for doc, again in zip(docs, (dataset.by_id(doc.id) for doc in docs), strict=True):
        shots = doc.fields["shots"]
        assert len(shots) == n
        assert all(each["text"] != doc.fields["text"] for each in shots)
        assert len({each["id"] for each in shots}) == n
        assert again == doc


def test_without_a_seed_examples_are_the_first_and_with_one_they_differ_between_docs() -> None:
    rows = [{"id": f"d{place}", "text": str(place)} for place in range(40)]
    first = shot(rows, FewShot(2))
    assert [[each["id"] for each in doc.fields["shots"]] for doc in first][:3] == [
        ["d1", "d2"],
        ["d0", "d2"],
        ["d0", "d1"],
    ]
    drawn = {tuple(each["id"] for each in doc.fields["shots"]) for doc in shot(rows, FewShot(2, seed=1))}
    assert len(drawn) > 30


def test_examples_belong_to_the_fingerprint() -> None:
    rows = [{"id": f"d{place}", "text": str(place)} for place in range(5)]
    plain = Dataset(ListRows(rows, "list"), "id").fingerprint
    prints = [shot(rows, few).fingerprint for few in (FewShot(1), FewShot(2), FewShot(1, seed=1))]
    prints.append(shot(rows, FewShot(1), [{"id": "x", "text": "x"}, {"id": "y", "text": "y"}]).fingerprint)
    assert len({plain, *prints}) == 5


def test_a_field_of_that_name_is_refused() -> None:
    with pytest.raises(DataError, match="have a field 'shots'"):
        shot([{"id": "a", "shots": 1}, {"id": "b", "shots": 2}], FewShot(1))
