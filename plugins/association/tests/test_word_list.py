"""Word lists are read however they are written, and the route says how."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.parsing.lists import straighten
from creval_association.chains import PaceChain
from creval_association.uses_list import UsesList
from creval_association.word_list import WordList

WORDS = ["ocean", "justice", "hammer", "cul-de-sac", "laughter"]
JSON = '["ocean", "justice", "hammer", "cul-de-sac", "laughter"]'


@pytest.mark.parametrize(
    ("answer", "route"),
    [
        (JSON, "json_array"),
        (f"  \n{JSON}\n", "json_array"),
        (f"```json\n{JSON}\n```", "json_array/fenced"),
        (f"Sure! Here they are:\n```\n{JSON}\n```\nHope it helps [a lot].", "json_array/fenced"),
        (f"Here you go: {JSON} Enjoy!", "json_array/embedded"),
        (f'{{"words": {JSON}}}', "json_array/object"),
        (f'["word1", "word2"]\n{JSON}', "json_array/embedded"),
        (f'["justice", "hammer", "ocean", "laughter", "x"] No, better:\n{JSON}', "json_array/embedded"),
        (f"See [1]. {JSON}", "json_array/embedded"),
        ("['ocean', 'justice', 'hammer', 'cul-de-sac', 'laughter',]", "json_array/repaired"),
        ("1. ocean\n2. justice\n3) hammer\n4: cul-de-sac\n5. laughter", "marked_lines"),
        ("Ten words:\n- **ocean** - vast water\n- justice: a virtue\n- hammer (tool)\n- cul-de-sac\n- laughter.", None),
        ("ocean, justice, hammer, cul-de-sac, and laughter.", "commas"),
        ("My words: ocean, justice, hammer, cul-de-sac, laughter", "commas"),
        ("Thinking about it.\n[ocean, justice, hammer, cul-de-sac, laughter]", "commas"),
        ("ocean\njustice\nhammer\n\ncul-de-sac\nlaughter\n", "lines"),
    ],
)
def test_ways_of_writing_a_list(answer: str, route: str | None) -> None:
    parsed = WordList().parse(answer)
    assert parsed.ok, parsed.reason
    assert parsed.value == WORDS
    assert parsed.route == (route or "marked_lines")


@pytest.mark.parametrize(
    "answer",
    [
        "I am sorry, I can't help with that.",
        "",
        "word",
        "Well, to be honest, I would rather think about this for a while, and then answer the question, if I may.",
        "{}",
        "[]",
        "[1, 2, 3]",
    ],
)
def test_what_is_no_list_has_a_reason(answer: str) -> None:
    parsed = WordList().parse(answer)
    assert not parsed.ok and parsed.reason and parsed.value is None


REASONS = '["wide", "fair", "hard", "closed", "loud"]'


@pytest.mark.parametrize(
    ("answer", "route"),
    [
        (f'{{"words": {JSON}, "reasons": {REASONS}}}', "json_array/object"),
        (f'{{"reasons": {REASONS}, "result": {{"words": {JSON}}}}}', "json_array/object"),
        (f'{{"nouns": {JSON}}}', "json_array/object"),
        (f'{{"words": {JSON[:-1]},], "count": 5}}', "json_array/object/repaired"),
        (f"[{', '.join(f'{{{chr(34)}word{chr(34)}: {chr(34)}{word}{chr(34)}}}' for word in WORDS)}]", "json_array"),
        ("Sure!\nocean\njustice\nhammer\ncul-de-sac\nlaughter\nI hope this helps!", "lines"),
        ("Here are ten words:\nocean\njustice\nhammer\ncul-de-sac\nlaughter", "lines"),
        ('"ocean",\n"justice",\n"hammer",\n"cul-de-sac",\n"laughter"', "commas"),
        ('"ocean"\n"justice"\n“hammer”\n"cul-de-sac"\n"laughter".', "lines"),
        ("ocean, justice,\nhammer, cul-de-sac,\nlaughter", "commas"),
        ("Sure! ocean, justice, hammer, cul-de-sac, laughter", "commas"),
        ("Reasons: wide, fair, hard, shut, loud\nWords: ocean, justice, hammer, cul-de-sac, laughter", "commas"),
        ("1. ocean\n   - vast water\n2. justice\n3. hammer\n   - a tool\n4. cul-de-sac\n5. laughter", "marked_lines"),
        ("1. ocean\n- vast\n2. justice\n- fair\n3. hammer\n4. cul-de-sac\n5. laughter", "marked_lines"),
        (
            "Words:\n1. ocean\n2. justice\n3. hammer\n4. cul-de-sac\n5. laughter\nReasons:\n1. wide\n2. fair",
            "marked_lines",
        ),
        ("1. oc\u200bean\u20282. justice\u20283. hammer\u20284. \ufeffcul-de-sac\u20295. laughter", "marked_lines"),
        (JSON.replace("ocean", "oc\\u200bean"), "json_array"),
        ("\n".join(f"**Word {i}:** {word} (because)" for i, word in enumerate(WORDS)), "labelled"),
        ("words:\n" + "\n".join(f"  - word: {word}\n    reason: it is" for word in WORDS), "labelled"),
        (", ".join(f"word: {word}, reason: it is" for word in WORDS), "labelled"),
        ("<answer>ocean, justice, hammer, cul-de-sac, laughter</answer>", "commas"),
        ("Okay, so ocean, justice, hammer, cul-de-sac, laughter. Hope this helps!", "commas"),
        ("\n".join(f"{mark} {word}" for mark, word in zip("①②③④⑤", WORDS, strict=True)), "marked_lines"),
        ("\n".join(f"**{i}.** {word}" for i, word in enumerate(WORDS, 1)), "marked_lines"),
        ("\n".join(f"#{i} {word}" for i, word in enumerate(WORDS, 1)), "marked_lines"),
        ("\n".join(f"> {i} - {word}" for i, word in enumerate(WORDS, 1)), "marked_lines"),
        ("\n".join(f"- [x] {word}" for word in WORDS), "marked_lines"),
        ("Draft: a, b, c, d, e, f, g\nFinal: ocean, justice, hammer, cul-de-sac, laughter", "commas"),
        (
            "ocean, justice, hammer, cul-de-sac, laughter\n\nI chose these as they vary, a, b, c, d, e, f",
            "commas",
        ),
        (
            "Draft:\n1. a\n2. b\n\nFinal list:\n1. ocean\n2. justice\n3. hammer\n4. cul-de-sac\n5. laughter",
            "marked_lines",
        ),
    ],
)
def test_what_the_task_asked_for_is_distinguished_from_the_rest(answer: str, route: str) -> None:
    parsed = WordList().parse(answer)
    assert parsed.ok, parsed.reason
    assert (parsed.value, parsed.route) == (WORDS, route)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('["ocean", "justice", "hammer", "cul-de-sac", "laugh', "never closed"),
        ('{"words": ["ocean", "justice", "hammer"', "never closed"),
        ('["ocean", "justice"]\nNo, better:\n["hammer", "laugh', "never closed"),
        ('{"ocean": "wide, blue, deep", "justice": "fair, even, blind"}', "no array with only string items"),
        ('{"first": "ocean", "second": "justice"}', "no array"),
        ('[["ocean", "wide"], ["justice", "fair"]]', "no array"),
        ('[{"noun": "ocean", "reason": "wide"}, {"noun": "justice", "reason": "fair"}]', "no array"),
        ('{"nouns": ["ocean", "justice"], "reasons": ["wide", "fair"]}', "none is called 'words'"),
        ("1. ocean\n2. justice\n\nReasons\n1. wide\n2. fair", "several numbered lists"),
        ("I’m sorry, but I can’t help with that.", "refusal"),
        ('["ocean", // the sea\n"justice"]', "not certain"),
        ('"word": "ocean", "reason": "wide", "word": "justice", "reason": "fair"', "no JSON array"),
        (r"{\"words\": \"ocean\", \"reasons\": \"wide\"}", "no JSON array"),
        ("Nature: ocean, tree, river\nArt: paint, song, dance", "several lists with headings"),
    ],
)
def test_what_is_not_certain_is_not_read(answer: str, reason: str) -> None:
    parsed = WordList().parse(answer)
    assert not parsed.ok and reason in str(parsed.reason)


def test_repeats_are_kept_for_the_scorer() -> None:
    assert WordList().parse('["a", "a", "b"]').value == ["a", "a", "b"]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400))
def test_no_text_breaks_the_parser(text: str) -> None:
    parsed = WordList().parse(text)
    assert parsed.ok == (parsed.value is not None)
    if parsed.ok:
        assert all(isinstance(item, str) for item in parsed.value) and len(parsed.value) >= 2


ITEM = st.from_regex(r"[a-z]{2,9}(?:['’-][a-z]{1,5})?", fullmatch=True)
SLIPS = st.sampled_from(
    [
        lambda text, at: text[:at] + text[at + 1 :],
        lambda text, at: text[:at],
        lambda text, at: text[:at] + '"' + text[at:],
        lambda text, at: text[:at] + "\n" + text[at:],
        lambda text, at: text[:at] + "," + text[at:],
        lambda text, at: text.replace('"', "'"),
        lambda text, at: text[:at] + "\u200b" + text[at:],
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(ITEM, min_size=2, max_size=8), st.booleans(), st.lists(st.tuples(SLIPS, st.integers(0, 400)), max_size=3)
)
def test_no_word_is_invented_whatever_happens_to_the_json(words: list[str], objects: bool, slips: list[Any]) -> None:
    rows = [{"word": word, "reason": "because it is"} for word in words]
    text = json.dumps({"words": rows if objects else words}, ensure_ascii=False)
    for slip, at in slips:
        text = slip(text, at % (len(text) + 1))
    for parser in (WordList(), UsesList(), PaceChain()):
        parsed = parser.parse(text)
        for word in parsed.value or ():
            assert straighten(word).replace("\n", "") in straighten(text).replace("\n", "").replace("\u200b", "")
            if "[" in text:  # without it, what is left is no JSON
                assert word not in ("reason", "words", "because it is") or word in words


def test_hostile_text_is_read_in_bounded_time() -> None:
    for text in (
        "[" * 100_000,
        '["a",' * 25_000,
        "1. " * 50_000,
        ", " * 100_000,
        "-" * 150_000,
        "{[" * 10_000,
        "a, b, c\n" * 10_000,
    ):
        WordList().parse(text)


@pytest.mark.parametrize(
    ("answer", "uses"),
    [
        ("doorstop; paperweight. Hope this helps!", ["doorstop", "paperweight"]),
        ("Draft: a shelf; a stool\n\nFinal: doorstop; paperweight", ["doorstop", "paperweight"]),
        ("Practical: doorstop; weight\n\nCreative: a drum", ["doorstop", "weight"]),
        ("Ten uses for a brick\ndoorstop\npaperweight", ["doorstop", "paperweight"]),
        ("<answer>doorstop; paperweight</answer>", ["doorstop", "paperweight"]),
    ],
)
def test_uses_are_recognised_from_drafts_and_remarks(answer: str, uses: list[str]) -> None:
    assert UsesList().parse(answer).value == uses


@pytest.mark.parametrize(
    "answer",
    [
        "Désolé, je ne peux pas répondre à cette demande.",
        "I'm just an AI, I can't do that.",
        "| # | use |\n|---|---|\n| 1 | doorstop |",
        '"use": "doorstop", "use": "weight"',
        "1. shelf\n2. stool\n\nOr:\n1. doorstop\n2. weight",
    ],
)
def test_what_is_no_list_of_uses_is_none(answer: str) -> None:
    assert not UsesList().parse(answer).ok


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("1) ocean 2) justice 3) flute", ["ocean", "justice", "flute"]),
        ("1. ocean 2. justice 3. flute", ["ocean", "justice", "flute"]),
        ("ocean、justice、flute", ["ocean", "justice", "flute"]),
        ("海洋，正义，长笛", ["海洋", "正义", "长笛"]),
        ("ocean, N/A, justice, [refused]", ["ocean", "justice"]),
        ('["ocean", "n/a", "justice"]', ["ocean", "justice"]),
        ("ocean, nothing, flute", ["ocean", "nothing", "flute"]),
    ],
)
def test_lists_on_one_line_and_marks(answer: str, words: list[str]) -> None:
    assert WordList().parse(answer).value == words


SHAPES = [
    "I weighed animals, clothes, tools, plants, events, foods, music, and more.\nhippo, jumper, violin, arm",
    "hippo, jumper, violin, arm\n\nI weighed animals, clothes, tools, plants, events, foods and music.",
    "I will try. Here is my list: hippo, jumper, violin, arm",
    "The four words are hippo, jumper, violin and arm.",
    "hippo, jumper,\n\nviolin, arm",
    "hippo; jumper; violin; arm",
    "hippo / jumper / violin / arm",
    "hippo → jumper → violin → arm",
    "i. hippo\nii. jumper\niii. violin\niv. arm",
    "1 hippo\n2 jumper\n3 violin\n4 arm",
    "[1] hippo\n[2] jumper\n[3] violin\n[4] arm",
    "1\ufe0f\u20e3 hippo\n2\ufe0f\u20e3 jumper\n3\ufe0f\u20e3 violin\n4\ufe0f\u20e3 arm",
    "First: hippo\nSecond: jumper\nThird: violin\nFourth: arm",
    "•hippo\n•jumper\n•violin\n•arm",
    "➤ hippo\n➤ jumper\n➤ violin\n➤ arm",
    "1. [hippo]\n2. (jumper)\n3. <violin>\n4. {arm}",
    "1. hippo -> an animal\n2. jumper, a thing to wear\n3. violin because of music\n4. arm (a limb)",
    '"1. hippo\n2. jumper\n3. violin\n4. arm"',
    "<ul><li>hippo</li><li>jumper</li><li>violin</li><li>arm</li></ul>",
    "\\boxed{hippo, jumper, violin, arm}",
    "| # | Word |\n|---|---|\n| 1 | hippo |\n| 2 | jumper |\n| 3 | violin |\n| 4 | arm |",
    "Word | Reason\n--- | ---\nhippo | far\njumper | far\nviolin | far\narm | far",
    "\u202bhippo, jum\u00adper, \u200fviolin, arm\u2060",
    "「hippo」, 「jumper」, 「violin」, 「arm」",
]


@pytest.mark.parametrize("answer", SHAPES)
def test_lists_as_models_write_them(answer: str) -> None:
    assert WordList().parse(answer).value == ["hippo", "jumper", "violin", "arm"]


def test_a_list_that_was_broken_where_the_line_ended_is_one() -> None:
    assert WordList().parse("hippo, jumper, tree\nviolin, arm").value == ["hippo", "jumper", "tree", "violin", "arm"]
    assert WordList().parse("ape, bee, cat\n\nNo, better:\n\nhippo, jumper, tree").value == ["hippo", "jumper", "tree"]


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry; I can't help with that.",
        "N/A; N/A",
        "I have no idea",
        "What object do you mean?",
        "Hello! How can I help you today?",
        "Sure, I can help with that!",
        "As an AI, I don't have physical experience with a book.",
        "1. Doorstop: hold a door; keep it open\n2. Fan: cool air; wave it",
    ],
)
def test_what_speaks_or_explains_is_no_use(answer: str) -> None:
    assert not UsesList().parse(answer).ok


def test_an_array_of_nothing_is_no_list_of_words() -> None:
    assert not WordList().parse("[null, null, null]").ok


def test_uses_with_remarks_in_brackets_and_without_dots() -> None:
    assert UsesList().parse("1. Doorstop (put; leave)\n2. Fan (cool; wave)").value == ["Doorstop", "Fan"]
    assert UsesList().parse("1 a doorstop\n2 a fan").value == ["a doorstop", "a fan"]
    assert UsesList().parse("a doorstop; a fan; and an I-beam").value == ["a doorstop", "a fan", "an I-beam"]
