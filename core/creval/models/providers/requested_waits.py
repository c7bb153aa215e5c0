"""The wait that a server requests: in a header, in a field of its error, or in the text of its message."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

__all__ = ["duration", "requested_wait"]

_LEAST = 0.001
"""A wait of zero would mean "at once" to the policy; a server that limits calls never means that."""
_EPOCH = 1e9
_EPOCH_MS = 1e11
_FINER = 1e14
"""From this value on an epoch is in microseconds, and from a thousand times this value in nanoseconds."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = r"(?:\d{1,15}(?:\.\d{0,12})?|\.\d{1,12})"
_UNIT = (
    r"(?:milliseconds?|millis|msecs?|ms|seconds?|secondes?|segundos?|sekunden|secs?|s"
    r"|minutes?|mins?|m|hours?|hrs?|hr|h|days?|d)"
)
_PIECE = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})(?![a-z])\s*(?:and|,)?", re.IGNORECASE)
_RETRY_DELAY = re.compile(rf"""\\*["']?retry_?delay\\*["']?\s*[:=]\s*\\*["']?({_NUMBER}s)\b""", re.IGNORECASE)
_IN_WORDS = re.compile(
    rf"(?:(?:retry|try|again|wait|reset(?:s|ting)?|restored|allowed|available|back|limited|cool(?:ing)?-?\s?down)\b"
    rf"[^.;\d]{{0,40}}?\b(?:in|after|for|another)\b\s*[:=]?"
    rf"|\bwait(?:ing)?(?:\sat\sleast)?|\bcool-?down(?:\sof|:)?"
    rf"|\bback-?off\sof|\bretry[-_ ]after\s*[:=]?|\bversuchen\b[^.;\d]{{0,20}}\bin"
    rf"|\bréessaye[rz]\b[^.;\d]{{0,20}}\bdans"
    rf"|\bint[eé]nt\w{{1,5}}\b[^.;\d]{{0,20}}\ben)\s*(?:(?:about|around|approximately|roughly|another|less than)\s+)?"
    rf"((?:{_NUMBER}\s*{_UNIT}(?![a-z])\s*(?:and|,)?\s*)+)",
    re.IGNORECASE,
)
_AT_DATE = re.compile(
    r"(?:retry|try|again|wait|reset(?:s|ting)?|available|back)\b[^;\d]{0,40}?\b(?:at|after|until)\s*:?\s*"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|\s?UTC|[+-]\d\d:?\d\d)?)",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    rf"\bretry[-_ ]?(?:after|in|delay)[\"']?\s*[:=]?\s*[\"']?({_NUMBER})(?=\s*(?:[;,)\]}}\"']|\.?\s*$|\.\s))",
    re.IGNORECASE,
)
_ONE = re.compile(r"(?:retry|again|wait)\b[^.;\d]{0,25}?\b(?:an?|one) (second|minute|hour)\b", re.IGNORECASE)
_PROTOBUF = re.compile(r"""retry_?delay\\*["']?\s*:?\s*\{\s*\\*["']?seconds\\*["']?\s*:\s*(\d{1,9})""", re.IGNORECASE)
_ISO = re.compile(rf"PT(?:({_NUMBER})H)?(?:({_NUMBER})M)?(?:({_NUMBER})S)?", re.IGNORECASE)
_ISO_IN_WORDS = re.compile(r"(?:retry|again|wait)\b[^.;\d]{0,20}?\b(PT[0-9][0-9.HMS]{1,20})\b", re.IGNORECASE)
_CLOCK = re.compile(r"(\d{1,3}):(\d\d):(\d\d(?:\.\d{1,9})?)")
_IN_CHINESE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?秒[钟鐘]?[之以]?[后後]")
_FIELDS = (
    *("retry_after_ms", "retryafterms", "retry_after", "retryafter", "retry_after_seconds", "retryafterseconds"),
    *("retry_in", "retrydelay", "retry_delay", "wait_seconds", "reset_in", "reset_after", "retry_after_millis"),
    "wait",
)
_RESET_FIELDS = (
    *("resets_in_seconds", "resets_in", "resets_at", "reset_at", "reset_time", "retry_at"),
    *("resetat", "next_retry_at", "ratelimit_reset"),
)
_RETRY_MS = ("retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms")
_RETRY = ("retry-after", "x-retry-after", "x-ratelimit-reset-after", "x-ratelimit-retry-after", "ratelimit-reset-after")
_RESET = re.compile(r"(?:x-)?(?:anthropic-)?rate-?limit-.*reset.*|(?:x-)?rate-?limit-reset.*")
_LONGEST_BODY = 20_000
_DEEPEST = 6


def requested_wait(headers: Mapping[str, Any], body: Any, now: float, limited: bool = True) -> float | None:
    """Return the seconds that a server asks to wait, None if it names none.

    `headers` in any letter case; `body` is the text of an error, or its JSON; `now` is the time in seconds since the
    epoch, for dates. Headers with the time of a limit's reset count only if the call was refused because of a limit
    (`limited`): other replies carry them too.
    """
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    wait_seconds = next((wait for wait in _waits_in_headers(named, now) if wait is not None), None)
    if wait_seconds is None:
        wait_seconds = _wait_in_body(body, now, limited)
    if wait_seconds is None and limited:
        wait_seconds = _reset(named, now)
    return None if wait_seconds is None else max(wait_seconds, _LEAST)


def duration(value: Any, now: float) -> float | None:
    """Read seconds: a number, `34s`, `6m0s`, `PT34S`, `0:00:34`, an epoch in seconds or parts of them, or a date."""
    if isinstance(value, bool) or value is None:
        return None
    text = str(value).strip()[:100]
    try:
        number = float(text)
    except ValueError:
        if text.lower().startswith("pt") or _CLOCK.fullmatch(text):
            return _sum_of_parts(text)
        return _sum_of_pieces(text) if _PIECE.match(text) else _until_date(text, now)
    if not math.isfinite(number):
        return None
    while number > _FINER:
        number /= 1000
    if number > _EPOCH_MS:
        return max(0.0, number / 1000 - now)
    return max(0.0, number - now if number > _EPOCH else number)


def _waits_in_headers(named: Mapping[str, str], now: float) -> Iterator[float | None]:
    for name in _RETRY_MS:
        try:
            milliseconds = float(named.get(name, "").strip().removesuffix("ms"))
        except ValueError:
            continue
        yield milliseconds / 1000 if math.isfinite(milliseconds) else None
    for name in _RETRY:
        yield duration(named.get(name) or None, now)


def _wait_in_body(body: Any, now: float, limited: bool) -> float | None:
    text = str(body)[:_LONGEST_BODY]
    if not isinstance(body, str):
        wait = _wait_in_fields(body, now, limited)
        if wait is not None:
            return wait
    delay = _RETRY_DELAY.search(text) or _PROTOBUF.search(text)
    if delay is not None:
        return duration(delay[1], now)
    if not limited:
        return None
    if words := _IN_WORDS.search(text):
        return _sum_of_pieces(words[1])
    if iso := _ISO_IN_WORDS.search(text):
        return _sum_of_parts(iso[1])
    if date := _AT_DATE.search(text):
        return _until_date(_in_utc(date[1]), now)
    if chinese := _IN_CHINESE.search(text):
        return float(chinese[1])
    if plain := _PLAIN.search(text):
        return duration(plain[1], now)
    single = _ONE.search(text)
    return _UNITS[single[1][0].lower()] if single is not None else None


def _wait_in_fields(node: Any, now: float, limited: bool, depth: int = 0) -> float | None:
    """Return the wait in a field of the error, or in headers that a router passes on within it."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, Mapping):
        members = {str(name).lower(): value for name, value in node.items()}
        if isinstance(members.get("headers"), Mapping):
            passed_on = requested_wait(members["headers"], "", now, limited)
            if passed_on is not None:
                return passed_on
        for name in (*_FIELDS, *(_RESET_FIELDS if limited else ())):
            seconds = duration(members.get(name), now) if not isinstance(members.get(name), Mapping | list) else None
            if seconds is not None:
                return seconds / 1000 if name.endswith(("ms", "millis")) else seconds
    inner = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    waits = (_wait_in_fields(member, now, limited, depth + 1) for member in inner if isinstance(member, Mapping | list))
    return next((wait for wait in waits if wait is not None), None)


def _reset(named: Mapping[str, str], now: float) -> float | None:
    """Return the time until the exhausted limit is reset: one with nothing remaining, else the nearest."""
    waits: dict[str, float] = {}
    for name, value in named.items():
        wait = duration(value, now) if _RESET.fullmatch(name) else None
        if wait is not None and wait > 0:
            waits[name] = wait
    exhausted = [wait for name, wait in waits.items() if _is_zero(named.get(name.replace("reset", "remaining")))]
    if exhausted:
        return max(exhausted)
    combined = re.search(r"\b(?:reset|t)\s*=\s*(\d{1,9})", named.get("ratelimit", ""))  # the draft of the IETF
    return min(waits.values()) if waits else float(combined[1]) if combined else None


def _is_zero(value: str | None) -> bool:
    try:
        return value is not None and float(value) <= 0
    except ValueError:
        return False


def _sum_of_pieces(text: str) -> float | None:
    """Parse `1h2m3.5s`, `2 minutes and 5 seconds`; None if there is anything else between the pieces."""
    total, at = 0.0, 0
    text = text.strip()
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return None
        unit = piece[2].lower()
        total += float(piece[1]) * _UNITS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
        at = piece.end()
    return total if math.isfinite(total) else None


def _sum_of_parts(text: str) -> float | None:
    """Parse `PT1H2M3.5S` and `1:02:03.5`."""
    found = _ISO.fullmatch(text) or _CLOCK.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + seconds


def _in_utc(date: str) -> str:
    """Return a date with the zone UTC if it has none."""
    date = re.sub(r"\s?UTC$", "Z", date, flags=re.IGNORECASE)
    return date if re.search(r"(?:Z|[+-]\d\d:?\d\d)$", date, re.IGNORECASE) else f"{date}Z"


def _until_date(text: str, now: float) -> float | None:
    from email.utils import parsedate_to_datetime

    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = parse(text)
            return max(0.0, date.timestamp() - now)
        except (ValueError, TypeError, OverflowError, IndexError, OSError):
            continue
    return None
