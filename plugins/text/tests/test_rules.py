"""Rules: what each kind accepts, that mistakes are named, and that verdicts on IFEval's instructions are lm-eval's."""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.cli.root import cli
from creval.plugin import Parsed, SampleKey, Score, ScorerInput, UsageError
from creval.types.sample import Condition
from creval_text.ifeval import INSTRUCTIONS, rule_of
from creval_text.rules import KINDS, count_sentences, read_rule, read_rules
from creval_text.rules_scorer import Rules, loose_forms

SCHEMA = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
KEPT: list[tuple[Any, str, str]] = [
    ({"words": {"min": 2, "max": 3}}, "two words", "one"),
    ({"words": 2}, "it's", "one"),
    ({"characters": {"max": 3}}, " abc ", "abcd"),
    ({"lines": 2}, "a\n\nb", "a"),
    ({"sentences": 2}, "Mr. Fox ran. He hid!", "Mr. Fox ran."),
    ({"paragraphs": 2}, "a\n\nb\n", "a\nb"),
    ({"paragraphs": {"exactly": 2, "divider": "***"}}, "a\n***\nb", "a\n\nb"),
    ({"bullets": 2}, "* a\n- b", "** a\n1. b"),
    ({"highlights": {"min": 2}}, "*a* and *b*", "*a* and **"),
    ({"placeholders": {"min": 1}}, "[name]", "name"),
    ({"sections": {"word": "PART", "min": 2}}, "PART 1 a PART 2 b", "PART 1 a"),
    ({"capital_words": {"max": 1}}, "GO home", "GO HOME"),
    ({"count": {"of": "a", "min": 2}}, "A cat", "A dog"),
    ({"count": {"of": "sea", "exactly": 1, "whole_words": True}}, "sea seal", "sea, sea"),
    ({"contains": ["river", "boat"]}, "A River, a boat", "A river"),
    ({"contains": {"of": "River", "ignore_case": False}}, "River", "river"),
    ({"contains_any": ["x", "y"]}, "y", "z"),
    ({"contains_none": ","}, "a; b", "a, b"),
    ({"contains_none": {"of": "sun", "whole_words": True}}, "Sunday", "the Sun"),
    ({"one_of": ["yes", "no"]}, " Yes ", "yes."),
    ({"regex": r"\d{4}"}, "in 1984", "in 198"),
    ({"regex": {"pattern": "[a-z ]+", "whole": True}}, "a b", "a1"),
    ({"case": "upper"}, "A B!", "A b"),
    ({"case": "lower"}, "a b!", "A b"),
    ({"starts": "Dear"}, " dear Ada", "Oh dear"),
    ({"ends": "the end."}, '"So. The end."', "The end. Or not"),
    ({"paragraph_starts": {"with": "so", "number": 2}}, "a\n\nSo, b", "so\n\nb"),
    ({"parts": {"divider": "******", "different": True}}, "a ****** b", "a ****** a"),
    ("json", '```json\n{"a": 1}\n```', "{a: 1}"),
    ({"json": SCHEMA}, '{"name": "x"}', '{"name": 1}'),
    ({"json": {"schema": SCHEMA}}, '{"name": "x"}', "[]"),
    ("quoted", '"a"', 'a"'),
    ("title", "<<A song>>\nla", "<< >>"),
    ({"postscript": "P.S."}, "Bye. P. S. Milk", "Bye, PS"),
    ({"language": "de"}, "Das ist ein kurzer Satz über das Wetter.", "This is a short sentence about the weather."),
    ({"all": [{"case": "lower"}, {"words": 1}]}, "a", "a b"),
    ({"any": [{"case": "upper"}, {"words": 1}]}, "a", "a b"),
    ({"not": {"contains": "x"}}, "a", "ax"),
]


@pytest.mark.parametrize(("rule", "good", "bad"), KEPT, ids=lambda each: json.dumps(each)[:40])
def test_a_rule_tells_texts_apart(rule: Any, good: str, bad: str) -> None:
    read = read_rule(rule)
    assert read.kept(good)
    assert not read.kept(bad)


def test_every_kind_is_tried_and_on_the_page() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "text-rules.md").read_text(encoding="utf-8")
    assert {read_rule(rule).kind for rule, _, _ in KEPT} == set(KINDS)
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"wrods": 3}, "there is no rule 'wrods' Did you mean 'words'?"),
        ({"words": {"mx": 3}}, "the rule 'words' has no argument 'mx' Did you mean 'max'?"),
        ({"words": "three"}, "'exactly' of the rule 'words' is 'three' Write a whole number from 0."),
        ({"words": {}}, "the rule 'words' has no limit Write one of min, max, exactly."),
        ({"words": {"min": 3, "max": 2}}, "asks for at least 3 and at most 2"),
        ({"case": "title"}, "'is' of the rule 'case' is 'title' Write upper or lower."),
        ({"language": "english"}, "Write a code of ISO 639-1"),
        ({"regex": "("}, "is not a regular expression"),
        ({"json": {"schema": {"type": "objekt"}}}, "the schema of the rule 'json' is invalid"),
        ({"quoted": "yes"}, "the rule 'quoted' takes no bare value"),
        ({"sections": {"min": 2}}, "the rule 'sections' lacks 'word'"),
        ({"contains": []}, "Write a text, or a list of texts."),
        ({"a": 1, "b": 2}, "is not a rule"),
        (7, "'7' is not a rule"),
        ({"not": {"not": {"not": {"not": {"not": {"not": {"not": "json"}}}}}}}, "nested too deeply"),
    ],
)
def test_mistakes_are_named(rule: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_rules(rule)
    assert said in f"{caught.value.what} {caught.value.fix}"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One", 1),
        ("One. Two! Three?", 3),
        ("Dr. Fox met Mrs. Owl at St. Ives.", 1),
        ("It costs 3.50 euros. See p. 4 of it.", 2),
        ("He said: “Go.” She went…", 2),
        ("我走了。你呢？", 1),
    ],
)
def test_sentences_are_counted(text: str, count: int) -> None:
    assert count_sentences(text) == count


def scored(scorer: Rules, doc: Any, answer: str) -> Score:
    key = SampleKey("t", "d", "default", 0)
    (score,) = scorer.score(
        [ScorerInput(key, doc, Condition("default"), [answer], [answer], {}, [Parsed(answer)])], None
    )  # type: ignore[arg-type]
    return score


def test_strict_and_loose_by_prompt_and_by_rule() -> None:
    doc = {"rules": [{"starts": "dear"}, {"words": {"max": 3}}, {"contains": "x"}]}
    found = scored(Rules(), doc, "Sure!\n*Dear* Ada")
    assert found.scores == {
        "rules": 0.0,
        "rules_loose": 0.0,
        "rules_each": pytest.approx(1 / 3),
        "rules_each_loose": pytest.approx(2 / 3),
        "rules_count": 3.0,
    }
    assert found.details is not None
    assert list(found.details["rules"][0].values()) == ["loose", "strict", "broken"]
    assert loose_forms("a\nb\nc") == ["b\nc", "a\nb", "b"]


def test_rules_of_the_task_and_of_the_doc_add_up() -> None:
    scorer = Rules(field="own", rules=[{"case": "lower"}])
    assert scored(scorer, {"own": [{"words": 1}]}, "a b").scores["rules_count"] == 2.0
    assert scorer.doc_fault({}) == "it has no field 'own'; it has "
    assert scorer.doc_fault({"own": [{"wrods": 1}]}) == "there is no rule 'wrods'. Did you mean 'words'?"
    assert Rules().doc_fault({"rules": []}) == "it has no rule"


def test_a_pattern_that_does_not_end_is_the_tasks_fault() -> None:
    found = scored(Rules(rules={"regex": "(a+)+$"}), {}, "a" * 50 + "b" * 40)
    assert found.failure is None or (found.errored and "took longer than 2 s" in found.failure)


EVERY_RULE = [rule for rule, _, _ in KEPT]


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300), st.sampled_from(EVERY_RULE))
def test_any_text_is_judged(text: str, rule: Any) -> None:
    assert read_rule(rule).kept(text) in (True, False)


HOSTILE = ("*", "[", "- ", "<<", "a. ", ".", "\ud800", "{", " ", "\n", "\n* ", '"', "```", "SECTION 1", "a\n", "?'")


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_hostile_texts_are_judged_soon(piece: str) -> None:
    text = "x" + piece * (190_000 // len(piece)) + "x"
    started = time.process_time()
    for rule in EVERY_RULE:
        assert read_rule(rule).kept(text) in (True, False)
    assert time.process_time() - started < 10  # a quadratic rule takes minutes


def test_an_endless_answer_is_not_read() -> None:
    found = scored(Rules(rules="json"), {}, "a" * 200_001)
    assert found.failure == "the answer has 200001 characters; rules read at most 200000"


# --- IFEval ---------------------------------------------------------------------------------------------------------

ARGUMENTS: dict[str, dict[str, Any]] = {
    "keywords:existence": {"keywords": ["river", "boat"]},
    "keywords:frequency": {"keyword": "boat", "frequency": 2, "relation": "at least"},
    "keywords:forbidden_words": {"forbidden_words": ["sun"]},
    "keywords:letter_frequency": {"letter": "a", "let_frequency": 4, "let_relation": "less than"},
    "language:response_language": {"language": "de"},
    "length_constraints:number_sentences": {"num_sentences": 2, "relation": "at least"},
    "length_constraints:number_paragraphs": {"num_paragraphs": 2},
    "length_constraints:number_words": {"num_words": 6, "relation": "less than"},
    "length_constraints:nth_paragraph_first_word": {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "so"},
    "detectable_content:number_placeholders": {"num_placeholders": 1},
    "detectable_content:postscript": {"postscript_marker": "P.S."},
    "detectable_format:number_bullet_lists": {"num_bullets": 2},
    "detectable_format:constrained_response": {},
    "detectable_format:number_highlighted_sections": {"num_highlights": 2},
    "detectable_format:multiple_sections": {"section_spliter": "SECTION", "num_sections": 2},
    "detectable_format:json_format": {},
    "detectable_format:title": {},
    "combination:two_responses": {},
    "combination:repeat_prompt": {"prompt_to_repeat": "Name a boat."},
    "startend:end_checker": {"end_phrase": "The end."},
    "startend:quotation": {},
    "change_case:capital_word_frequency": {"capital_frequency": 2, "capital_relation": "at least"},
    "change_case:english_capital": {},
    "change_case:english_lowercase": {},
    "punctuation:no_comma": {},
}
PIECES = [
    "A boat on the river",
    "the sun",
    "*boat*",
    "**bold**",
    "***",
    "******",
    "\n\n",
    "\n",
    "So, we went.",
    "so",
    "P.S. bring tea",
    "[name]",
    "- one",
    "* two",
    "SECTION 1",
    "SECTION 2",
    "<<A title>>",
    '{"a": 1}',
    '"',
    "My answer is yes.",
    "The end.",
    "Name a boat.",
    "BIG RED",
    "all lower case here",
    "ALL OF THIS IS IN CAPITALS",
    ",",
    "Das ist ein kurzer deutscher Satz.",
]
TRAINED = {"length_constraints:number_sentences", "change_case:capital_word_frequency"}
"""Instructions for which lm-eval needs NLTK's trained tokenizer, which is fetched from the network."""


@pytest.fixture(scope="module")
def theirs() -> Any:
    """lm-eval's own checkers, with NLTK's look-up of its data put aside."""
    nltk = pytest.importorskip("nltk")
    pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13'")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "find", lambda *_: None)
        patch.setitem(sys.modules, "immutabledict", SimpleNamespace(immutabledict=dict))  # they need no more of it
        langdetect = importlib.import_module("langdetect")
        patch.setattr(langdetect.DetectorFactory, "seed", 0)
        yield importlib.import_module("lm_eval.tasks.ifeval.utils")


def test_there_are_all_instructions(theirs: Any) -> None:
    assert set(INSTRUCTIONS) == set(theirs.instructions_registry.INSTRUCTION_DICT) == set(ARGUMENTS)


@settings(max_examples=30, deadline=None)
@given(text=st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map(" ".join))
def test_verdicts_are_those_of_lm_eval(theirs: Any, text: str) -> None:
    names = [name for name in ARGUMENTS if name not in TRAINED]
    given_ = [ARGUMENTS[name] for name in names]
    asked = theirs.InputExample(1, names, "Name a boat.", given_)
    text = text.strip()
    if not text:
        return
    doc = {"ids": names, "kwargs": given_}
    found = scored(Rules(instructions="ids"), doc, text)
    assert found.details is not None
    mine = [*found.details["rules"][0].values()]
    strict = theirs.test_instruction_following_strict(asked, text).follow_instruction_list
    loose = theirs.test_instruction_following_loose(asked, text).follow_instruction_list
    assert dict(zip(names, [each == "strict" for each in mine], strict=True)) == dict(zip(names, strict, strict=True))
    assert dict(zip(names, [each != "broken" for each in mine], strict=True)) == dict(zip(names, loose, strict=True))


@pytest.mark.parametrize("name", sorted(TRAINED))
def test_the_others_are_rules_too(name: str) -> None:
    assert rule_of(name, ARGUMENTS[name]).kept("GO. HOME now.") is True


def test_mistakes_in_ifevals_data_are_named() -> None:
    with pytest.raises(UsageError, match="IFEval has no instruction 'keyword:existence'"):
        rule_of("keyword:existence", {})
    with pytest.raises(UsageError, match="the arguments of 'keywords:existence' do not fit"):
        rule_of("keywords:existence", {})
    assert "are not lists of one length" in str(Rules(instructions="ids").doc_fault({"ids": ["a"], "kwargs": []}))


def test_a_doc_with_a_rule_that_is_none_is_refused_by_validate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.jsonl").write_text(json.dumps({"id": "a", "rules": [{"wrods": 3}]}) + "\n")
    lines = [
        "schema: 1",
        "task: asked",
        "version: 1.0.0",
        "title: T",
        "dataset: {source: file, file: asked.jsonl, id: id}",
    ]
    lines += ["prompt: [{role: user, content: Go.}]", "score: rules", "metrics: [{name: rules, failed: zero}]"]
    Path("asked.yaml").write_text("\n".join(lines))
    found = CliRunner().invoke(cli, ["validate", "./asked.yaml"])
    assert "cannot be scored by 'rules': there is no rule 'wrods'. Did you mean 'words'?" in " ".join(
        found.output.split()
    )
    Path("asked.yaml").write_text("\n".join(lines).replace("score: rules", "score: {rules: {rules: [{case: title}]}}"))
    found = CliRunner().invoke(cli, ["validate", "./asked.yaml"])
    assert "'is' of the rule 'case' is 'title'" in " ".join(found.output.split())
