"""Parsers `regex` and `tagged` (the text inside <answer> ... </answer>).

A pattern may come from anyone's task file and the text from any model, so the match runs under a time limit (the
`regex` package has one; the standard library's `re` has none) and on a text of limited length. The syntax is that of
`re`: further features (recursion, fuzzy matches) can exhaust the memory, and so can counted repeats inside counted
repeats, which are limited as well. A match that takes too long is the task's fault, not the model's: it raises, and
after a few of them the pattern is not tried any more.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Literal

from creval.errors import ScoringError, UsageError
from creval.parsing.base import TextParser, not_text
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = [
    "MAX_EXPANDED",
    "MAX_PATTERN",
    "MAX_SLOW",
    "MAX_TEXT",
    "TIME_LIMIT",
    "Regex",
    "Tagged",
    "expanded_size",
    "has_nested_repeats",
]


MAX_PATTERN = 2_000

MAX_EXPANDED = 20_000

MAX_TEXT = 200_000

TIME_LIMIT = 2.0

MAX_SLOW = 3


@dataclass(frozen=True)
class Regex(TextParser):
    """The match of a regular expression.

    Empty matches are skipped. `group` is the group with the value, a number or a name; by default group 1 if the
    pattern has one, else the whole match. `choose`: `first` match (default), `last`, or `all` (a list). `ignore_case`,
    `multiline` (^ and $ at every line) and `dotall` (. matches a line break) are the usual flags. A text of more than
    200,000 characters is a failure with that reason; a match that takes over 2 seconds raises ScoringError, and after
    three of them every further text does so at once.
    """

    pattern: str = ""
    group: int | str | None = None
    choose: Literal["first", "last", "all"] = "first"
    ignore_case: bool = False
    multiline: bool = False
    dotall: bool = False
    _compiled: Any = field(init=False, repr=False, compare=False)
    _slow: list[int] = field(default_factory=list, init=False, repr=False, compare=False)  # lengths of such texts

    def __post_init__(self) -> None:
        import regex

        if not self.pattern or len(self.pattern) > MAX_PATTERN:
            raise self._parameter_error(f"the pattern must have 1 to {MAX_PATTERN} characters")
        try:
            re.compile(self.pattern)
            small = expanded_size(self.pattern) <= MAX_EXPANDED
            compiled = regex.compile(self.pattern, self._flags()) if small else None
        except (re.error, regex.error, RecursionError, OverflowError) as error:
            raise self._parameter_error(f"the pattern is not a regular expression: {error}") from None
        if compiled is None:
            raise self._parameter_error(f"the pattern's counted repeats come to more than {MAX_EXPANDED} pieces")
        group = self.group if self.group is not None else min(1, compiled.groups)
        if isinstance(group, int) and not 0 <= group <= compiled.groups:
            raise self._parameter_error(f"the pattern has no group {group}")
        if isinstance(group, str) and group not in compiled.groupindex:
            raise self._parameter_error(f"the pattern has no group named {group!r}")
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "_compiled", compiled)

    @property
    def warning(self) -> str | None:
        """The warning of `creval validate`, or None."""
        if not has_nested_repeats(self.pattern):
            return None
        return f"the pattern {self.pattern[:60]!r} has a repeat inside a repeat, and may take very long on some answers"

    def _flags(self) -> int:
        import regex

        flags = int(regex.VERSION0)
        for wanted, flag in (
            (self.ignore_case, regex.IGNORECASE),
            (self.multiline, regex.MULTILINE),
            (self.dotall, regex.DOTALL),
        ):
            flags |= int(flag) if wanted else 0
        return flags

    def _parameter_error(self, message: str) -> UsageError:
        return UsageError(message, where="parser regex", fix="Correct `pattern` or `group` in the task file.")

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        if len(text) > MAX_TEXT:
            return Parsed.failure(f"the text has {len(text)} characters; a pattern reads at most {MAX_TEXT}")
        if len(self._slow) >= MAX_SLOW:
            raise self._too_slow(f"was given up after {MAX_SLOW} texts")
        try:
            found = self._matches(text)
        except TimeoutError:
            self._slow.append(len(text))
            raise self._too_slow(f"took longer than {TIME_LIMIT:g} s") from None
        if not found:
            return Parsed.failure("the pattern matches nothing")
        if self.choose == "all":
            return Parsed(found, route="regex")
        return Parsed(found[-1], route="regex")

    def _too_slow(self, problem: str) -> ScoringError:
        fix = "Write it without a repeat inside a repeat (creval validate shows them), or match less of the text."
        return ScoringError(f"the pattern {self.pattern[:60]!r} {problem}", where="parser regex", fix=fix)

    def _matches(self, text: str) -> list[str]:
        """Yield the matched texts: one for `first` and `last`, every one for `all`."""
        values: list[str] = []
        for match in self._compiled.finditer(text, timeout=TIME_LIMIT):
            value = match.group(self.group)
            if not value or not value.strip():  # a pattern like [0-9]* is not meant to find an empty text
                continue
            if self.choose != "all":
                values.clear()
            values.append(value)
            if self.choose == "first":
                break
        return values


# --- what can make a pattern slow: its size with counted repeats expanded, and repeats inside repeats ---

_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\()|(?P<close>\))"
    r"|\{(?P<low>\d*)(?:,(?P<high>\d*))?\}|(?P<other>.)",
    re.DOTALL,
)


def expanded_size(pattern: str) -> int:
    """Return the number of single-character pieces of a pattern with counted repeats expanded.

    `a{100}` is 100, `(?:a{100}b){50}` is 50 x 101. An open upper bound counts as its lower bound. The pattern
    must be a valid one of the standard library's `re`.
    """
    sizes = [0]  # of the groups that are open, outermost first
    last = 0  # size of the piece that a following repeat multiplies
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "open":
            sizes.append(0)
            last = 0
        elif kind == "close" and len(sizes) > 1:
            last = sizes.pop() + 1
            sizes[-1] += last
        elif kind in {"low", "high"}:
            times = max(int(token["low"] or 0), int(token["high"] or 0), 1)
            sizes[-1] += last * (times - 1)
            last *= times
        else:
            last = 1
            sizes[-1] += 1
    return sum(sizes)


def has_nested_repeats(pattern: str) -> bool:
    """Whether a repeat without an upper bound is inside another one (`(a+)+`), which may try every way to split.

    The pattern must be a valid one of the standard library's `re`.
    """
    return _has_nested_repeat(_parser.parse(pattern), False)


def _has_nested_repeat(operations: Any, inside: bool) -> bool:
    """Walk a parsed pattern: operators with their arguments."""
    for operator, argument in operations:
        if operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            endless = argument[1] is _constants.MAXREPEAT
            if (endless and inside) or _has_nested_repeat(argument[2], inside or endless):
                return True
        elif any(_has_nested_repeat(part, inside) for part in _parts(argument)):
            return True
    return False


def _parts(held: Any) -> list[Any]:
    """Yield the patterns inside an operator: of a group, of each branch, of a look-around."""
    if isinstance(held, _parser.SubPattern):
        return [held]
    if isinstance(held, list | tuple):
        return [part for member in held for part in _parts(member)]
    return []


_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}")


@dataclass(frozen=True)
class Tagged(TextParser):
    """The text inside a tag, stripped.

    `choose`: the `last` tagged part (default) or the `first`. `closing`: `required`, or `optional`: then a part that is
    never closed extends to the end of the answer. `ignore_case`: whether <ANSWER> equals <answer> (default true). Tags
    do not nest: a part ends at the first closing tag. A blank part is a failure.
    """

    tag: str = "answer"
    choose: Literal["last", "first"] = "last"
    closing: Literal["required", "optional"] = "required"
    ignore_case: bool = True

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.tag):
            raise UsageError(f"{self.tag!r} is not a tag name", where="parser tagged", fix="Give a word, without <>.")

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        flags = re.IGNORECASE if self.ignore_case else 0
        openings = [match.end() for match in re.finditer(f"<{re.escape(self.tag)}>", text, flags)]
        closings = [match.start() for match in re.finditer(f"</{re.escape(self.tag)}>", text, flags)]
        if not openings:
            return Parsed.failure(f"no <{self.tag}> in the answer")
        for start in openings if self.choose == "first" else reversed(openings):
            after = bisect.bisect_left(closings, start)
            end = closings[after] if after < len(closings) else None
            if end is None and self.closing == "required":
                continue
            part = text[start:end].strip()
            if not part:
                return Parsed.failure(f"<{self.tag}> is empty")
            return Parsed(part, route="tagged" if end is not None else "tagged/open")
        return Parsed.failure(f"<{self.tag}> is never closed")
