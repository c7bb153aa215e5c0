"""Keys are read from the environment, and never come out again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from creval.errors import MissingPartError

__all__ = ["find_key", "missing_key", "redact"]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|key)[-_][A-Za-z0-9_\-*.•…]{6,200}|\bAIza[A-Za-z0-9_\-]{10,100}"
    r"|(?<=[Bb]earer )\S{1,500}"
)
_WORD = re.compile(r"[^\s\"'<>(){},;:]{8,500}")
_MASK = "[key]"
_PIECE = 8  # a run of this many characters of a key gives it away


def find_key(names: Iterable[str], environ: Mapping[str, str] | None = None) -> str | None:
    """Return the value of the first of these environment variables that is set, stripped; None where none is."""
    source = os.environ if environ is None else environ
    for name in names:
        value = source.get(name, "").strip()
        if value:
            return value
    return None


def missing_key(model: str, name: str) -> MissingPartError:
    """The error for a key that is not in the environment, with the command that sets it."""
    return MissingPartError(
        f"the model {model!r} needs a key, and the environment variable {name} is not set",
        cure=f"Set it and run again:  export {name}=<your key>",
    )


def redact(text: str, keys: Iterable[str | None] = ()) -> str:
    """Return `text` without keys: those given, those in the environment, and whatever looks like one.

    Servers echo a key in part ("sk-ab***yz is wrong"); a word that holds eight characters in a row of a key,
    or its start before a mask, is taken out whole.
    """
    secrets = {key for key in keys if key and len(key) >= _PIECE}
    secrets.update(v for n, v in os.environ.items() if len(v) >= _PIECE and _SECRET_NAME.search(n))
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    pieces = {s[i : i + _PIECE] for s in secrets for i in range(min(len(s), 500) - _PIECE + 1)}
    starts = tuple(secret[:4] for secret in secrets)

    def mask(match: re.Match[str]) -> str:
        word = match.group()
        masked = ("*" in word or "..." in word or "…" in word or "•" in word) and word.startswith(starts)
        if masked or any(word[i : i + _PIECE] in pieces for i in range(len(word) - _PIECE + 1)):
            return _MASK
        return word

    return _LOOKS_LIKE_KEY.sub(_MASK, _WORD.sub(mask, text) if secrets else text)
