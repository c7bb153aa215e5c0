"""From a row as its owners wrote it to the fields of a doc: renamed, cut out by a pattern, options put in order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from creval.numerals import number_of, read_numeral
from creval.tasks.task_model import ChoicesRef, FieldRef

__all__ = ["LETTERS", "Shaping", "brief", "names_of"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SECONDS = 2.0
_SHOWN = 24
_NAMES = 12


@dataclass(frozen=True, slots=True)
class Shaping:
    """What a task file makes of a row: fields, then a question of several choices. `media` are fields of media."""

    fields: Sequence[FieldRef] = ()
    choices: ChoicesRef | None = None
    media: Sequence[str] = ()

    @property
    def bare(self) -> bool:
        """Whether a row stays as it is."""
        return not self.fields and self.choices is None and not self.media

    def fields_of(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields of a row with the mapped ones on top. Raises ValueError with what is wrong."""
        if not self.fields:
            return row
        return {**row, **{ref.name: ref.value if ref.source is None else _mapped(row, ref) for ref in self.fields}}

    def choices_of(self, fields: Mapping[str, Any], doc: str) -> Mapping[str, Any]:
        """Return the fields with those of a question of several choices. Raises ValueError with what is wrong."""
        return fields if self.choices is None else {**fields, **_choose(fields, self.choices, doc)}


def brief(value: Any) -> str:
    """Return a value of the data as an error may quote it: a few characters."""
    text = value if isinstance(value, str) else repr(value)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return repr(shown) if isinstance(value, str) else shown


def names_of(row: Mapping[str, Any]) -> str:
    """Return the names of a row's fields as an error may list them."""
    names = [str(name)[:_SHOWN] for name in row]
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def _mapped(row: Mapping[str, Any], ref: FieldRef) -> Any:
    assert ref.source is not None
    value = _found(row, ref.source)
    if ref.pattern is not None:
        value = _cut_out(value, ref)
    return _number(value, ref.source) if ref.number else value


def _found(row: Mapping[str, Any], path: str) -> Any:
    """Follow a path such as `answer.0.text` into a row; a field of that very name comes first."""
    if path in row:
        return row[path]
    value: Any = row
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise ValueError(f"there is no field {path!r}; there are {names_of(row)}")
    return value


def _cut_out(value: Any, ref: FieldRef) -> str:
    """Return what the pattern matches: its first group where it has one, without blanks around it."""
    if not isinstance(value, str):
        raise ValueError(f"the field {ref.source!r} is no text, so that no pattern can be looked for in it")
    assert ref.pattern is not None
    try:
        match = regex.search(ref.pattern, value, timeout=_SECONDS)
    except TimeoutError:
        raise ValueError(f"the pattern {ref.pattern!r} takes too long in the field {ref.source!r}") from None
    if match is None:
        raise ValueError(f"the pattern {ref.pattern!r} is not in the field {ref.source!r}: {brief(value)}")
    group = match[1] if match.re.groups else match[0]
    return str(group or "").strip()


def _number(value: Any, source: str) -> int | float:
    """Return a number, or the one that a text is; a whole one as an int unless it has an exponent."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        found = read_numeral(str(value)).value
    except ValueError as error:
        raise ValueError(f"the field {source!r}: {error}") from None
    whole = found == found.to_integral_value() and "e" not in str(value).lower()
    return int(found) if whole else number_of(found)


def _choose(fields: Mapping[str, Any], ref: ChoicesRef, doc: str) -> dict[str, Any]:
    """Return the fields of a question of several choices, the choices in the order in which they are shown.

    `choices` are their texts, `letters` as many letters from A (or the labels), `options` both as lines, `target` the
    letter of the right one and `target_text` its text. With a seed the order is shuffled by seed and doc id alone, so
    that it is the same on every machine and whatever other docs there are. Raises ValueError with what is wrong.
    """
    texts = _texts(fields, ref)
    letters = _labels(fields, ref, len(texts))
    right = _right(fields, ref, texts, letters)
    if texts.count(texts[right]) > 1:
        raise ValueError(f"two choices are {brief(texts[right])}, the right one, so that no letter alone is right")
    order = list(range(len(texts)))
    if ref.seed is not None:
        order.sort(key=lambda place: hashlib.sha256(f"{ref.seed}\x1f{doc}\x1f{place}".encode()).digest())
    shown = [texts[place] for place in order]
    return {
        "choices": shown,
        "letters": letters,
        "options": "\n".join(f"{letter}. {text}" for letter, text in zip(letters, shown, strict=True)),
        "target": letters[order.index(right)],
        "target_text": texts[right],
    }


def _texts(fields: Mapping[str, Any], ref: ChoicesRef) -> list[str]:
    found = (
        _list(fields, ref.source, "choices") if isinstance(ref.source, str) else [_found(fields, n) for n in ref.source]
    )
    texts = [str(each) for each in found]
    if not 2 <= len(texts) <= len(LETTERS):
        raise ValueError(f"there are {len(texts)} choices; 2 to {len(LETTERS)} can be asked about")
    return texts


def _labels(fields: Mapping[str, Any], ref: ChoicesRef, count: int) -> list[str]:
    """Return what the choices are called, in the order in which they are shown."""
    if ref.labels is None:
        return list(LETTERS[:count])
    if isinstance(ref.labels, str):
        labels = [str(label).strip() for label in _list(fields, ref.labels, "labels")]
        if len(labels) != count:
            raise ValueError(f"the field {ref.labels!r} holds {len(labels)} labels for {count} choices")
    else:
        labels = list(ref.labels[:count])
        if len(labels) < count:
            raise ValueError(f"there are {count} choices and {len(labels)} labels")
    if "" in labels or len({label.casefold() for label in labels}) < count:
        raise ValueError(f"the labels {', '.join(map(brief, labels))} are not all different")
    return labels


def _list(fields: Mapping[str, Any], name: str, what: str) -> list[Any]:
    found = _found(fields, name)
    if not isinstance(found, list):
        raise ValueError(f"the field {name!r} is no list of {what}")
    return found


def _right(fields: Mapping[str, Any], ref: ChoicesRef, texts: Sequence[str], labels: Sequence[str]) -> int:
    """Return the place of the right choice, from 0."""
    answer = _found(fields, ref.answer)
    wrong = ValueError(
        f"the field {ref.answer!r} is {brief(answer)}, which is no {ref.answer_is} of the {len(texts)} choices"
    )
    if ref.answer_is == "text":
        if str(answer) not in texts:
            raise wrong
        return texts.index(str(answer))
    if ref.answer_is in ("letter", "label"):
        named = [label.casefold() for label in (labels if ref.answer_is == "label" else LETTERS[: len(texts)])]
        if isinstance(answer, bool) or str(answer).strip().casefold() not in named:
            raise wrong
        return named.index(str(answer).strip().casefold())
    if isinstance(answer, bool) or not str(answer).strip().isdecimal():
        raise wrong
    place = int(str(answer).strip()) - (1 if ref.answer_is == "number" else 0)
    if not 0 <= place < len(texts):
        raise wrong
    return place
