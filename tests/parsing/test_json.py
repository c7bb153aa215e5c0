"""Parsers json_array and json_object."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.parsing.json.repair import Effort, UnreadableError, repair
from creval.parsing.json.scan import holds_json
from creval.parsing.json.values import JsonArray, JsonObject

WORDS = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "value", "route"),
    [
        ('["a", "b"]', ["a", "b"], "json_array"),
        ('Here you are:\n```json\n["a", "b"]\n```\nEnjoy [1]!', ["a", "b"], "json_array/fenced"),
        ('```\n["a",\n "b"]', ["a", "b"], "json_array/fenced"),
        ('As in [see note], my list: ["a", "b"] and [1].', ["a", "b"], "json_array/embedded"),
        ('Draft ["a", "b"]. Better: ["c", "d"].', ["c", "d"], "json_array/embedded"),
        ('Long: ["a", "b", "c"]; short: ["d"]', ["a", "b", "c"], "json_array/embedded"),
        ('{"words": ["a", "b"], "why": "no"}', ["a", "b"], "json_array/object"),
        ('{"answer": {"notes": ["n"], "words": ["a", "b"]}}', ["a", "b"], "json_array/object"),
        ('Result: {"answer": {"words": ["a", "b"]}} done', ["a", "b"], "json_array/embedded"),
        ("['don't', 'o'clock', \"x\"]", ["don't", "o'clock", "x"], "json_array/repaired"),
        ("[“a”, ‘b’,]", ["a", "b"], "json_array/repaired"),
        ('[["a", "b"], ["c"]]', [["a", "b"], ["c"]], "json_array"),
    ],
)
def test_arrays_are_found_where_models_put_them(text, value, route):
    parsed = JsonArray().parse(text)
    assert (parsed.value, parsed.route) == (value, route)


def test_items_and_minimum_say_which_arrays_count():
    text = 'Sources [1, 2, 3, 4]. Words: ["a", "b"].'
    assert JsonArray().parse(text).value == [1, 2, 3, 4]
    assert JsonArray(items="string").parse(text).value == ["a", "b"]
    assert JsonArray(items="string", minimum=3).parse(text).reason == (
        "2 JSON values in the answer, no array with only string items of at least 3 items"
    )


@pytest.mark.parametrize(
    ("text", "options", "value"),
    [
        ('{"words": ["a", "b"], "reasons": ["c", "d"]}', {"key": "words"}, ["a", "b"]),
        ('{"reasons": ["c", "d"], "answer": {"words": ["a", "b"]}}', {"key": "words"}, ["a", "b"]),
        ('{"nouns": ["a", "b"]}', {"key": "words"}, ["a", "b"]),
        ('[{"word": "a", "reason": "x"}, {"word": "b"}]', {"field": "word"}, ["a", "b"]),
        ('{"words": [{"word": "a"}, "b"], "reasons": ["c", "d"]}', {"key": "words", "field": "word"}, ["a", "b"]),
        ('[["a", "b"]]', {"items": "string"}, ["a", "b"]),
        ('{"draft": ["a"], "final": ["b", "c"]}', {}, ["b", "c"]),
        ('{"draft": ["a", "x"], "final": ["b", "c"]}', {"choose": "last"}, ["b", "c"]),
    ],
)
def test_the_task_names_the_list_that_it_requires(text, options, value):
    assert JsonArray(**options).parse(text).value == value


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ('{"words": ["a", "b"], "reasons": ["c", "d"]}', {}, "holds 2 lists, and no `key` says which one counts"),
        ('{"nouns": ["a"], "reasons": ["c", "d"]}', {"key": "words"}, "holds 2 lists, and none is called 'words'"),
        ('{"words": "a, b", "reasons": ["c", "d"]}', {"key": "words"}, "no array"),
        ('[["a"], ["b", "c"]]', {"items": "string"}, "no array with only string items"),
        ('[{"word": "a"}, {"noun": "b"}]', {"field": "word"}, "no array"),
        ('Draft ["a", "b"]. Final: ["c", "d', {}, "never closed"),
        ('["a", "b" and "c"', {}, "never closed"),
        ('["a", /* no */ "b"]', {}, "not certain"),
        ('{"words": ["a"], "words": ["b"],}', {}, "not certain"),
        ('{"words": , "nouns": ["a"]}', {}, "not certain"),
        ("[" * 60 + '"a"' + "]" * 60, {"items": "string"}, "nested too deep"),
    ],
)
def test_what_is_not_certain_is_a_failure(text, options, reason):
    parsed = JsonArray(**options).parse(text)
    assert not parsed.ok and reason in parsed.reason


def test_a_cut_draft_does_not_hide_what_comes_first_when_the_first_counts():
    text = 'One ["a", "b"], two ["c'
    assert JsonArray(choose="first").parse(text).value == ["a", "b"]
    assert JsonObject(choose="first").parse('{"a": 1} {"b": ').value == {"a": 1}
    assert JsonObject().parse('{"a": 1} {"b": ').reason == "the JSON in the answer is never closed"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "say "yes", then go", "b": [1, 2.50,],}', {"a": 'say "yes", then go', "b": [1, 2.5]}),
        ("{'a': 'it's so', 'b': True, 'c': None}", {"a": "it's so", "b": True, "c": None}),
        ('{"a": "two\nlines" "b": "c"}', {"a": "two\nlines", "b": "c"}),
        ('{a: "x", b: "y"}', {"a": "x", "b": "y"}),
    ],
)
def test_an_object_with_a_slip_is_repaired(text, value):
    parsed = JsonObject().parse(text)
    assert (parsed.value, parsed.route) == (value, "json_object/repaired")


@given(WORDS, st.integers(0, 200), st.sampled_from(['"', ",", "\n", "", "'", "]", "}"]))
def test_nothing_is_lost_or_invented_by_mending(words, at, inserted):
    """One character put in or taken out: what is read has all letters of the answer, in order, and no others."""
    text = json.dumps({"words": words}, ensure_ascii=False)
    at %= len(text)
    broken = text[:at] + inserted + text[at + (not inserted) :]
    parsed = JsonObject().parse(broken)
    if parsed.ok and parsed.route == "json_object/repaired":  # the whole answer is the object
        written = json.dumps(parsed.value, ensure_ascii=False)
        for escape in ("\\n", "\\t", "\\r", "\\b", "\\f"):
            written, broken = written.replace(escape, ""), broken.replace(escape, "")
        if "\\" not in written:
            assert [c for c in written if c.isalnum()] == [c for c in broken if c.isalnum()]


def test_the_library_is_stopped_where_it_looks_at_the_text_again_and_again():
    """It would read this in time that grows with the cube; what is counted is how often it looks at a character."""
    text = '["q" "x" ' + '{"a" ' * 8_000 + "]"
    effort = Effort(reads=50_000)
    with pytest.raises(UnreadableError, match="too long to be repaired"):
        repair(text, 0, effort)
    assert -10 <= effort.left < 0
    slip = json.dumps({"results": [{"word": f"w{i}", "reason": "a small rock"} for i in range(200)]})
    enough = Effort(reads=5 * len(slip))
    assert len(repair(slip[:-2] + ",]}", 0, enough)[0]["results"]) == 200 and enough.left > 0


def test_choose():
    text = 'One ["a"], two ["b", "c"], three ["d"]'
    assert JsonArray(choose="first").parse(text).value == ["a"]
    assert JsonArray(choose="last").parse(text).value == ["d"]
    assert JsonArray(choose="largest").parse(text).value == ["b", "c"]


@pytest.mark.parametrize("text", ["", "no list", "[see note 1]", "[]", "[NaN, 1]", "[1e999]", "[" + "9" * 5000 + "]"])
def test_what_is_no_array_is_a_failure_with_a_reason(text):
    parsed = JsonArray().parse(text)
    assert not parsed.ok
    assert parsed.reason


@given(WORDS, st.text(alphabet=st.characters(blacklist_characters="[]{}`'\"“‘"), max_size=60))
def test_any_array_of_texts_comes_back_out_of_any_prose(words, prose):
    for text in (
        json.dumps(words),
        f"{prose}{json.dumps(words)}{prose}",
        f"{prose}\n```json\n{json.dumps(words)}\n```",
    ):
        assert JsonArray().parse(text).value == words


@given(st.text(alphabet="[]{},:'\"`123 abc\n-eE.", max_size=300))
def test_no_text_makes_a_parser_raise(text):
    for parser in (JsonArray(), JsonArray(items="string"), JsonObject(), JsonObject(key="a.b")):
        parsed = parser.parse(text)
        assert parsed.ok or parsed.reason


HOSTILE = {
    "brackets": "[" * 10_000_000,
    "braces": '{"a":' * 2_000_000,
    "unclosed": "[1," * 3_000_000,
    "many starts, one long tail": "[" * 900 + "1," * 2_000_000,
    "quotes": "['" * 4_000_000,
    "quotes and spaces": "['a" * 300 + " " * 2_000_000,
    "numbers": ("[" * 300) + "1" * 2_000_000,
    "not finite": "[" * 900 + "1," * 1_000_000 + "NaN",
    "closed too often": '["a"]' + ', "b"]' * 150_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_bounded_time(name):
    """A search that grows with the square of the text would need hours for these: the test would never end."""
    assert not JsonArray(items="object").parse(HOSTILE[name]).ok
    assert not JsonObject(key="zz").parse(HOSTILE[name]).ok


def test_objects():
    text = 'First {"a": 1}, then ```{"a": 2, "b": {"c": [3]}}``` and {"x": 0}'
    assert JsonObject().parse(text).value == {"a": 2, "b": {"c": [3]}}
    assert JsonObject(keys=("x",)).parse(text).value == {"x": 0}
    assert JsonObject(key="b.c").parse(text).value == [3]
    assert JsonObject(key="a", choose="first").parse('{"a": 1} {"a": 2}').value == 1
    assert JsonObject(key="a").parse('{"a": 1} {"a": 2}').value == 2
    assert JsonObject(key="nope").parse(text).reason == "3 JSON values in the answer, no object with 'nope'"


WORDS_OF_GOLD = ["hippo", "jumper", "violin", "arm"]
MARKS = "\"'[]{},:\\`“”()\n"
OBJECTS = [{"word": word, "reason": "it is far"} for word in WORDS_OF_GOLD]
GOLD = {
    "list": json.dumps(WORDS_OF_GOLD),
    "object": json.dumps({"words": WORDS_OF_GOLD, "reasons": ["an animal", "wool", "wood", "skin"]}),
    "objects": json.dumps(OBJECTS),
}


def _slips(text):
    """Every text that one mark too many, too few or in place of another makes of a text."""
    for at in range(len(text)):
        if not text[at].isalnum():
            yield text[:at] + text[at + 1 :]
            yield from (text[:at] + mark + text[at + 1 :] for mark in MARKS)
            yield from (text[:at] + mark + text[at:] for mark in MARKS)


@pytest.mark.parametrize("name", GOLD)
def test_no_slip_loses_or_makes_a_word(name):
    """A text that took in a mark is still one text; what is lost, torn or made up is unreadable instead."""
    parser = JsonArray(items="string", key="words", field="word")
    for answer in _slips(GOLD[name]):
        parsed = parser.parse(answer)
        if parsed.ok:
            read = ["".join(filter(str.isalnum, word)) for word in parsed.value]
            assert read == WORDS_OF_GOLD or answer in HOISTED, answer


HOISTED = {  # the part before the slip is a whole list, and what follows a member of the object around it
    GOLD["object"].replace('"violin",', '"violin":'),
    GOLD["objects"].replace('far"}, {"word": "arm"', 'far"]}, {"word": "arm"'),
}


@pytest.mark.parametrize(
    "answer",
    [
        '["a1", "b1"], "c1"]',
        '[{"word": "a1"}], {"word": "b1"}]',
        '{"words": ["a1"}, "b1"], "reasons": ["an animal", "wool"]}',
        '"words": ["a1", "b1"], "reasons": ["an animal", "wool"]}',
        'Draft: ["a1", "b1"]\nFinal: "c1", "d1"]',
        '["a1"\' "b1", "c1"]',
        '["a1"" "b1", "c1"]',
        '["aa"b, "c1"]',
        '[\\"a1\\", \\"b1\\"]',
    ],
)
def test_torn_json_is_unreadable(answer):
    assert not JsonArray(items="string", key="words", field="word").parse(answer).ok
    assert holds_json(answer)


def test_a_bracket_too_many_at_the_end_and_a_smiley_do_no_harm():
    for answer in ('["a1", "b1"]]', '{"words": ["a1", "b1"]}}', '["a1", "b1"] I hope it helps :]'):
        assert JsonArray(key="words").parse(answer).value == ["a1", "b1"]


def test_keys_in_any_letter_case_and_the_array_that_is_called_final():
    assert JsonArray(key="words").parse('{"Words": ["a", "b"], "Reasons": ["c", "d"]}').value == ["a", "b"]
    assert JsonArray(items="string", field="word").parse('[{"Word": "a"}, {"*word*": "b"}]').value == ["a", "b"]
    for answer in (
        'Draft: ["a", "b", "c"]\nFinal list: ["d", "e"]',
        'Draft:\n```json\n["a", "b", "c"]\n```\nMy final answer:\n```json\n["d", "e"]\n```',
    ):
        assert JsonArray().parse(answer).value == ["d", "e"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": -5,}', -5),
        ('{"a": −5,}', None),
        ('{"a": –5,}', None),
        ('{"a": -$5}', None),
        ("{'a': -3.50}", -3.5),
        ("{'a': [1, -2, 3,]}", [1, -2, 3]),
        ('{"a": 1,234}', "1,234"),
        ('{"a": .5}', None),
        ('{"a": 1_000}', None),
    ],
)
def test_no_number_in_faulty_json_loses_its_sign_or_a_part(text, value):
    assert JsonObject(key="a").parse(text).value == value
