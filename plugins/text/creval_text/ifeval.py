"""The instructions of IFEval as rules.

Source: Zhou et al. 2023 (arXiv:2311.07911); the identifiers and arguments are those of its published data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from creval.plugin import UsageError, nearest
from creval_text.rules import Rule, read_rule

__all__ = ["INSTRUCTIONS", "rule_of"]

Given = Mapping[str, Any]
_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _limit(given: Given, number: str, relation: str = "relation") -> dict[str, int]:
    """Return the limits for a number: `at least` or `less than`."""
    return {"min": int(given[number])} if given[relation] == "at least" else {"max": int(given[number]) - 1}


def _english(case: str) -> Any:
    return {"all": [{"case": case}, {"language": "en"}]}


INSTRUCTIONS: Mapping[str, Callable[[Given], Any]] = {
    "keywords:existence": lambda g: {"contains": [*g["keywords"]]},
    "keywords:frequency": lambda g: {"count": {"of": g["keyword"].strip(), **_limit(g, "frequency")}},
    "keywords:forbidden_words": lambda g: {"contains_none": {"of": [*g["forbidden_words"]], "whole_words": True}},
    "keywords:letter_frequency": lambda g: {"count": {"of": g["letter"], **_limit(g, "let_frequency", "let_relation")}},
    "language:response_language": lambda g: {"language": g["language"]},
    "length_constraints:number_sentences": lambda g: {"sentences": _limit(g, "num_sentences")},
    "length_constraints:number_paragraphs": lambda g: {"parts": {"divider": "***", "exactly": g["num_paragraphs"]}},
    "length_constraints:number_words": lambda g: {"words": _limit(g, "num_words")},
    "length_constraints:nth_paragraph_first_word": lambda g: {
        "all": [
            {"paragraphs": {"exactly": g["num_paragraphs"], "divider": "\n\n"}},
            {"paragraph_starts": {"with": g["first_word"], "number": g["nth_paragraph"], "divider": "\n\n"}},
        ]
    },
    "detectable_content:number_placeholders": lambda g: {"placeholders": {"min": g["num_placeholders"]}},
    "detectable_content:postscript": lambda g: {"postscript": g["postscript_marker"]},
    "detectable_format:number_bullet_lists": lambda g: {"bullets": {"exactly": g["num_bullets"]}},
    "detectable_format:constrained_response": lambda _: {"contains_any": {"of": [*_ANSWERS], "ignore_case": False}},
    "detectable_format:number_highlighted_sections": lambda g: {"highlights": {"min": g["num_highlights"]}},
    "detectable_format:multiple_sections": lambda g: {
        "sections": {"word": g["section_spliter"], "min": g["num_sections"]}
    },
    "detectable_format:json_format": lambda _: "json",
    "detectable_format:title": lambda _: "title",
    "combination:two_responses": lambda _: {"parts": {"divider": "******", "exactly": 2, "different": True}},
    "combination:repeat_prompt": lambda g: {"starts": g["prompt_to_repeat"]},
    "startend:end_checker": lambda g: {"ends": g["end_phrase"]},
    "startend:quotation": lambda _: "quoted",
    "change_case:capital_word_frequency": lambda g: {
        "capital_words": _limit(g, "capital_frequency", "capital_relation")
    },
    "change_case:english_capital": lambda _: _english("upper"),
    "change_case:english_lowercase": lambda _: _english("lower"),
    "punctuation:no_comma": lambda _: {"contains_none": ","},
}
"""The rule for each of IFEval's 25 instructions, as a function of its arguments."""


def rule_of(name: str, arguments: Mapping[str, Any] | None) -> Rule:
    """Return an instruction of IFEval as a rule. Raises UsageError if it is unknown or an argument is missing."""
    make = INSTRUCTIONS.get(name)
    if make is None:
        close = nearest(str(name), [*INSTRUCTIONS], 1)
        fix = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(INSTRUCTIONS)}."
        raise UsageError(f"IFEval has no instruction {name!r}", where="rules", fix=fix)
    given = {key: value for key, value in (arguments or {}).items() if value is not None}
    try:
        return read_rule(make(given))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"the arguments of {name!r} do not fit: {type(error).__name__}: {error}",
            where="rules",
            fix="Write those of IFEval's data.",
        ) from error
