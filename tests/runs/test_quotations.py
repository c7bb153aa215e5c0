"""Quotations of what may not be stored: found in whatever dress, sealed, and read by whoever has the original alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.quotations import MARK, Originals

ORIGINAL = "The quick brown fox jumps over the lazy dog, said Zoë."
DOC = {"id": "d1", "text": ORIGINAL, "choices": ["ox cart", "el"], "nested": {"key": ["Straße 12"]}}


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@pytest.mark.parametrize(
    "text",
    [
        f"You said: {ORIGINAL}",
        f"error: {json.dumps(ORIGINAL)} is too long",
        "error: " + json.dumps(json.dumps(ORIGINAL.replace(" ", "\n"))),
        ORIGINAL.upper(),
        ORIGINAL.replace(" ", "  \n> "),
        "**" + ORIGINAL.replace(" ", "** _") + "_",
        "he says 'BROWN FOX JUMPS over' and no more",
        "either an Ox Cart or nothing, in the STRASSE 12",
    ],
)
def test_a_quotation_in_any_dress_is_sealed(text):
    originals = Originals.of(DOC)
    sealed = originals.sealed(text)
    rest = letters(MARK.sub("\x00", sealed))
    assert MARK.search(sealed)
    assert not any(letters(ORIGINAL)[i : i + 16] in rest for i in range(len(letters(ORIGINAL)) - 15))
    assert "oxcart" not in rest and "strasse12" not in rest
    assert Originals.of(DOC).opened(sealed) == text


@pytest.mark.parametrize("text", ["the quick answer is el", "foxcart", "42", "", "a box cartoon", "over the lazy"])
def test_what_is_no_quotation_stays_readable(text):
    assert Originals.of(DOC).sealed(text) == text


def test_only_the_original_opens_and_a_forged_mark_is_none():
    sealed = Originals.of(DOC).sealed(f"it was {ORIGINAL}")
    other = Originals.of({**DOC, "text": ORIGINAL + "."})
    assert other.opened(sealed) == sealed
    forged = "⟦quoted:AAAA⟧ ⟦quoted:A⟧ ⟦quoted:" + "A" * 40 + "⟧"
    assert other.opened(forged) == forged
    assert other.opened(other.sealed(forged)) == forged
    assert other.opened(other.sealed(other.sealed(ORIGINAL))) == other.sealed(ORIGINAL)


def test_tokens_that_make_up_a_quotation_are_sealed_with_what_could_stand_for_them():
    rows = [[token, -0.5, [[token, -0.5], [token + "s", -1.0]]] for token in ("I", " say", " brown", " fox", " jum")]
    rows += [["ps over", -0.5], [" me", -0.25]]
    originals = Originals.of(DOC)
    sealed = originals.sealed_tokens(rows)
    assert sealed[:2] + sealed[-1:] == rows[:2] + rows[-1:]
    tokens = [name for row in sealed[2:-1] for name in (row[0], *(each[0] for each in (row[2] if row[2:] else ())))]
    assert len(tokens) == 10 and all(MARK.fullmatch(name) for name in tokens)
    assert originals.opened_data(sealed) == rows


PIECES = st.sampled_from(
    [*ORIGINAL.split(" "), ORIGINAL, ORIGINAL[7:31], "ox cart", "\n", "\\n", "⟦quoted:", "⟧", "\ud800"]
)


@given(st.lists(PIECES | st.text(max_size=12), max_size=12).map(" ".join), st.text(max_size=60))
def test_every_text_comes_back_and_sealing_is_always_the_same(text, field):
    doc = {**DOC, "field": field}
    originals = Originals.of(doc, [f"Say {field}"])
    data = {text: [text, {"n": 1, "none": None}], "flag": True}
    sealed = originals.sealed_data(data)
    assert sealed == originals.sealed_data(data)
    assert Originals.of(doc).opened_data(sealed) == data
