"""Find secrets in lines of text: values of the environment, and texts in the form of a key.

The forms are Kingfisher's rules (MongoDB; the package kingfisher-secret-scanner, run in this process, without the
network) and a few of our own (`EXTRA_RULES`) for forms that it omits because they may not be live keys: an AWS id
without its secret, keys of low entropy, keys in formats that it does not list.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from creval.plugin.hub import Mask

__all__ = ["EXTRA_RULES", "Found", "SecretFinder", "readings"]

EXTRA_RULES: Mapping[str, str] = {
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}",
    "a GitLab token": r"gl(?:pat|rt|dt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_-]{20,}",
    "an AWS access key id": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "an AWS secret access key": (
        r"(?i:aws[\w .-]{0,20}?(?:secret|key)|secret[\w .-]{0,12}?key)[\w .-]{0,12}[^A-Za-z0-9/+\n]{1,20}"
        r"(?![0-9a-f]{40})[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])"
    ),
    "a Slack token": r"xox[a-z]{1,2}-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "a Slack webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
    "an npm token": r"npm_[A-Za-z0-9]{36}|:_authToken=[A-Za-z0-9_+/=-]{20,}",
    "a W&B key": (
        r"(?i:wandb|w&b|weights ?(?:and|&) ?biases)[^\n]{0,60}?(?<![A-Za-z0-9])[0-9a-f]{40}(?![A-Za-z0-9])"
        r"|wandb_v[0-9]_[A-Za-z0-9_]{20,}"
    ),
    "a JWT": r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    "a private key": r"---- ?-?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY|PuTTY-User-Key-File-[0-9]",
    "a password in an address": (
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?#:@\"'<>\\]{0,100}:"
        r"(?!(?:\*+|\.+|x+|\[[^\]]*\]|\{[^}]*\}|\$\{?\w+\}?|%[^%\s]+%)@)[^\s/?#\"'<>\\]{1,200}@[A-Za-z0-9\[]"
    ),
    "a key of a model's provider": (
        r"(?<![A-Za-z0-9])(?:sk|rk|pk)[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}|(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"
        r"|(?<![A-Za-z0-9])(?:gsk_|xai-|pplx-|r8_|nvapi-)[A-Za-z0-9_-]{20,}"
    ),
    "a Google key": r"AIza[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,}",
    "a token of Docker Hub": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}",
    "a password in a header": r"(?i:authorization)\W{1,8}(?i:basic) +[A-Za-z0-9+/]{12,}={0,2}",
    "a bearer token": r"(?i:bearer) +(?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/-]{20,}",
}
"""Our own rules: the kind of secret and its pattern."""

_ESCAPE = re.compile(
    r"\\+(?:(?:u|U0000|x|u\{0{0,6})(?P<code>(?<=u)[0-9a-fA-F]{4}|(?<=U0000)[0-9a-fA-F]{4}|(?<=x)[0-9a-fA-F]{2}"
    r"|(?<=[{0])[0-9a-fA-F]{1,4}\})|(?P<space>[nrtbf])|(?P<sign>[\"'/]))"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols without any ink
_PIECE = 8  # this many consecutive characters of a value reveal it


class Found(NamedTuple):
    """A secret: the line (counted from 0 within the given lines), and its kind, never its text."""

    line: int
    what: str


class SecretFinder:
    """Finds the values of variables (name -> value), and texts in the form of a key."""

    def __init__(self, values: Mapping[str, str]) -> None:
        forms = {name: _as_read(value) for name, value in values.items()}
        self._masks = {name: Mask(own) for name, own in forms.items()}
        self._any = Mask(form for own in forms.values() for form in own)
        self._pieces = {name: list(_pieces(value)) for name, value in values.items()}

    def find(self, lines: Sequence[str]) -> list[Found]:
        """Return the secrets in the lines, in order."""
        read = [(number, text) for number, line in enumerate(lines) for text in readings(line)]
        found = {Found(number, what) for number, text in read for what in self._variables(text)}
        known = {each.line for each in found}
        found |= {each for each in _forms(read) if each.line not in known}
        return sorted(found)

    def _variables(self, text: str) -> Iterator[str]:
        if self._any.hide(text) != text:
            for name, mask in self._masks.items():
                if mask.hide(text) != text:
                    yield f"the value of the environment variable {name}"
            return
        for name, pieces in self._pieces.items():
            if any(piece in text for piece in pieces):
                yield f"a part of the environment variable {name}"


def readings(line: str) -> list[str]:
    """Return a line without escapes, entities and control characters, as one text or two.

    Compatibility forms and accents are reduced (NFKD). Invisible characters are
    dropped in the first text and become spaces in the second: they may split a key, or separate it from its neighbours.
    """
    if "\\" in line:
        line = _ESCAPE.sub(_unescaped, line)
        if _SURROGATE.search(line):
            line = line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if "&" in line:
        line = html.unescape(line)
    line = " ".join(line.splitlines()) if "\r" in line else line.rstrip("\n")
    if line.isascii() and not _CONTROL.search(line):
        return [line]
    line = unicodedata.normalize("NFKD", line)
    dropped = line.translate(_DROPPED)
    return [dropped] if dropped == line else [dropped, line.translate(_SPACED)]


def _unescaped(match: re.Match[str]) -> str:
    code = match["code"]
    if code:
        return chr(int(code.rstrip("}"), 16))
    return " " if match["space"] else match["sign"]


class _Unseen(dict[int, Any]):
    """A table for `str.translate` with the replacements of invisible characters."""

    def __init__(self, instead: str | None) -> None:
        super().__init__({ord("\n"): " ", ord("\r"): " ", ord("\t"): " "})
        self._instead = instead

    def __missing__(self, code: int) -> Any:
        unseen = chr(code) in _FILLERS or unicodedata.category(chr(code)) in ("Cf", "Cc", "Mn", "Me", "Zl", "Zp")
        self[code] = self._instead if unseen else code
        if 0xE0020 <= code <= 0xE007E:  # tags: invisible letters
            self[code] = chr(code - 0xE0000)
        return self[code]


_DROPPED, _SPACED = _Unseen(None), _Unseen(" ")


def _as_read(value: str) -> list[str]:
    """Return a value unchanged, and in the forms in which the readings of a line show it, also within JSON."""
    return list(dict.fromkeys([value, *readings(value), *readings(json.dumps(value)[1:-1])]))


def _pieces(value: str) -> Iterator[str]:
    """Yield the pieces of a value that reveal it: those with a digit or a capital letter, unlike a common prefix."""
    for start in range(min(len(value), 500) - _PIECE + 1):
        piece = value[start : start + _PIECE]
        if re.search(r"[0-9A-Z]", piece):
            yield piece


def _forms(read: Sequence[tuple[int, str]]) -> Iterator[Found]:
    """Yield texts in the form of a key in numbered lines."""
    text = "\n".join(line for _, line in read)
    starts = list(accumulate((len(line) + 1 for _, line in read), initial=0))
    ours = set()
    for what, pattern in _patterns():
        for match in pattern.finditer(text):
            row = bisect(starts, match.start()) - 1
            ours.add(row)
            yield Found(read[row][0], f"what looks like a key ({what})")
    for finding in _scanner().scan(text):
        row = finding.location["line"] - 1
        if finding.visible and row not in ours:
            yield Found(read[row][0], f"what looks like a key (rule {finding.rule_id})")


@cache
def _patterns() -> Iterable[tuple[str, re.Pattern[str]]]:
    return [(what, re.compile(pattern)) for what, pattern in EXTRA_RULES.items()]


@cache
def _scanner() -> Any:
    """Return Kingfisher's compiled rules: some seconds at first, then cached by it in the user's cache folder.

    Comments in the scanned text cannot switch a rule off.
    """
    from kingfisher_sdk import DetectionPolicy, Scanner

    return Scanner(policy=DetectionPolicy(inline_ignores=False, markup_context=False))
