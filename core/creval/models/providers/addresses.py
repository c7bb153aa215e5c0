"""Server addresses in files and messages, without user, password, and query parameters that may be secret."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from creval.models.secrets import redact

__all__ = ["HIDDEN", "address_secrets", "shown_address", "shown_addresses"]

HIDDEN = "***"
"""Replaces the hidden parts of a shown address. An address that contains it cannot be called."""

_HARMLESS = frozenset({"api-version", "api_version", "version", "region", "deployment", "model"})
"""Names of query parameters whose values are not secret. The values of all others may be, so they are left out."""
_SHORTEST = 8  # a shorter part of a path is taken as a word
_PLAIN = re.compile(r"[A-Za-z0-9._:-]{1,40}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"]+", re.IGNORECASE)


def shown_address(address: str) -> str:
    """Return an address as it may be in a file or message; possible secrets become HIDDEN, a fragment is left out.

    A query parameter is kept if its name is known to be harmless (`api-version`) and its value is a plain word. A part
    of the path is hidden if it contains a key of the environment, or looks like one.
    """
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return HIDDEN
    user, at, host = parts.netloc.rpartition("@")
    query = "&".join(_masked_parameter(part) for part in parts.query.split("&")) if parts.query else ""
    return urlunsplit((parts.scheme, f"{HIDDEN if user else ''}{at}{host}", _masked_path(parts.path), query, ""))


def shown_addresses(text: str) -> str:
    """Return a text, such as a command line, with every address in it replaced by `shown_address`."""
    return _ADDRESS.sub(lambda match: shown_address(match.group()), text)


def address_secrets(address: str | None) -> list[str]:
    """Return the parts that `shown_address` hides, both as written and decoded, to remove them from other texts."""
    if address is None:
        return []
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return [address]
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    hidden = [part for part in parts.path.split("/") if _holds_key(part)]
    hidden += [unquote(part) for part in hidden]
    hidden += [value for part in parts.query.split("&") if _masked_parameter(part) != part for value in _values(part)]
    return [value for value in dict.fromkeys([user, password, unquote(user), unquote(password), *hidden]) if value]


def _masked_path(path: str) -> str:
    return "/".join(HIDDEN if _holds_key(part) else part for part in path.split("/"))


def _holds_key(part: str) -> bool:
    return len(part) >= _SHORTEST and (redact(part) != part or redact(unquote(part)) != unquote(part))


def _masked_parameter(part: str) -> str:
    name, equals, value = part.partition("=")
    if not equals:  # a bare word may be a token
        return HIDDEN if part else part
    return part if name.casefold() in _HARMLESS and _PLAIN.fullmatch(value) else f"{name}={HIDDEN}"


def _values(part: str) -> list[str]:
    value_text = part.partition("=")[2] or part
    return [value_text, unquote(value_text), *(value for _, value in parse_qsl(part))]
