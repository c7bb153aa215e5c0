"""Rules for texts: length, contents, form, beginning and end.

A rule is written as its name with its arguments: `{words: {max: 50}}`, `{contains: [river, boat]}`, `{case: lower}`,
`json`. `read_rule` reads one, `Rule.kept` says whether a text keeps it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from creval.plugin import UsageError, nearest
from creval_text.languages import LANGUAGES, detected_language

__all__ = ["KINDS", "Rule", "count_sentences", "read_rule", "read_rules"]

_SECONDS = 2.0
_DEEPEST = 5
_ENDS = re.compile(r"(?<![.!?。！？…])[.!?。！？…]++[\"'”’»)\]]*+(?=\s|$)")
_ABBREVIATIONS = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "sr",
        "jr",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "cf",
        "fig",
        "no",
        "inc",
        "ltd",
        "co",
    ]
)
_CAPITALS = re.compile(r"[^\W_]+(?:[-'’.&/][^\W_]+)*")
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its arguments, ready to be applied to texts."""

    kind: str
    arguments: Arguments

    def kept(self, text: str) -> bool:
        """Return whether a text keeps the rule. Raises ValueError if that cannot be decided."""
        return KINDS[self.kind].kept(text, self.arguments)

    def __str__(self) -> str:
        return (
            f"{self.kind}: {json.dumps(self.arguments, ensure_ascii=False, default=str)}"
            if self.arguments
            else self.kind
        )


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of rule: its test, its arguments with their types, and the argument set by a bare value."""

    kept: Callable[[str, Arguments], bool]
    takes: Mapping[str, str]
    bare: str | None = None
    needs: Sequence[str] = ()
    one_of: Sequence[str] = ()


# --- counts ---------------------------------------------------------------------------------------------------------


def _counted(count: Callable[[str, Arguments], int], more: Mapping[str, str] | None = None) -> _Kind:
    """Return a rule that limits a count: at least `min`, at most `max`, or `exactly` a number."""

    def kept(text: str, given: Arguments) -> bool:
        found = count(text, given)
        exactly = given.get("exactly")
        if exactly is not None:
            return bool(found == exactly)
        return bool(given.get("min", 0) <= found <= given.get("max", found))

    limits = {"min": "number", "max": "number", "exactly": "number"}
    return _Kind(kept, {**limits, **(more or {})}, "exactly", one_of=tuple(limits))


def count_sentences(text: str) -> int:
    """Return the number of sentences: they end in . ! ? or …, but not after an abbreviation or an initial."""
    count, start = 0, 0
    for match in _ENDS.finditer(text):
        word = text[start : match.start()].rsplit(None, 1)[-1:] or [""]
        bare = word[0].lstrip("(\"'“‘[").lower()
        abbreviated = match[0].startswith(".") and (
            bare in _ABBREVIATIONS or (len(bare) == 1 and bare.isalpha() and bare != "i")
        )
        if abbreviated and match.end() < len(text.rstrip()):
            continue
        count, start = count + 1, match.end()
    return count + (1 if any(letter.isalnum() for letter in text[start:]) else 0)


def _paragraphs(text: str, given: Arguments) -> list[str]:
    """Return the paragraphs: the texts between blank lines, or between dividers."""
    divider = given.get("divider")
    parts = re.split(r"\n\s*\n", text) if divider is None else text.split(divider)
    return [part.strip() for part in parts if part.strip()]


def _occurrences(text: str, given: Arguments) -> int:
    return sum(1 for _ in _pattern_of(str(given["of"]), given).finditer(text))


def _pattern_of(wanted: str, given: Arguments) -> re.Pattern[str]:
    return _compiled(wanted, bool(given.get("ignore_case", True)), bool(given.get("whole_words", False)))


@lru_cache(maxsize=4096)
def _compiled(wanted: str, ignore_case: bool, whole_words: bool) -> re.Pattern[str]:
    body = re.escape(wanted)
    return re.compile(rf"(?<!\w){body}(?!\w)" if whole_words else body, re.IGNORECASE if ignore_case else 0)


def _highlights(text: str, _: Arguments) -> int:
    """Count highlights as IFEval does: text in single asterisks, plus text in double asterisks."""
    single = [found for found in re.findall(r"\*[^\n*]*\*", text) if found.strip("*").strip()]
    double = [found for found in re.findall(r"\*\*[^\n*]*\*\*", text) if found[2:-2].strip()]
    return len(single) + len(double)


def _bullets(text: str, _: Arguments) -> int:
    """Count the lines that begin with - or one *; after a bare * the next line is the item, as in IFEval."""
    lines = [line.lstrip() for line in text.split("\n")]
    count, place = sum(line.startswith("-") for line in lines), 0
    while place < len(lines):
        bare = lines[place] == "*" and place + 1 < len(lines)
        count += bare or (len(lines[place]) > 1 and lines[place][0] == "*" != lines[place][1])
        place += 2 if bare else 1
    return count


def _placeholders(text: str, _: Arguments) -> int:
    """Count the texts in square brackets within a line."""
    count = 0
    for line in text.split("\n"):
        start = line.find("[")
        while start >= 0 and (end := line.find("]", start + 1)) >= 0:
            count, start = count + 1, line.find("[", end + 1)
    return count


def _sections(text: str, given: Arguments) -> int:
    return len(re.findall(rf"\s?{re.escape(str(given['word']).strip())}\s?\d+\s?", text))


def _parts(text: str, given: Arguments) -> bool:
    """Return whether a divider splits a text into the right number of parts, no inner part empty, all different."""
    parts = [part.strip() for part in text.split(given["divider"])]
    inner = parts[1:-1]
    found = [part for part in parts if part]
    counted = given.get("exactly", 2)
    different = len(set(found)) == len(found) or not given.get("different", False)
    return all(inner) and len(found) == counted and different


# --- contents -------------------------------------------------------------------------------------------------------


def _listed(given: Arguments) -> list[str]:
    of = given["of"]
    return [str(each) for each in (of if isinstance(of, list | tuple) else [of])]


def _contains(text: str, given: Arguments) -> bool:
    return all(_pattern_of(wanted, given).search(text) for wanted in _listed(given))


def _contains_any(text: str, given: Arguments) -> bool:
    return any(_pattern_of(wanted, given).search(text) for wanted in _listed(given))


def _contains_none(text: str, given: Arguments) -> bool:
    return not _contains_any(text, given)


def _regex(text: str, given: Arguments) -> bool:
    """Return whether a pattern is found. Raises ValueError if the search takes too long."""
    pattern = _regex_of(str(given["pattern"]), bool(given.get("ignore_case", False)))
    match = pattern.fullmatch if given.get("whole", False) else pattern.search
    try:
        return match(text, timeout=_SECONDS) is not None
    except TimeoutError:
        raise ValueError(f"the pattern {str(given['pattern'])[:60]!r} took longer than {_SECONDS:g} s") from None


@lru_cache(maxsize=512)
def _regex_of(pattern: str, ignore_case: bool) -> Any:
    import regex

    flags = regex.VERSION0 | regex.MULTILINE | regex.DOTALL | (regex.IGNORECASE if ignore_case else 0)
    return regex.compile(pattern, flags)


# --- form -----------------------------------------------------------------------------------------------------------


def _case(text: str, given: Arguments) -> bool:
    return text.isupper() if given["is"] == "upper" else text.islower()


def _starts(text: str, given: Arguments) -> bool:
    return _folded(text.strip(), given).startswith(_folded(str(given["with"]).strip(), given))


def _ends(text: str, given: Arguments) -> bool:
    """Return whether a text ends with a phrase, ignoring quotation marks around the text, as in IFEval."""
    return _folded(text.strip().strip('"'), given).endswith(_folded(str(given["with"]).strip(), given))


def _folded(text: str, given: Arguments) -> str:
    return text.lower() if given.get("ignore_case", True) else text


def _json(text: str, given: Arguments) -> bool:
    """Return whether a text, fenced or not, is JSON as a whole, and matches the schema if there is one."""
    bare = text.strip()
    fence = _FENCE.match(bare)
    bare = bare[fence.end() :] if fence else bare
    schema = given.get("schema")
    try:
        value = json.loads(bare.removesuffix("```").strip())
        return schema is None or bool(_validator(json.dumps(schema, sort_keys=True)).is_valid(value))
    except (ValueError, RecursionError):
        return False


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(schema))


def _quoted(text: str, _: Arguments) -> bool:
    bare = text.strip()
    return len(bare) > 1 and bare[0] == '"' and bare[-1] == '"'


def _title(text: str, _: Arguments) -> bool:
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


def _postscript(text: str, given: Arguments) -> bool:
    marker = str(given["marker"]).strip().lower()
    patterns = {"p.p.s": r"p\.\s?p\.\s?s", "p.s.": r"p\.\s?s\."}
    return re.search(patterns.get(marker, re.escape(marker)), text.lower()) is not None


def _paragraph_starts(text: str, given: Arguments) -> bool:
    """Return whether a paragraph's first word, without punctuation after it, is the required one.

    With explicit dividers, empty paragraphs count in the numbering, as in IFEval.
    """
    whole, number = _paragraphs(text, given), given.get("number", 1)
    parts = whole if given.get("divider") is None else text.split(given["divider"])
    if number > len(whole) or not parts[number - 1].strip():
        return False
    first = parts[number - 1].split()[0].lstrip("'").lstrip('"')
    return re.split(r"[.,?!'\"]", first)[0].lower() == str(given["with"]).strip().lower()


def _language(text: str, given: Arguments) -> bool:
    """Return whether a text is in a language; True if the language cannot be detected, as in IFEval."""
    found = detected_language(text)
    return found is None or found == given["is"]


def _one_of(text: str, given: Arguments) -> bool:
    said = _folded(text.strip(), given)
    return said in {_folded(each.strip(), given) for each in _listed(given)}


# --- rules of rules -------------------------------------------------------------------------------------------------


def _all(text: str, given: Arguments) -> bool:
    return all(rule.kept(text) for rule in given["of"])


def _any(text: str, given: Arguments) -> bool:
    return any(rule.kept(text) for rule in given["of"])


def _not(text: str, given: Arguments) -> bool:
    return not any(rule.kept(text) for rule in given["of"])


_WORDS = {"of": "texts", "ignore_case": "flag", "whole_words": "flag"}
_FIXED = {"with": "text", "ignore_case": "flag"}

KINDS: Mapping[str, _Kind] = {
    "words": _counted(lambda text, _: len(re.findall(r"\w+", text))),
    "sentences": _counted(lambda text, _: count_sentences(text)),
    "paragraphs": _counted(lambda text, given: len(_paragraphs(text, given)), {"divider": "text"}),
    "characters": _counted(lambda text, _: len(text.strip())),
    "lines": _counted(lambda text, _: sum(1 for line in text.split("\n") if line.strip())),
    "bullets": _counted(_bullets),
    "highlights": _counted(_highlights),
    "placeholders": _counted(_placeholders),
    "sections": _Kind(
        _counted(_sections).kept,
        {"word": "text", "min": "number", "max": "number", "exactly": "number"},
        None,
        ("word",),
        ("min", "max", "exactly"),
    ),
    "capital_words": _counted(lambda text, _: sum(1 for word in _CAPITALS.findall(text) if word.isupper())),
    "count": _Kind(
        _counted(_occurrences).kept,
        {**_WORDS, "of": "text", "min": "number", "max": "number", "exactly": "number"},
        None,
        ("of",),
        ("min", "max", "exactly"),
    ),
    "contains": _Kind(_contains, _WORDS, "of", ("of",)),
    "contains_any": _Kind(_contains_any, _WORDS, "of", ("of",)),
    "contains_none": _Kind(_contains_none, _WORDS, "of", ("of",)),
    "one_of": _Kind(_one_of, {"of": "texts", "ignore_case": "flag"}, "of", ("of",)),
    "regex": _Kind(_regex, {"pattern": "pattern", "ignore_case": "flag", "whole": "flag"}, "pattern", ("pattern",)),
    "case": _Kind(_case, {"is": "case"}, "is", ("is",)),
    "starts": _Kind(_starts, _FIXED, "with", ("with",)),
    "ends": _Kind(_ends, _FIXED, "with", ("with",)),
    "paragraph_starts": _Kind(
        _paragraph_starts, {"with": "text", "number": "place", "divider": "text"}, "with", ("with",)
    ),
    "parts": _Kind(_parts, {"divider": "text", "exactly": "number", "different": "flag"}, "divider", ("divider",)),
    "json": _Kind(_json, {"schema": "schema"}, "schema"),
    "quoted": _Kind(_quoted, {}),
    "title": _Kind(_title, {}),
    "postscript": _Kind(_postscript, {"marker": "text"}, "marker", ("marker",)),
    "language": _Kind(_language, {"is": "language"}, "is", ("is",)),
    "all": _Kind(_all, {"of": "rules"}, "of", ("of",)),
    "any": _Kind(_any, {"of": "rules"}, "of", ("of",)),
    "not": _Kind(_not, {"of": "rules"}, "of", ("of",)),
}
"""All kinds of rules by name."""


# --- reading --------------------------------------------------------------------------------------------------------


def read_rules(given: Any, depth: int = 0) -> tuple[Rule, ...]:
    """Return a list of rules; a single one needs no list. Raises UsageError with the fault."""
    if depth > _DEEPEST:
        raise _wrong("rules are nested too deeply", "Write at most five levels of all, any and not.")
    items = given if isinstance(given, list | tuple) else [given]
    return tuple(read_rule(item, depth) for item in items)


def read_rule(given: Any, depth: int = 0) -> Rule:
    """Parse a rule. Raises UsageError with the fault and the nearest valid word."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        given = {given: None}
    if not isinstance(given, Mapping) or len(given) != 1:
        raise _wrong(f"{str(given)[:60]!r} is not a rule", "Write its name with its arguments: {words: {max: 50}}.")
    ((name, value),) = given.items()
    kind = KINDS.get(name)
    if kind is None:
        close = nearest(str(name), [*KINDS], 1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(KINDS)}."
        raise _wrong(f"there is no rule {name!r}", hint)
    arguments = _arguments(name, kind, value)
    for key, each in arguments.items():
        _check_argument(name, kind, key, each)
    _check_whole(name, kind, arguments)
    if kind.takes.get("of") == "rules":
        arguments = {"of": read_rules(arguments["of"], depth + 1)}
    return Rule(name, arguments)


def _arguments(name: str, kind: _Kind, value: Any) -> dict[str, Any]:
    if value is None or value is True:
        return {}
    named = isinstance(value, Mapping) and kind.takes.get(kind.bare or "") not in ("schema", "rules")
    named = named or (isinstance(value, Mapping) and set(value) <= set(kind.takes) and bool(value))
    if named:
        return {key: each for key, each in value.items() if each is not None}
    if kind.bare is None:
        raise _wrong(f"the rule {name!r} takes no bare value", f"It has: {', '.join(kind.takes) or 'no arguments'}.")
    return {kind.bare: value}


_TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "number": (lambda value: type(value) is int and value >= 0, "a whole number from 0"),
    "place": (lambda value: type(value) is int and value >= 1, "a whole number from 1"),
    "flag": (lambda value: isinstance(value, bool), "true or false"),
    "text": (lambda value: isinstance(value, str) and value != "", "a text"),
    "texts": (
        lambda value: (
            (isinstance(value, str) and value != "")
            or (isinstance(value, list | tuple) and bool(value) and all(isinstance(v, str) and v for v in value))
        ),
        "a text, or a list of texts",
    ),
    "case": (lambda value: value in ("upper", "lower"), "upper or lower"),
    "schema": (lambda value: isinstance(value, Mapping | bool), "a JSON Schema"),
    "pattern": (lambda value: isinstance(value, str) and value != "", "a regular expression"),
    "rules": (
        lambda value: isinstance(value, list | tuple | Mapping | str) and bool(value),
        "a rule, or a list of rules",
    ),
    "language": (lambda value: value in LANGUAGES, f"a code of ISO 639-1: {', '.join(sorted(LANGUAGES))}"),
}


def _check_argument(name: str, kind: _Kind, key: str, value: Any) -> None:
    if key not in kind.takes:
        close = nearest(str(key), [*kind.takes], 1)
        hint = f"Did you mean {close[0]!r}?" if close else f"It has: {', '.join(kind.takes) or 'no arguments'}."
        raise _wrong(f"the rule {name!r} has no argument {key!r}", hint)
    fits, said = _TYPES[kind.takes[key]]
    if not fits(value):
        raise _wrong(f"{key!r} of the rule {name!r} is {str(value)[:40]!r}", f"Write {said}.")
    if kind.takes[key] == "pattern":
        _check_pattern(name, value)
    if kind.takes[key] == "schema":
        _check_schema(name, value)


def _check_pattern(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
        _regex_of(pattern, False)
    except Exception as error:  # re and regex have different exceptions
        raise _wrong(f"the pattern of the rule {name!r} is not a regular expression: {error}", "Correct it.") from None


def _check_schema(name: str, schema: Any) -> None:
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise _wrong(f"the schema of the rule {name!r} is invalid: {error.message[:80]}", "Correct it.") from None


def _check_whole(name: str, kind: _Kind, arguments: Arguments) -> None:
    lacking = next((key for key in kind.needs if key not in arguments), None)
    if lacking is not None:
        raise _wrong(f"the rule {name!r} lacks {lacking!r}", f"Write {{{name}: {{{lacking}: ...}}}}.")
    if kind.one_of and not any(key in arguments for key in kind.one_of):
        raise _wrong(f"the rule {name!r} has no limit", f"Write one of {', '.join(kind.one_of)}.")
    low, high = arguments.get("min"), arguments.get("max")
    if low is not None and high is not None and low > high:
        raise _wrong(f"the rule {name!r} asks for at least {low} and at most {high}", "Exchange them.")


def _wrong(what: str, fix: str) -> UsageError:
    return UsageError(what, where="rules", fix=fix)
