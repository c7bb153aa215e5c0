"""Converts a row to the fields of a doc: renames, extracts by pattern, orders choices."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from creval.errors import nearest
from creval.format import counted, there_are
from creval.tasks.task_model import SPLIT_WORDS, ChoicesRef, FieldRef

__all__ = ["Shaping", "field_at", "names_of", "shortened"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST = 100  # choices
_SECONDS = 2.0
_SHOWN = 24
_NAMES = 12


class Shaping(NamedTuple):
    """The fields that a task file defines from a row, then a multiple-choice question. `media` are fields of media."""

    fields: Sequence[FieldRef] = ()
    choices: ChoicesRef | None = None
    media: Sequence[str] = ()

    @property
    def bare(self) -> bool:
        """Whether rows stay unchanged."""
        return not self.fields and self.choices is None and not self.media

    def fields_of(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields of a row and the mapped ones. Raises ValueError with the fault."""
        if not self.fields:
            return row
        return {**row, **{ref.name: ref.value if ref.source is None else _mapped(row, ref) for ref in self.fields}}

    def choices_of(self, fields: Mapping[str, Any], doc: str) -> Mapping[str, Any]:
        """Return the fields and those of a multiple-choice question. Raises ValueError with the fault."""
        return fields if self.choices is None else {**fields, **_choose(fields, self.choices, doc)}


def shortened(value: Any) -> str:
    """Return a value of the data for an error message: a few characters."""
    text = value if isinstance(value, str) else repr(value)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return repr(shown) if isinstance(value, str) else shown


def names_of(row: Mapping[str, Any]) -> str:
    """Return the names of a row's fields for an error message."""
    names = [str(name)[:_SHOWN] for name in row]
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def _mapped(row: Mapping[str, Any], ref: FieldRef) -> Any:
    assert ref.source is not None
    value = field_at(row, ref.source)
    if isinstance(value, list) and not ref.find_all and ref.split is None:
        return [_converted(member, ref) for member in value]
    return _converted(value, ref)


def _converted(value: Any, ref: FieldRef) -> Any:
    """Return the value after extraction, replacement, splitting and conversion to a number, in this order."""
    assert ref.source is not None
    if ref.pattern is not None:
        value = _cut_out(value, ref)
    for pattern, text in ref.replace:
        replaced = [_replaced(each, pattern, text, ref) for each in (value if isinstance(value, list) else [value])]
        value = replaced if isinstance(value, list) else replaced[0]
    if ref.split is not None:
        value = _SPLITS[ref.split](_text(value, ref)) if ref.split in _SPLITS else _parts(_text(value, ref), ref.split)
    if not ref.number:
        return value
    return [_number(each, ref.source) for each in value] if isinstance(value, list) else _number(value, ref.source)


def _replaced(value: Any, pattern: str, text: str, ref: FieldRef) -> str:
    import regex  # not at the top: few tasks have a pattern, and it takes long to import

    return str(_bounded(regex.sub, pattern, text, _text(value, ref), timeout=_SECONDS))


def _text(value: Any, ref: FieldRef) -> str:
    if not isinstance(value, str):
        raise ValueError(f"the field {ref.source!r} is not a text: {shortened(value)}")
    return value


def _bounded(search: Callable[..., Any], pattern: str, *arguments: Any, **options: Any) -> Any:
    """Return the result of a search with a pattern. Raises ValueError if it takes too long."""
    try:
        return search(pattern, *arguments, **options)
    except TimeoutError:
        raise ValueError(f"the pattern {pattern!r} takes too long") from None


def _parts(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator)] if text.strip() else []


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


_MARK = re.compile(r"[(\[]?\b([0-9]{1,2}|[A-Za-z])\b ?[)\].:]")
_FIRST = frozenset("01aA")


def _numbered(text: str) -> list[str]:
    """Return the items of a list whose marks count up (`1. ... 2. ...`, `(A) ... (B) ...`), on several lines or one.

    Text before the first mark is not an item. Marks at the start of lines are used, if there are none, those within
    lines.
    """
    marks = list(_MARK.finditer(text))
    at_start = [mark for mark in marks if not text[: mark.start()].rpartition("\n")[2].strip()]
    for found in (_marks_in_sequence(at_start), _marks_in_sequence(marks)):
        if len(found) > 1:
            ends = [*(mark.start() for mark in found[1:]), len(text)]
            items = [text[mark.end() : end].strip() for mark, end in zip(found, ends, strict=True)]
            return [item.rstrip(",;").rstrip() for item in items] if found[-1] not in at_start else items
    raise ValueError(f"there is no numbered list in {shortened(text)}")


def _marks_in_sequence(marks: Sequence[Any]) -> list[Any]:
    """Return the marks that count up from the first possible beginning of a list."""
    counting: list[Any] = []
    expected = ""
    for mark in marks:
        label = mark[1]
        if label == expected or (not counting and label in _FIRST):
            counting.append(mark)
            expected = str(int(label) + 1) if label.isdecimal() else chr(ord(label) + 1)
    return counting


_SPLITS: Mapping[str, Callable[[str], list[str]]] = {SPLIT_WORDS[0]: _lines, SPLIT_WORDS[1]: _numbered}


class MissingFieldError(ValueError):
    """A row lacks a field. The text is created on access: of a million such errors most are never shown."""

    def __init__(self, path: str, row: Mapping[str, Any]) -> None:
        super().__init__()
        self._path, self._names = path, tuple(map(str, row))

    def __str__(self) -> str:
        return _missing(self._path, self._names)


@functools.lru_cache(maxsize=64)
def _missing(path: str, names: tuple[str, ...]) -> str:
    near = nearest(path, names) or nearest(path.partition(".")[0], names)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return (
        f"there is no field {path!r}{hint}; there {'is' if len(names) == 1 else 'are'} {names_of(dict.fromkeys(names))}"
    )


def field_at(row: Mapping[str, Any], path: str) -> Any:
    """Follow a path such as `answer.0.text` into a row; a field with exactly that name takes precedence."""
    if path in row:
        return row[path]
    value: Any = row
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise MissingFieldError(path, row)
    return value


def _cut_out(value: Any, ref: FieldRef) -> str | list[str]:
    """Return the match of the pattern (its first group, if it has one) without blanks around it, or all matches."""
    import regex

    text = _text(value, ref)
    assert ref.pattern is not None
    matches = _bounded(lambda *given, **more: list(regex.finditer(*given, **more)), ref.pattern, text, timeout=_SECONDS)
    if not matches:
        raise ValueError(f"the pattern {ref.pattern!r} is not in the field {ref.source!r}: {shortened(text)}")
    groups = [str((match[1] if match.re.groups else match[0]) or "").strip() for match in matches]
    return groups if ref.find_all else groups[0]


def _number(value: Any, source: str) -> int | float:
    """Return a number, or the number in a text; a whole one is an int unless it has an exponent."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    from creval.numerals import number_of, read_numeral  # not at the top: few tasks read numbers from texts

    try:
        found = read_numeral(str(value)).value
    except ValueError as error:
        raise ValueError(f"the field {source!r}: {error}") from None
    whole = found == found.to_integral_value() and "e" not in str(value).lower()
    return int(found) if whole else number_of(found)


def _letters(count: int) -> list[str]:
    """Return A to Z, then AA, AB ..."""
    return [(_LETTERS[place // 26 - 1] if place > 25 else "") + _LETTERS[place % 26] for place in range(count)]


def _choose(fields: Mapping[str, Any], ref: ChoicesRef, doc: str) -> dict[str, Any]:
    """Return the fields of a multiple-choice question, with the choices in the order in which they are shown.

    `choices` are their texts, `letters` the letters from A (or the labels), `options` both as lines, `target` the
    letter of the right choice and `target_text` its text; both are lists if several are right. With a seed the order is
    shuffled by seed and doc id alone, so it is the same on every machine, whatever other docs there are. Raises
    ValueError with the fault.
    """
    choice_texts = _choice_texts(fields, ref)
    texts = [text for text in choice_texts if text is not None]
    if not 2 <= len(texts) <= _MOST:
        raise ValueError(f"{there_are(len(texts), 'choices')}; 2 to {_MOST} can be asked about")
    labels = _labels(fields, ref, choice_texts)
    right = _right_indices(fields, ref, choice_texts, labels)
    places = [place for place, text in enumerate(choice_texts) if text is not None]
    missing = next((place for place in right if place not in places), None)
    if missing is not None:
        raise ValueError(f"the field {ref.answer!r} names choice {missing + 1}, which is empty")
    wrong = {choice_texts[place] for place in places if place not in right}
    for place in right:
        if not ref.duplicates and choice_texts[place] in wrong:
            message = (
                f"two choices are {shortened(choice_texts[place])}, the right one, so that no letter alone is right"
            )
            raise ValueError(f"{message}; duplicates: true uses the one that the data name")
    order = list(range(len(places)))
    if ref.seed is not None:
        order.sort(key=lambda at: hashlib.sha256(f"{ref.seed}\x1f{doc}\x1f{at}".encode()).digest())
    shuffled = [texts[at] for at in order]
    letters = _letters(len(texts)) if ref.labels is None else [labels[place] for place in places]
    targets = [letters[order.index(places.index(place))] for place in right]
    return {
        "choices": shuffled,
        "letters": letters,
        "options": "\n".join(f"{letter}. {text}" for letter, text in zip(letters, shuffled, strict=True)),
        "target": targets[0] if len(targets) == 1 else targets,
        "target_text": choice_texts[right[0]] if len(right) == 1 else [choice_texts[place] for place in right],
    }


def _choice_texts(fields: Mapping[str, Any], ref: ChoicesRef) -> list[str | None]:
    """Return the texts of the choices, with None for an empty one, which is not a choice."""
    if isinstance(ref.source, str):
        return [None if each is None else str(each) for each in _list(fields, ref.source, "choices")]
    found = [field_at(fields, name) for name in ref.source]
    return [None if each is None or each == "" else str(each) for each in found]


def _labels(fields: Mapping[str, Any], ref: ChoicesRef, choice_texts: Sequence[str | None]) -> list[str]:
    """Return the labels of the choices, in the order in which they are shown."""
    count = len(choice_texts)
    if ref.labels is None:
        return _letters(count)
    if isinstance(ref.labels, str):
        labels = [str(label).strip() for label in _list(fields, ref.labels, "labels")]
        if len(labels) != count:
            raise ValueError(
                f"the field {ref.labels!r} holds {counted(len(labels), 'labels')} for {counted(count, 'choices')}"
            )
    else:
        labels = list(ref.labels[:count])
        if len(labels) < count:
            raise ValueError(f"{there_are(count, 'choices')} and {counted(len(labels), 'labels')}")
    if "" in labels or len({label.casefold() for label in labels}) < count:
        raise ValueError(f"the labels {', '.join(map(shortened, labels))} are not all different")
    return labels


def _list(fields: Mapping[str, Any], name: str, content: str) -> list[Any]:
    values = field_at(fields, name)
    if not isinstance(values, list):
        fix = " (a list within a text is cut by fields: {NAME: {from: ..., split: ...}})" if values else ""
        raise ValueError(f"the field {name!r} is not a list of {content}{fix}")
    return values


def _right_indices(
    fields: Mapping[str, Any], ref: ChoicesRef, choice_texts: Sequence[str | None], labels: Sequence[str]
) -> Sequence[int]:
    """Return the indices of the right choices, from 0: one, or possibly several with flags."""
    answer = field_at(fields, ref.answer)
    count = len(choice_texts)
    message = f"the field {ref.answer!r} is {shortened(answer)}, which is no {ref.answer_is} of the {count} choices"
    if ref.answer_is == "flags":
        flags = [flag in (1, "1", True) for flag in answer] if isinstance(answer, list) else []
        if len(flags) != len(choice_texts) or not any(flags):
            raise ValueError(message)
        return [place for place, flag in enumerate(flags) if flag]
    if ref.answer_is == "text":
        if str(answer) not in choice_texts:
            raise ValueError(message)
        return [choice_texts.index(str(answer))]
    answer_text = str(answer).strip()
    if isinstance(answer, bool):
        raise ValueError(message)
    if ref.answer_is in ("letter", "label"):
        folded_labels = [
            label.casefold() for label in (labels if ref.answer_is == "label" else _letters(len(choice_texts)))
        ]
        if answer_text.casefold() not in folded_labels:
            raise ValueError(message)
        return [folded_labels.index(answer_text.casefold())]
    place = int(answer_text) - (ref.answer_is == "number") if answer_text.isdecimal() else -1
    if not 0 <= place < len(choice_texts):
        raise ValueError(message)
    return [place]
