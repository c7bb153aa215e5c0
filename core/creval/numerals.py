"""Numbers as people and models write them: read exactly, compared exactly, printed in their shortest form.

One reader serves answers, targets, baselines, columns of data and verdicts. Text that cannot be read as a whole is not
a number: `read_numeral` and `last_numeral` raise, and never return a part of it. docs/parsing.md has the rules.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator
from decimal import Decimal, localcontext
from itertools import islice
from typing import NamedTuple

from creval.lazy_pattern import lazy_pattern
from creval.number_forms import DECIMAL, FRACTION_SLASH, GROUP_SPACE, MIXED_JOIN, SYMBOLIC, plain_form

__all__ = [
    "Numeral",
    "decimal_of",
    "last_numeral",
    "number_of",
    "number_text",
    "numerals",
    "read_numeral",
    "same_number",
]

MAX_DIGITS = 400
_PRECISION = 1000
_EXPONENT_LIMIT = 400
_FLOAT_DIGITS = 17
_QUOTED_CHARACTERS = 40
_MAX_CHUNKS = 5_000


class Numeral(NamedTuple):
    """A number in a text: its exact value, and the unit, currency or percent sign written with it."""

    value: Decimal
    unit: str = ""


# --- values -------------------------------------------------------------------------------------------


def decimal_of(value: float | Decimal | str) -> Decimal:
    """Return the exact value of a number: for a float that of its shortest decimal form, for a text the number in it.

    Raises ValueError for a text that is not a number as a whole, and for a number that is not finite.
    """
    if isinstance(value, str):
        return read_numeral(value).value
    number = value if isinstance(value, Decimal) else Decimal(value if isinstance(value, int) else repr(float(value)))
    if not number.is_finite():
        raise ValueError(f"{value} is not a finite number")
    return number


def number_of(value: Decimal) -> int | float:
    """Return a decimal as JSON data: a float if it is the same number, else an int, else the nearest float.

    A number written as a whole number stays one: only a float with exactly that value and form is the same.
    """
    nearest = float(value)
    if math.isfinite(nearest):
        written_whole = value.as_tuple().exponent == 0
        if Decimal(repr(nearest)) == value and (not written_whole or int(nearest) == value):
            return nearest
    whole = value == value.to_integral_value() and value.adjusted() <= MAX_DIGITS
    return int(value) if whole else nearest


def number_text(value: float) -> str:
    """Return the shortest decimal form that reads back as the same number: `20000.5`, `5`, `1e-07`."""
    if isinstance(value, int):
        return str(value)
    text = repr(float(value) + 0.0)  # + 0.0: no "-0"
    return text.removesuffix(".0")


def same_number(first: float | Decimal | str, second: float | Decimal | str) -> bool:
    """Whether two numbers are equal as decimals. Raises ValueError as `decimal_of` does.

    A float holds 17 digits at most: a decimal of more digits equals the float nearest to it.
    """
    first_value, second_value = decimal_of(first), decimal_of(second)
    if first_value == second_value:
        return True
    pairs = ((first, second_value), (second, first_value))
    return any(isinstance(number, float) and _nearest_float(exact) == number for number, exact in pairs)


def _nearest_float(exact: Decimal) -> float | None:
    """Return the float nearest to a decimal with more digits than a float has, else None."""
    return float(exact) if len(exact.as_tuple().digits) > _FLOAT_DIGITS else None


# --- one number ------------------------------------------------------------------------------------------

_GROUPS = r"[1-9][0-9]{0,2}(?:(?P<group>[%s])[0-9]{3})(?:(?P=group)[0-9]{3}){0,132}"
_POINT_BODY = r"(?:%s|[0-9]{1,400})(?:\.[0-9]{0,400})?|\.[0-9]{1,400}"
_COMMA_BODY = r"(?:%s|[0-9]{1,400})(?:,[0-9]{1,400})?"
_POWER = r"(?:[eE](?P<exponent>[-+]?[0-9]{1,5})| ?[×xX*] ?10 ?\^ ?(?P<power>[-+]?[0-9]{1,5}))?"
_POINT_NUMBER = lazy_pattern(rf"(?P<body>{_POINT_BODY % (_GROUPS % (',_' + GROUP_SPACE + chr(39)))}){_POWER}")
_COMMA_NUMBER = lazy_pattern(rf"(?P<body>{_COMMA_BODY % (_GROUPS % ('._' + GROUP_SPACE + chr(39)))}){_POWER}")
_SPACED_OR_INDIAN = lazy_pattern(  # if there is nothing else: groups after a space, groups of India
    rf"(?P<body>(?:[1-9][0-9]{{0,2}}(?: [0-9]{{3}}){{1,132}}|[1-9][0-9]?(?:,[0-9]{{2}}){{1,132}},[0-9]{{3}})"
    rf"(?:\.[0-9]{{1,400}})?){_POWER}"
)
_POWER_OF_TEN = lazy_pattern(r"10 ?\^ ?([-+]?[0-9]{1,5})")
_RATIO = lazy_pattern(
    rf"(?:([0-9]{{1,15}})[{MIXED_JOIN} ])?([0-9.]{{1,400}}) ?([/{FRACTION_SLASH}]) ?([0-9.]{{1,400}})"
)


def _parse_number(text: str, comma: bool, alone: bool) -> Decimal | None:
    """Return the number in a text without sign and unit; None if it is not a number or may be several.

    `alone`: the answer field contains nothing else, so a slash is a division and a space may join groups.
    """
    match = (_COMMA_NUMBER if comma else _POINT_NUMBER).fullmatch(text)
    if match is None and alone and not comma:
        match = _SPACED_OR_INDIAN.fullmatch(text)
    if match is None and alone and comma:
        match = re.fullmatch(rf"(?P<body>[1-9][0-9]{{0,2}}(?: [0-9]{{3}}){{1,132}}(?:,[0-9]{{1,400}})?){_POWER}", text)
    if match is not None:
        body = match["body"].translate({ord(sign): None for sign in ("._ '" if comma else ",_ '") + GROUP_SPACE})
        return _scale(Decimal(body.replace(",", ".")), match["exponent"] or match["power"])
    if ten := _POWER_OF_TEN.fullmatch(text):
        return _scale(Decimal(1), ten[1])
    ratio = _RATIO.fullmatch(text)
    if ratio is not None and (alone or (ratio[3] == FRACTION_SLASH and " " not in text)):
        return _mixed_number(ratio[1], ratio[2], ratio[4])
    return None


def _scale(value: Decimal, exponent: str | None) -> Decimal | None:
    power = int(exponent or 0)
    if abs(power) > _EXPONENT_LIMIT or value.adjusted() + power > _EXPONENT_LIMIT:
        return None
    return _multiply(value, Decimal(1).scaleb(power))


def _multiply(value: Decimal, factor: Decimal) -> Decimal:
    with localcontext(prec=_PRECISION):
        return value * factor


def _mixed_number(whole: str | None, numerator: str, denominator: str) -> Decimal | None:
    if not DECIMAL.fullmatch(numerator) or not DECIMAL.fullmatch(denominator) or not Decimal(denominator):
        return None
    with localcontext(prec=50):
        return Decimal(whole or 0) + Decimal(numerator) / Decimal(denominator)


# --- what is written around a number -----------------------------------------------------------------------

_CURRENCIES = "$€£¥₹₽₩₺฿"
_ENGLISH_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
    "quadrillion": 15,
    "quintillion": 18,
    "lakh": 5,
    "crore": 7,
}
_SCALES = {
    **_ENGLISH_SCALES,
    **{f"{name}s": power for name, power in _ENGLISH_SCALES.items()},
    "万": 4,
    "萬": 4,
    "亿": 8,
    "億": 8,
}
_SCALE = lazy_pattern(
    r"[ -]?(" + "|".join(sorted((name for name in _SCALES if name.isascii()), key=len, reverse=True)) + r")(?![^\W_])"
    r"| ?([万萬亿億])",
    re.IGNORECASE,
)
_AFTER_SCALE = lazy_pattern(
    r"(?:hundred|thousand|million|billion|trillion|lakh|crore)s? +(?:and +)?$|[万萬亿億千百]$", re.IGNORECASE
)
_UNSURE_SCALE = lazy_pattern(  # multiples in various forms and languages
    r"(?:k|K|M|B|T)(?![^\W_])| ?(?:bn|mn|tn|mln|mld|mio|mrd|Mrd|MM|cr|Cr|lacs?|Tsd|tys)(?![^\W_])| ?[千百十억만조천]"
    r"|[ -]?(?:dozen|score"
    r"|Tausend|tausend|Million(?:en)?|Mio\.|Milliarden?|Mrd\.|mille|mil|millones|millón|millions?|milliards?|milhões"
    r"|milhão|bilhões|mila|milione|milioni|miliardi?|тысяч\w{0,3}|тыс|миллион\w{0,3}|млн|миллиард\w{0,3}|млрд"
    r"|हज़ार|लाख|करोड़|हजार|ألف|مليون|مليار|هزار|ہزار|লাখ|কোটি|হাজার|หมื่น|แสน|ล้าน|พัน|lakh|juta|ribu|miliar|bin|milyon|nghìn|triệu|tỷ)(?![^\W_])"
    r"| (?:squared|cubed|factorial)(?![^\W_])| (?:and|&) (?:an?|one) (?:half|third|quarter)| and (?=[0-9]+[/⁄])"
)
_UNIT_LETTERS = frozenset("mgslLhHVAWNJKCFtdP")
_UNIT_POWERS = lazy_pattern(r"(?:[cdkmµ]?m|ft|in|yd|mi|CO|co)[ ^]?[-23](?![0-9])")
_NO_UNITS = lazy_pattern(
    r"and|by|e|half|i|in|is|minus|n|no|not|of|or|out|over|per|plus|than|then|times|to|x|y|z|π", re.IGNORECASE
)
_PERCENT = lazy_pattern(r" ?(%|‰|percent(?![^\W_])|per cent(?![^\W_])|pct(?![^\W_])|Prozent(?![^\W_]))", re.IGNORECASE)
_UNIT = lazy_pattern(
    rf" ?(°? ?[^\W\d_]{{1,20}}\.?(?: ?\^ ?-?[0-9]|(?<=[mtndiO])[23])?"
    rf"(?:[ /][^\W\d_]{{1,20}}(?: ?\^ ?-?[0-9]|[23])?){{0,2}}|[{_CURRENCIES}°'\"″′])"
)
_PREFIX = lazy_pattern(
    rf"(?:[-+–] ?)?(?:(?:US|CA|AU|A|C|R|HK|NZ)?[{_CURRENCIES}]|(?:USD|EUR|GBP|Rs\.?|INR|CHF) ?)? ?[-+–]?"
)
_EDGES = " \t\r\n\"'`“”‘«»*"
_EQUALS = lazy_pattern(r"(?:[^\W\d_]\w{0,9} ?)?[=≈] ?")
_CELLS = lazy_pattern(r"[0-9](?: {2,}| *[\t\r\n\f\v]\s*)[0-9]")


def read_numeral(text: str, comma: bool = False) -> Numeral:
    """Return the number that a whole text states, with its unit. `comma`: the decimal sign is a comma.

    Accepts what a person would write into a form: groups of digits separated by comma, space, apostrophe or underscore,
    fractions, LaTeX, currencies, percent signs and units. Raises ValueError if the text as a whole is not a number.
    """
    error = ValueError(f"{text.strip()[:_QUOTED_CHARACTERS]!r} cannot be read as a number")
    if len(text) > 4 * MAX_DIGITS:
        raise error
    if _CELLS.search(text):
        raise error
    text = re.sub(r"\s+", lambda match: match.group() if GROUP_SPACE in match.group() else " ", plain_form(text))
    plain = _unwrapped(text)
    if equals := _EQUALS.match(plain):
        plain = plain[equals.end() :]
    prefix = _PREFIX.match(plain)
    assert prefix is not None
    signs = [sign for sign in prefix.group() if sign in "-+–"]
    remaining = plain[prefix.end() :]
    if len(signs) > 1 or not remaining:
        raise error
    for end in _number_ends(remaining):
        value = _parse_number(remaining[:end], comma, alone=True)
        if value is None:
            continue
        suffix = _read_suffix(remaining[end:])
        if suffix is None or re.search(r"[,.] ?$", remaining[:end]):
            continue
        factor, unit = suffix
        value = _multiply(value, factor)
        unit = unit or prefix.group().strip("-+– ")
        return Numeral(value.copy_negate() if signs and signs[0] != "+" else value, unit)
    raise error


def _unwrapped(text: str) -> str:
    """Return a text without the quotes, emphasis, brackets and full stop around it."""
    while True:
        shorter = text.strip(_EDGES).rstrip(".,;:!? ").strip(_EDGES)
        if shorter[:1] + shorter[-1:] in ("()", "[]", "{}", "$$", "__") and len(shorter) > 2:
            shorter = shorter[1:-1]
        elif shorter.endswith("$") and shorter.count("$") == 1 and not shorter[:-1].strip()[-1:].isdigit():
            shorter = shorter[:-1]
        if shorter == text:
            return text
        text = shorter


def _number_ends(text: str) -> Iterator[int]:
    """Yield the positions at which a number at the beginning of a text may end, longest first."""
    match = re.match(rf"[0-9.,'_/{GROUP_SPACE}{FRACTION_SLASH}{MIXED_JOIN} ^eE×xX*+-]{{1,{4 * MAX_DIGITS}}}", text)
    if match is None:
        return
    for end in range(match.end(), 0, -1):
        if text[end - 1].isdigit() or text[end - 1] == ".":
            yield end
            if not (text[end:] and re.match(r"[0-9 ^eExX*+-]", text[end:])):
                return


def _read_suffix(text: str) -> tuple[Decimal, str] | None:
    """Return (factor, unit) from the text after a number; None if it is neither."""
    factor = Decimal(1)
    while scale := _SCALE.match(text):
        factor = _multiply(factor, Decimal(1).scaleb(_SCALES[(scale[1] or scale[2]).lower()]))
        text = text[scale.end() :]
    if not text.strip():
        return factor, ""
    percent = _PERCENT.fullmatch(text)
    if percent is not None:
        return factor, "%" if percent[1] != "‰" else "‰"
    unit = _UNIT.fullmatch(text)
    if unit is None or _UNSURE_SCALE.match(text):
        return None
    words = re.findall(r"[^\W\d_]+", unit[1])
    if any(_NO_UNITS.fullmatch(word) or _is_variable(word) for word in words):
        return None
    return factor, unit[1].strip()


def _is_variable(word: str) -> bool:
    """Whether a word is a single letter that is not a unit."""
    return len(word) == 1 and word.isascii() and word not in _UNIT_LETTERS


# --- the last number of a running text -------------------------------------------------------------------------

_CHUNK = lazy_pattern(
    rf"(?:(?<![^\W_])(?<![.)\]}}])\.)?[0-9]+(?:[.,'_:^{GROUP_SPACE}{FRACTION_SLASH}{MIXED_JOIN}–-][0-9]+| ?/ ?[0-9]+"
    r"| [0-9]{3}(?![0-9])"
    r"|\^[-+][0-9]+|[eE][-+]?[0-9]+| ?[×xX*] ?10 ?\^ ?[-+]?[0-9]+)*"
)
_DATE = lazy_pattern(
    r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4}|[0-9]{1,9}(?:\.[0-9]{1,9}){2,9}"
)
_DOTTED_GROUPS = lazy_pattern(r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")
_SPACED_GROUPS = lazy_pattern(r"[1-9][0-9]{0,2}(?: [0-9]{3})+(?:[.,][0-9]+)?")
_LIST = lazy_pattern(r"[0-9]+(?:\.[0-9]+)?(?:,(?![0-9]{3}(?![0-9]))[0-9]+(?:\.[0-9]+)?){2,}")
_EXPRESSION_AFTER = lazy_pattern(
    rf" ?[±√π{SYMBOLIC}∞^]|[^\W\d_]{{1,9}}[0-9]|_\{{?[^\W_]|[\u0300-\u036f]"
    r"| [eE][-+]?[0-9]| ?[€£¥] ?[0-9]{2}(?![^\W_])"
)
_EXPRESSION_BEFORE = lazy_pattern(  # text that makes the following digits part of a larger expression or number
    r"(?:[0-9],,|[0-9]_+|[0-9]\.\(|[0-9)] ?/ ?[-+]|[0-9)] ?\\?(?:mod|choose) ?"
    r"|(?<![^\W_])(?:sqrt|cbrt|log|ln|lg|exp|arc(?:sin|cos|tan)|sin|cos|tan|gcd|lcm|floor|ceil|abs|max|min|[fgh])[0-9a-z]{0,2}\("
    r"|(?<![^\W_])(?:sqrt|cbrt|log|ln|lg|exp|arc(?:sin|cos|tan)|sin|cos|tan|gcd|lcm) ?"
    r"|\b(?:square|cube|cubic) root of (?:the )?|\bpower (?:of )?)[-+]?$"
    r"|(?<![€£¥0-9.,])(?<![€£¥] )[0-9][0-9.,]{0,15} ?[€£¥] ?$",
    re.IGNORECASE,
)
_MEASURES = (  # larger and smaller measures that form one quantity: 5 ft 3 in
    (
        r"years?|yrs?|months?|weeks?|wks?|days?|d|hours?|hrs?|h|min(?:ute)?s?|m",
        r"months?|weeks?|days?|hours?|hrs?|h|min(?:ute)?s?|m|sec(?:ond)?s?|s",
    ),
    (
        r"feet|foot|ft|yards?|yds?|miles?|mi|km|kilomet(?:er|re)s?|m|met(?:er|re)s?|cm|'|′",
        r"inch(?:es)?|in|\"|″|feet|foot|ft|met(?:er|re)s?|m|cm|centimet(?:er|re)s?|mm",
    ),
    (r"lbs?|pounds?|stones?|st|kg|kilograms?|kilos?", r"ounces?|oz|lbs?|pounds?|g|grams?"),
    (r"dollars?|euros?|pounds?|rupees?|[$€£]", r"cents?|pence|paise|p|c|¢"),
    (r"°|degrees?", r"'|′|min(?:ute)?s?|\"|″"),
)
_MEASURE_PAIRS = tuple(
    (
        lazy_pattern(
            rf"(?:[0-9] ?(?:{larger}|(?:ft|lbs?|hrs?|mins?|yrs?)\.),?(?: and)? ?|[$€£] ?[0-9]{{1,9}},?(?: and) )$",
            re.IGNORECASE,
        ),
        lazy_pattern(rf"[ -]?(?:{smaller})(?![^\W_])", re.IGNORECASE),
    )
    for larger, smaller in _MEASURES
)
_RANGE_BEFORE = lazy_pattern(r"(?<![^\W_])[0-9] ?([^\W\d_]{1,4}|[€£¥$%°])?[-–]$")
_MINUS_WORD = lazy_pattern(r"(?:(?P<digit>[0-9)]) +)?\b(?:minus|(?P<negative>negative)) +$", re.IGNORECASE)


def last_numeral(text: str, comma: bool = False) -> Numeral | None:
    """Return the last free-standing number of a text; None if there is none.

    Digits inside names, dates and versions (`GPT-4`, `3/4/2024`, `1.2.3`) are not numbers. Raises ValueError if the
    last digits may be part of a number that cannot be read as a whole (`4,2`, `24/7`, `3 250`, `2^10`, `3:2`).
    """
    plain = plain_form(text)
    chunks = deque((match.span() for match in _CHUNK.finditer(plain)), _MAX_CHUNKS)
    candidates = (_free_standing(plain, start, end, comma) for start, end in reversed(chunks))
    return next((numeral for numeral in candidates if numeral is not None), None)


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the free-standing numbers of a text, at most 5,000; skip those that cannot be read as a whole."""
    plain = plain_form(text)
    for match in islice(_CHUNK.finditer(plain), _MAX_CHUNKS):
        try:
            numeral = _free_standing(plain, match.start(), match.end(), False)
        except ValueError:
            continue
        if numeral is not None:
            yield numeral


def _free_standing(text: str, start: int, end: int, comma: bool) -> Numeral | None:
    """Return the number in a stretch of digits, or None. Raises ValueError."""
    chunk = text[start:end]
    negative = _minus_before(text, start, chunk)
    if negative is None or (_DATE.fullmatch(chunk) and not _DOTTED_GROUPS.fullmatch(chunk)):
        return None
    value, alone = _number_in_chunk(chunk, comma)
    if value is None:
        return None
    preceding = text[max(0, start - 30) : start]
    if any(larger.search(preceding) and smaller.match(text, end) for larger, smaller in _MEASURE_PAIRS):
        raise _ambiguity(text[max(0, start - 12) : end + 6].lstrip())
    factor, unit = _factor_and_percent(text[end : end + 60], chunk)
    value = _multiply(value, factor)
    return Numeral(value.copy_negate() if negative and alone else value, unit)


def _number_in_chunk(chunk: str, comma: bool) -> tuple[Decimal | None, bool]:
    """Return (the number in a stretch of digits, whether it is all of it); of a list or range the last number."""
    value = _parse_number(chunk, comma, alone=False)
    if value is not None:
        return value, True
    if re.fullmatch(r"[0-9.]+[eE][-+]?[0-9]+", chunk):  # too large for a number
        return None, True
    if _SPACED_GROUPS.fullmatch(chunk) is None and not _DOTTED_GROUPS.fullmatch(chunk):
        for sign in (" ", GROUP_SPACE):
            before, _, last_part = chunk.rpartition(sign)
            if before and "/" not in chunk:
                return _number_in_chunk(last_part, comma)[0], False
        low, _, high = chunk.replace("–", "-").partition("-")
        start, end = (_parse_number(part, comma, alone=False) if high else None for part in (low, high))
        if start is not None and end is not None:
            return end, False
        if not comma and _LIST.fullmatch(chunk):
            return Decimal(chunk.rpartition(",")[2]), False
    raise _ambiguity(chunk)


def _ambiguity(chunk: str) -> ValueError:
    quoted = chunk[:_QUOTED_CHARACTERS].replace(MIXED_JOIN, " ").replace(SYMBOLIC, "...")
    return ValueError(f"{quoted!r} in the answer cannot be read as one number")


def _minus_before(text: str, start: int, chunk: str) -> bool | None:
    """Return whether a minus precedes digits; None if they belong to a name. Raises ValueError."""
    preceding = text[max(0, start - 40) : start]
    stripped = preceding.rstrip(" ")
    if stripped and stripped[-1] in f"√±π{SYMBOLIC}":
        raise _ambiguity(stripped[-1] + chunk)
    if _EXPRESSION_BEFORE.search(preceding):
        raise _ambiguity(preceding[-12:].lstrip() + chunk)
    if _AFTER_SCALE.search(preceding) or (re.search(r"[0-9] and $", preceding) and FRACTION_SLASH in chunk):
        raise _ambiguity(preceding[-12:] + chunk)
    if word := _MINUS_WORD.search(preceding):
        return word["negative"] is not None or word["digit"] is None
    if stripped and stripped[-1] in _CURRENCIES:
        preceding = stripped[:-1].rstrip("USCAHKNZR")
    range_start = _RANGE_BEFORE.search(preceding)
    if range_start is not None and not _is_variable(range_start[1] or ""):
        return False
    if preceding and preceding[-1] in "-–+":
        if preceding[-2:-1] == "^" or _is_letter(preceding[-2:-1]):
            return None
        return preceding[-1] != "+" and preceding[-2:-1] not in ("-", "–", ")", "]", "}", ".", "%")
    if re.search(r"[=(:≈<>≤≥] ?- $", preceding):
        return True
    return None if _is_part_of_name(preceding, chunk) else False


def _is_part_of_name(preceding: str, chunk: str) -> bool:
    """Whether digits belong to the text before them: a name, an index, a power. Raises ValueError."""
    last, second = preceding[-1:], preceding[-2:-1]
    if _is_letter(last) or (last == "_" and _is_letter(second)) or preceding[-2:] in ("_{", "^{"):
        return True
    if last == "^" and (_is_letter(second) or second in ("°", " ")):
        return True
    braced = last == "{" and (second == "}" or _is_letter(second))
    divides = last == "/" and bool(second.strip())
    bare_decimal = last == "," and second in ("", " ", "=", "$", "(")
    if last == "^" or braced or divides or bare_decimal:
        raise _ambiguity(preceding[-3:].lstrip() + chunk)
    return False


def _is_letter(character: str) -> bool:
    """Whether a character is a letter of a script that puts spaces between words."""
    return character.isalpha() and character < "\u0530"


def _factor_and_percent(following: str, chunk: str) -> tuple[Decimal, str]:
    """Return (factor, unit) from the text after digits. Raises ValueError."""
    factor = Decimal(1)
    while scale := _SCALE.match(following):
        factor = _multiply(factor, Decimal(1).scaleb(_SCALES[(scale[1] or scale[2]).lower()]))
        following = following[scale.end() :]
    if _UNSURE_SCALE.match(following) or (_EXPRESSION_AFTER.match(following) and not _UNIT_POWERS.match(following)):
        raise _ambiguity(chunk + following[:6])
    letter = re.match(r"([^\W\d_])(?![^\W_])", following)
    if letter and _is_variable(letter[1]):
        raise _ambiguity(chunk + letter[1])
    percent = _PERCENT.match(following)
    return factor, "" if percent is None else "‰" if percent[1] == "‰" else "%"
