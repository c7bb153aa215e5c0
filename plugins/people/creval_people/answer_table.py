"""Answers from people on paper or in a survey: a spreadsheet with a row for each answer."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from creval.plugin import DataError, counted, nearest

__all__ = ["AnswerTable", "read_answers"]

_WORD = re.compile(r"(?:word|wort|mot|w)[ _.-]?(\d{1,3})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LARGEST = 50_000_000


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """Answers by participant and doc, in the order of the file; the words of an answer are one per line.

    `separator` is the character between the cells of the file, `words` whether the answers are words in separate cells.
    `rows` has for each doc the row of its first answer, counted as a spreadsheet does: from 1, with the heading.
    """

    answers: Mapping[str, Mapping[str, str]]
    separator: str
    words: bool
    rows: Mapping[str, int]

    @property
    def docs(self) -> list[str]:
        """Return every doc with an answer."""
        return list(dict.fromkeys(doc for own in self.answers.values() for doc in own))


def read_answers(file: Path, only_doc: str | None = None) -> AnswerTable:
    """Read a table with the columns participant, doc, and answer or word1, word2 ...

    The separator is a comma, semicolon or tab (whichever the first line has most of), and the text is UTF-8 (with or
    without a byte order mark), UTF-16 or Windows-1252: the CSV of any spreadsheet. Letter case and spaces in the
    column names do not matter, other columns are ignored. For a task with one doc, `only_doc`, the column doc may be
    missing. Raises DataError with the row.
    """
    text = _text(file)
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    heads = [" ".join(head.casefold().split()) for head in next(rows, [])]
    columns = _Columns.of(heads, file, only_doc)
    answers: dict[str, dict[str, str]] = {}
    first_rows: dict[str, int] = {}
    for number, cells in enumerate(_rows(rows, file), 2):
        if not any(cell.strip() for cell in cells):
            continue
        where = f"{file}: row {number}"
        if any(cell.strip() for cell in cells[len(heads) :]):
            raise DataError(
                f"the row has {counted(len(cells), 'cells')}, and the table has {counted(len(heads), 'columns')}",
                where=where,
                fix=f"Put answers that contain {separator!r} in double quotes, as spreadsheets do.",
            )
        person, doc, answer = columns.read(cells, where)
        own = answers.setdefault(person, {})
        if doc in own:
            raise DataError(
                f"{person} has two answers to {doc!r}", where=where, fix="Keep one of them, or give each a doc."
            )
        own[doc] = answer
        first_rows.setdefault(doc, number)
    if not answers:
        raise DataError("the table has no answers", where=str(file), fix="Write a row for each answer.")
    return AnswerTable(answers, separator, bool(columns.words), first_rows)


def _rows(rows: Iterator[list[str]], file: Path) -> Iterator[list[str]]:
    """Yield the rows below the heading. Raises DataError if a row is not CSV."""
    number = 1
    while True:
        number += 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            fix = "Save the table again as CSV, without line breaks or zero bytes outside of quoted cells."
            raise DataError(f"cannot be read: {error}", where=f"{file}: row {number}", fix=fix) from error
        yield cells


@dataclass(frozen=True, slots=True)
class _Columns:
    """The positions of the columns."""

    participant: int
    doc: int | None
    answer: int | None
    words: Sequence[int]
    only_doc: str | None

    @classmethod
    def of(cls, heads: Sequence[str], file: Path, only_doc: str | None) -> _Columns:
        twice = next((head for head in heads if head and heads.count(head) > 1), None)
        if twice is not None:
            raise DataError(f"two columns are called {twice!r}", where=str(file), fix="Rename one of them.")
        found = {name: heads.index(name) if name in heads else None for name in ("participant", "doc", "answer")}
        numbered = sorted((int(m[1]), at) for at, head in enumerate(heads) if (m := _WORD.fullmatch(head)))
        words = [at for _, at in numbered]
        if found["participant"] is None:
            raise _missing("participant", heads, file)
        if found["doc"] is None and only_doc is None:
            raise _missing("doc", heads, file)
        if (found["answer"] is None) == (not words):
            what = "answer (or word1, word2 ...)" if not words else "either answer or word1, word2 ..., not both"
            raise _missing(what, heads, file)
        return cls(found["participant"], found["doc"], found["answer"], words, only_doc)

    def read(self, cells: Sequence[str], where: str) -> tuple[str, str, str]:
        """Return participant, doc and answer of a row."""

        def cell(at: int) -> str:
            return cells[at].strip() if at < len(cells) else ""

        person = cell(self.participant)
        if not _NAME.fullmatch(person):
            raise DataError(
                f"{person!r} is not a name for a participant",
                where=where,
                fix="Use a code of letters, digits, dots, dashes and underscores, such as p07.",
            )
        doc = self.only_doc if self.doc is None else cell(self.doc)
        if not doc:
            raise DataError(
                "the cell in the column doc is empty", where=where, fix="Name the item that the answer belongs to."
            )
        if self.answer is not None:
            return person, doc, cell(self.answer)
        return person, doc, "\n".join(word for at in self.words if (word := cell(at)))


def _missing(what: str, heads: Sequence[str], file: Path) -> DataError:
    near = nearest(what.split(maxsplit=1)[0], [head for head in heads if head])
    hint = f" Is it {near[0]!r}?" if near else ""
    shown = ", ".join(head for head in heads if head) or "none"
    return DataError(f"the table needs the column {what}", where=str(file), fix=f"Its columns are: {shown}.{hint}")


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise DataError(
            f"the table cannot be read: {error.strerror}", where=str(file), fix="Check the path."
        ) from error
    if len(data) > _LARGEST or data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        what = "is a workbook, not a CSV file" if len(data) <= _LARGEST else "is larger than 50 MB"
        raise DataError(what, where=str(file), fix='Save it in the spreadsheet as "CSV UTF-8".')
    return "".join(_decoded(data))


def _decoded(data: bytes) -> Iterator[str]:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield data.decode("utf-16", errors="replace")
        return
    try:
        yield data.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield data.decode("cp1252", errors="replace")
