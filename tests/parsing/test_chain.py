"""The rule of the parser chain."""

from __future__ import annotations

import pytest

from creval.errors import ScoringError
from creval.parsing import MAX_CHARACTERS, ParserChain, build_chain
from creval.parsing.chain import Step
from creval.plugins.builtin import parsers
from creval.plugins.registry import Registry
from creval.tasks.task_model import ComponentRef


def chain(*steps: str | tuple[str, dict]):
    registry = Registry()
    parsers.register(registry.scoped("core"))
    refs = [ComponentRef(step) if isinstance(step, str) else ComponentRef(step[0], step[1]) for step in steps]
    return build_chain(refs, registry)


def test_the_first_alternative_that_reads_the_text_wins_and_is_named():
    parsed = chain("json_array", "lines", "words").parse('```json\n["Apple", "pear tree", "plum"]\n```')
    assert parsed.value == ["apple", "plum"]
    assert parsed.route == "json_array/fenced > words"


def test_a_later_alternative_is_taken_when_the_first_fails():
    parsed = chain("json_array", "lines", "words").parse("1. Apple\n2. Pear")
    assert parsed.value == ["apple", "pear"]
    assert parsed.route == "lines > words"


def test_a_failing_refinement_sends_the_text_to_the_next_alternative():
    parsed = chain("json_array", "lines", "words").parse("apple [1]\npear [2]")
    assert parsed.value == ["apple", "pear"]
    assert parsed.route == "lines > words"


def test_an_extracting_parser_can_be_set_to_refine():
    parsed = chain(("tagged", {"tag": "answer"}), ("last_number", {"refine": True})).parse("7 <answer>x = 5</answer> 9")
    assert parsed.value == 5.0
    assert parsed.route == "tagged > last_number"


def test_an_empty_chain_gives_the_stripped_text():
    parsed = chain().parse("  hello \n")
    assert (parsed.value, parsed.route) == ("hello", "text")


def test_a_chain_of_refiners_starts_from_the_text():
    parsed = chain("words").parse("apple, pear")
    assert (parsed.value, parsed.route) == (["apple", "pear"], "words")


def test_blank_and_endless_answers_are_failures_whatever_the_chain():
    assert chain().parse(" \n").reason == "the answer is empty"
    endless = chain().parse("a" * (MAX_CHARACTERS + 1))
    assert not endless.ok
    assert str(MAX_CHARACTERS) in endless.reason


def test_the_failure_says_what_every_alternative_met():
    reason = chain("json_array", ("tagged", {"tag": "a"})).parse("nothing here").reason
    assert reason == "json_array: no JSON array in the answer; tagged: no <a> in the answer"


CUT = '{"words": ["apple",\n"pear",\n"pl'


def test_json_that_cannot_be_read_is_not_read_as_prose():
    for fallback in ("lines", "text", "last_number", ("choice", {"options": ["apple"]})):
        parsed = chain("json_array", fallback).parse(CUT)
        assert (parsed.ok, parsed.reason) == (False, "json_array: the JSON in the answer is never closed")
    assert chain("lines").parse(CUT).ok  # told to read lines, it reads lines
    assert chain("json_array", ("tagged", {"tag": "a"})).parse(CUT + "\n<a>plum</a>").value == "plum"


def test_characters_that_nobody_sees_are_gone_and_the_route_says_so():
    parsed = chain("lines", "words").parse("\ufeffap\u200bple\u2028pear\u0085pl\u200dum")
    assert (parsed.value, parsed.route) == (["apple", "pear"], "unseen > lines > words")
    escaped = chain("json_array").parse('["ap\\u200bple", {"a\\ufeff": "b"}]')
    assert (escaped.value, escaped.route) == (["apple", {"a": "b"}], "unseen > json_array")
    assert chain("json_array").parse('["apple"]').route == "json_array"


def test_a_refusal_ends_the_chain_and_is_counted_by_its_route():
    parsed = chain("json_array", "text").parse("I’m sorry, but I can’t help with that.")
    assert (parsed.ok, parsed.route, parsed.reason) == (False, "refusal", "the answer is a refusal")


def test_a_parser_that_gives_something_else_is_named_with_its_place():
    class Odd:
        def parse(self, text):
            return ["apple"]

    with pytest.raises(ScoringError, match=r"the parser 'odd' returned a list, not a Parsed \(test_chain\.py:\d+\)"):
        ParserChain([Step("odd", Odd(), False)]).parse("apple")
