"""Numeric verdicts on a scale: mentions of the scale are removed before the verdict is parsed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from creval.plugin import Parsed, counted
from creval.plugin.judging import (
    boxed_spans,
    decimal_of,
    holds_json,
    json_places,
    last_numeral,
    not_text,
    number_of,
    number_text,
    numerals,
    read_numeral,
    same_number,
)

__all__ = ["ScaleVerdict"]

_KEYS = r"score|rating|verdict|grade|mark|points?|evaluation|judge?ment|assessment|value|result|answer|overall|final"
_KEY = re.compile(_KEYS, re.IGNORECASE)
_ASIDE = re.compile(
    r"max|min|scale|out_?of|confiden|certain|total_points|denominator|range|weight|id$|index", re.IGNORECASE
)
_TOP = re.compile(r"max|out_?of|denominator|total_points|^(?:of|top|highest)$", re.IGNORECASE)
_CONFIDENCE = re.compile(
    r"\b(?:confidence|certainty)\b[^\n\d.]{0,25}[\d.]*\d\s?%?(?:\s?/\s?\d+)?|(?<![\d.])[\d.]*+(?<=\d)\s?%\s(?:sure|certain|confident)"
    r"|(?<![\d./])[\d./]*+(?<=\d) ?%? confidence\b",
    re.IGNORECASE,
)
_NUMBER = r"[-+−]?(?<!\d)(?:\d++(?:\.\d++)?|\.\d++)"
_CUE = re.compile(
    rf"\b(?:(?P<final>final|overall|total)\s)?(?:{_KEYS})\b[^\n.\d]{{0,30}}?(?::|=|\bis\b|\bof\b|->|→|[-–—]\s)[\s*_`\"'(\[]{{0,8}}"
    rf"(?P<number>{_NUMBER})(?=(?P<after>[^\n]{{0,12}}))",
    re.IGNORECASE,
)
_MARKED = re.compile(
    rf"\[\[\s?(?P<a>{_NUMBER})\s?\]\]|<(?P<tag>score|rating|verdict|grade|answer)>\s*(?P<b>{_NUMBER})\s*</(?P=tag)>",
    re.IGNORECASE,
)
_OF = r"/|out\sof|over|sur|von|из|de|su|van"
"""The words between a number and the top of its scale, in several languages."""
_MAXIMUM = r"(?:max(?:imum)?|top|best)\.?(?:\sis)?:?|(?:on|of)\sa\sscale\s(?:of|to|up\sto)"
_OTHER_SCALE = re.compile(
    r"\b\d{1,4}[-\s]point\s(?:\w{1,12}\s)?scale\b|\bscale\s(?:(?:of|to)|(?:of|from)\s\d+\s?(?:-|–|to))\s?\d",
    re.IGNORECASE,
)
_SEVERAL_LINES = re.compile(
    rf"^[^\w\n]{{0,6}}[^\W\d][^\n:=]{{0,40}}[:=][\s*_]{{0,4}}({_NUMBER})[^\w\n]{{0,6}}$", re.MULTILINE
)
_TWO_AT_END = re.compile(rf"{_NUMBER}[^\w\n:=.,;-]{{1,3}}(?:[^\W\d_]{{1,4}}[^\w\n:=.,;-]{{1,3}})?({_NUMBER})\W{{0,6}}$")
_PLAIN_SIGNS = str.maketrans(
    {**dict.fromkeys("／⁄∕", "/"), **dict(zip("０１２３４５６７８９．：", "0123456789.:", strict=True))}
)
_VULGAR = re.compile(r"(?<![\d./])(\d{1,4})\s?([¼-¾⅐-⅞])")
_TEX_FRACTION = re.compile(rf"\\[dt]?frac\s?\{{\s?({_NUMBER})\s?\}}\s?\{{\s?({_NUMBER})\s?\}}")
_RANGE_END = re.compile(rf"\d\s?(?:-|–|to|or|and|,)\s?{_NUMBER}\W{{0,6}}$")
_GOES_ON = re.compile(r"\.\d|\s?(?:[-–]|to|or|and)\s?\.?\d|\s?/\s?\d|\s?out of|\d")
_DEFINED = re.compile(
    r"\([^()\n]{0,40}\d\s?(?:=|is|being|means|:)\s?[A-Za-z][^()\n]{0,200}\)"
    r"|(?:\bwhere\s|\bwith\s)?(?<![\d.])\d+\s?(?:=|being|means|is)\s?(?:the\s)?(?:worst|best|lowest|highest|poor|excellent|perfect)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ScaleVerdict:
    """Parses a judge's number from `low` to `high`.

    Tried in this order: one number in a JSON object; one in `[[4]]`, a `\\boxed{}` or a tag such as <score>; one after
    a word such as `Rating:`; the number at the end; the only number. Before that, mentions of the scale (`4/5`, `4 out
    of 5`, `1 = worst`) and the judge's confidence are removed. A denominator other than the top of the scale, a range
    (`3-4`), and different numbers in several places are failures.
    """

    low: float
    high: float

    def parse(self, text: Any) -> Parsed:
        if isinstance(text, bool):
            return Parsed.failure(f"{str(text).lower()} is not a number")
        if isinstance(text, int | float):
            return self._parsed([decimal_of(text)])
        if not isinstance(text, str):
            return not_text(text)
        try:
            return self._parsed(self._in_json(text) or self._in_text(self._own_scale(text)))
        except ValueError as error:
            return Parsed.failure(str(error))

    def whole(self, said: Any) -> Parsed:
        """Parse a value extracted by the task's parser: it must be a number and nothing else."""
        if not isinstance(said, str):
            return self.parse(said)
        try:
            return self._parsed([read_numeral(self._own_scale(said)).value])
        except ValueError as error:
            return Parsed.failure(str(error))

    def without_scale(self, text: str) -> str:
        """Return a text without mentions of the scale; another denominator becomes `/9`, which does not parse."""
        low, high = (re.escape(number_text(end)) + r"(?:\.0+)?" for end in (self.low, self.high))
        total = r"(?:the\s|a\s(?:possible|total|maximum)\s(?:of\s)?|possible\s)?"
        top = rf"{total}{high}(?!\.?\d)(?:\s(?:stars?|points?|marks?))?"
        aside = r"(?:\s\([^()\d\n]{1,40}\))?"
        points = f"(?:{high}|{re.escape(number_text(self.high - self.low + 1))})"
        text = _TEX_FRACTION.sub(r"\1/\2", _VULGAR.sub(_decimal_fraction, text.translate(_PLAIN_SIGNS)))
        for pattern, instead in (
            (rf"[(\[]?\b(?:(?:on|using|in)\s(?:a|the)\s)?{points}[-\s]point\s(?:\w{{1,12}}\s)?scale\b:?[)\]]?", " "),
            (rf"({_NUMBER})\s?(?:stars?|points?|marks?)?\s?[(\[]?(?:{_OF}|of|{_MAXIMUM})\s?{top}[)\]]?", r"\1"),
            (
                rf"({_NUMBER})\s?(?:stars?|points?|marks?)?\s?[(\[]?(?:{_OF}|{_MAXIMUM})\s?(?:a\s|the\s)?({_NUMBER})[)\]]?",
                r"\1/\2",
            ),
            (rf"[\s(]{{0,2}}(?:/|out\sof)\s?{top}\)?", " "),
            (
                rf"[(\[]?(?:\b(?:on|using|in)\s(?:a|the)\s)?(?:\bscale\s)?(?:\b(?:of|from|between|ranging\sfrom)\s)?"
                rf"(?<![\d.]){low}{aside}\s?(?:-|–|to|through|and)\s?{high}(?!\.?\d){aside}(?:\sscale)?[)\]]?",
                " ",
            ),
        ):
            text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
        return _CONFIDENCE.sub(" ", _DEFINED.sub(" ", text))

    def _own_scale(self, text: str) -> str:
        """Return a text without mentions of the scale. Raises ValueError if it mentions another one."""
        text = self.without_scale(text)
        if other := _OTHER_SCALE.search(text):
            raise ValueError(f"it speaks of another scale: {other.group()!r}")
        return text

    def _parsed(self, values: Sequence[Decimal]) -> Parsed:
        if not values:
            return Parsed.failure("there is no number in it")
        if len(set(values)) > 1:
            return Parsed.failure(f"it names differing numbers: {', '.join(map(str, dict.fromkeys(values)))}")
        if not decimal_of(self.low) <= values[0] <= decimal_of(self.high):
            low, high = number_text(self.low), number_text(self.high)
            return Parsed.failure(f"{number_text(float(values[0]))} is not between {low} and {high}")
        return Parsed(float(number_of(values[0])), route="verdict")

    def _in_json(self, text: str) -> list[Decimal]:
        """Return the verdicts of the JSON objects in a text. Raises ValueError if one cannot be parsed."""
        if not holds_json(text):
            return []
        found: list[Decimal] = []
        for _, values in json_places(text):
            for each in values:
                if each.fault is not None:
                    raise ValueError(each.fault)
                if isinstance(each.value, dict):
                    found.append(self._of_object(each.value))
            if found:
                return found
        return []

    def _of_object(self, said: Mapping[str, Any]) -> Decimal:
        for key, member in said.items():
            if _TOP.search(key) and _may_be_number(member) and not same_number(member, self.high):
                raise ValueError(f"{key} is {member}, and the scale ends at {number_text(self.high)}")
        numbers = {key: member for key, member in said.items() if not _ASIDE.search(key) and _may_be_number(member)}
        named = {key: member for key, member in numbers.items() if _KEY.search(key)}
        chosen = named or numbers
        inner = [member for key, member in said.items() if isinstance(member, dict) and not _ASIDE.search(key)]
        if not chosen and len(inner) == 1:
            return self._of_object(inner[0])
        if len(chosen) != 1:
            raise ValueError(f"the JSON holds {counted(len(chosen), 'numbers')} that may be the verdict")
        (member,) = chosen.values()
        if isinstance(member, bool):
            raise ValueError(f"{str(member).lower()} is not a number")
        return decimal_of(member) if not isinstance(member, str) else read_numeral(self._own_scale(member)).value

    def _in_text(self, text: str) -> list[Decimal]:
        """Return the verdicts of a text without JSON and scale. Raises ValueError if one cannot be parsed."""
        marked = [Decimal(_ascii(match["a"] or match["b"])) for match in _MARKED.finditer(text)]
        marked += [read_numeral(text[content : end - 1]).value for _, end, content in boxed_spans(text)]
        if marked:
            return marked
        cued = list(_CUE.finditer(text))
        final = [cue for cue in cued if cue["final"]]
        if cued:
            return [_cued(cue) for cue in final or cued]
        last = last_numeral(text)
        if last is None or (last.unit == "%" and self.high != 100):
            return []
        if _RANGE_END.search(text.rstrip()):
            raise ValueError("it names a range")
        self._refuse_several(text.rstrip())
        if last.unit == "%" or re.search(r"\d\W{0,6}$", text.rstrip()):
            return [last.value]
        lines = text.strip().split("\n")
        if len(lines) > 1 and re.fullmatch(rf"\W{{0,4}}{_NUMBER}\W{{0,4}}", lines[0]):
            return [each.value for each in numerals(lines[0])]
        return [each.value for each in _plain_numbers(text)]

    def _refuse_several(self, text: str) -> None:
        """Raise ValueError if the number at the end is ambiguous: one of several named lines, or the top of a scale."""
        lines = {Decimal(_ascii(number)) for number in _SEVERAL_LINES.findall(text)}
        if len(lines) > 1:
            raise ValueError(f"its lines name differing numbers: {', '.join(map(str, sorted(lines)))}")
        two = _TWO_AT_END.search(text)
        if two is not None and Decimal(_ascii(two[1])) == decimal_of(self.high):
            raise ValueError(f"{two.group().strip()!r} is not one number")


def _may_be_number(member: Any) -> bool:
    return isinstance(member, int | float) or (isinstance(member, str) and re.match(r"\W{0,3}\d", member) is not None)


def _cued(cue: re.Match[str]) -> Decimal:
    if _GOES_ON.match(cue["after"]):
        raise ValueError(f"{(cue['number'] + cue['after']).strip()[:30]!r} is not one number")
    return Decimal(_ascii(cue["number"]))


def _decimal_fraction(match: re.Match[str]) -> str:
    return number_text(int(match[1]) + unicodedata.numeric(match[2]))


def _plain_numbers(text: str) -> Iterator[Any]:
    return (each for each in numerals(text) if each.unit != "%")


def _ascii(number: str) -> str:
    return number.replace("−", "-")
