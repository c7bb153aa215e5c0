"""Quotations of texts that may not be stored: each is sealed, so that only who has the original can read it.

A span of a text counts as a quotation where its letters and digits, in whatever case and with whatever signs and JSON
escapes between them, stand in an original: 16 of them or more in a row, or a whole shorter original of 4 or more that
stands as words of its own. In its place comes a mark with the span enciphered. The key is made of the original, so that
nothing secret has to be kept anywhere, and the same span always gives the same mark (a synthetic initialisation vector:
the digest of the span is the vector of its key stream, and shows at opening whether the key is the right one; Rogaway
and Shrimpton 2006). As with a digest, whoever can guess the original can check the guess.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["MARK", "Originals", "strings_in"]

MARK = re.compile(r"⟦quoted:([A-Za-z0-9_-]+={0,2})⟧")
"""What stands in place of a quotation."""

_RUN = 16
_SHORT = 4
_VECTOR = 12  # bytes
_CHARACTER = re.compile(r"""(?<!\\)\\++(?:u([0-9a-fA-F]{4})|[nrtbf"'/])|([^\W_])""")
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))

Span = tuple[int, int]


class Originals:
    """Texts that may not be stored, and the key that quotations of them are sealed with."""

    def __init__(self, key: bytes, texts: Iterable[str]) -> None:
        self._key = key
        self._texts = tuple(dict.fromkeys(texts))
        self._found: _Index | None = None

    @classmethod
    def of(cls, secret: Any, texts: Iterable[str] = ()) -> Originals:
        """Return the originals with the key that `secret` gives: plain data that whoever opens a quotation has.

        Originals are its own texts and `texts`.
        """
        canonical = _bytes(_CANONICAL.encode(secret))
        key = hashlib.blake2b(canonical, person=b"creval quotes").digest()
        return cls(key, [*strings_in(secret), *texts])

    def and_texts(self, texts: Iterable[str]) -> Originals:
        """Return originals with the same key and more texts."""
        return Originals(self._key, (*self._texts, *texts))

    def sealed(self, text: str) -> str:
        """Return a text with its quotations sealed, and what looks like the mark of one."""
        parts, end = [], 0
        for start, stop in self._spans(text):
            parts += [text[end:start], self._mark(text[start:stop])]
            end = stop
        return "".join([*parts, text[end:]]) if parts else text

    def sealed_tokens(self, tokens: Iterable[list[Any]]) -> list[list[Any]]:
        """Return [token, number, alternatives] with each token sealed that is part of a quotation in all of them."""
        rows, start, sealed = list(tokens), 0, list[list[Any]]()
        spans = self._spans("".join(str(row[0]) for row in rows))
        for row in rows:
            stop = start + len(row[0])
            quoted = any(first < stop and start < last for first, last in spans)
            sealed.append(_each(row, self._mark) if quoted else row)
            start = stop
        return sealed

    def sealed_data(self, data: Any) -> Any:
        """Return plain data with the quotations in its texts and names sealed."""
        return _each(data, self.sealed)

    def opened(self, text: str) -> str:
        """Return what `sealed` was given. A mark that was made with another key stays."""
        return MARK.sub(self._open, text) if "⟦quoted:" in text else text

    def opened_data(self, data: Any) -> Any:
        """Return what `sealed_data` was given."""
        return _each(data, self.opened)

    def quoted_in(self, data: Any) -> Iterator[str]:
        """Yield the quotations that are sealed in plain data."""
        for text in strings_in(data):
            for found in MARK.finditer(text):
                opened = self._open(found)
                if opened != found.group():
                    yield opened

    def _mark(self, span: str) -> str:
        plain = _bytes(span)
        vector = hashlib.blake2b(plain, key=self._key, digest_size=_VECTOR).digest()
        return f"⟦quoted:{base64.urlsafe_b64encode(vector + self._mixed(plain, vector)).decode()}⟧"

    def _open(self, mark: re.Match[str]) -> str:
        try:
            raw = base64.urlsafe_b64decode(mark[1])
        except ValueError:
            return mark[0]
        vector, plain = raw[:_VECTOR], self._mixed(raw[_VECTOR:], raw[:_VECTOR])
        if not hmac.compare_digest(vector, hashlib.blake2b(plain, key=self._key, digest_size=_VECTOR).digest()):
            return mark[0]
        return plain.decode("utf-8", "surrogatepass")

    def _mixed(self, text: bytes, vector: bytes) -> bytes:
        stream = hashlib.shake_256(self._key + vector).digest(len(text))
        return bytes(one ^ other for one, other in zip(text, stream, strict=True))

    def _spans(self, text: str) -> list[Span]:
        """Return the parts of a text that are to be sealed, rising and apart."""
        if self._found is None:
            self._found = _Index.of(self._texts)
        return _joined([*self._found.in_text(text), *(found.span() for found in MARK.finditer(text))], text)


class _Letters(NamedTuple):
    """The letters and digits of a text in one case, and where each stands in it."""

    said: str
    at: list[Span]

    @classmethod
    def of(cls, text: str) -> _Letters:
        said, at = list[str](), list[Span]()
        for found in _CHARACTER.finditer(text):
            one = chr(int(found[1], 16)) if found[1] else found[2]
            if one is not None and one.isalnum():
                folded = one.casefold()
                said.append(folded)
                at += [found.span()] * len(folded)
        return cls("".join(said), at)

    def words(self) -> list[Span]:
        """Return the runs of letters that nothing stands between."""
        breaks = [i for i in range(1, len(self.at)) if self.at[i][0] > self.at[i - 1][1]]
        return list(zip([0, *breaks], [*breaks, len(self.at)], strict=True)) if self.at else []


class _Index(NamedTuple):
    """The originals: every run of so many letters, and the shorter texts as words."""

    runs: frozenset[str]
    short: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> _Index:
        runs, short = set[str](), set[tuple[str, ...]]()
        for text in texts:
            letters = _Letters.of(text)
            said = letters.said
            if len(said) >= _RUN:
                runs.update(said[i : i + _RUN] for i in range(len(said) - _RUN + 1))
            elif len(said) >= _SHORT:
                short.add(tuple(said[start:stop] for start, stop in letters.words()))
        return cls(frozenset(runs), frozenset(short))

    def in_text(self, text: str) -> Iterator[Span]:
        letters = _Letters.of(text)
        said, at = letters
        for i in range(len(said) - _RUN + 1) if self.runs else ():
            if said[i : i + _RUN] in self.runs:
                yield at[i][0], at[i + _RUN - 1][1]
        if self.short:
            words = letters.words()
            longest = max(map(len, self.short))
            for i in range(len(words)):
                for j in range(i + 1, min(i + longest, len(words)) + 1):
                    if tuple(said[start:stop] for start, stop in words[i:j]) in self.short:
                        yield at[words[i][0]][0], at[words[j - 1][1] - 1][1]


def _joined(spans: Iterable[Span], text: str) -> list[Span]:
    """Return spans rising, those that meet or that no letter stands between as one."""
    joined: list[Span] = []
    for start, stop in sorted(spans):
        if joined and (start <= joined[-1][1] or not any(map(str.isalnum, text[joined[-1][1] : start]))):
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


def strings_in(data: Any) -> Iterator[str]:
    """Yield every text of plain data; names of fields are none."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from strings_in(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from strings_in(value)


def _each(data: Any, change: Callable[[str], str]) -> Any:
    if isinstance(data, str):
        return change(data)
    if isinstance(data, Mapping):
        return {change(name) if isinstance(name, str) else name: _each(value, change) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_each(value, change) for value in data]
    return data


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
