"""Reads keys from the environment, and removes them from everything that is stored or shown.

They are removed from servers' answers, errors and addresses. A task's data, conditions and ids are never secret,
whatever the environment contains.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import quote

from creval.errors import MissingPartError
from creval.types.messages import Completion, Reply

__all__ = ["Mask", "find_key", "likely_secrets", "masked_reply", "missing_key", "redact", "secret_variables"]

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_PLACE = re.compile(r"_(?:DIR|DIRECTORY|FOLDER|PATH|FILE|HOME)$", re.IGNORECASE)
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai|key)[-_][A-Za-z0-9_\-*.•…]{6,200}|\bAIza[A-Za-z0-9_\-]{10,100}"
    r"|(?<=[Bb]earer )\S{1,500}"
)
_WORD = re.compile(r"[^\s\"'<>(){},;:]{8,500}")
_LIKE_A_KEY = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[^\s/~]\S{15,}")
_MASK = "[key]"
_PIECE = 8  # this many consecutive characters of a key reveal it


def find_key(names: Iterable[str], environ: Mapping[str, str] | None = None) -> str | None:
    """Return the stripped value of the first of these environment variables that is set, or None."""
    source = os.environ if environ is None else environ
    for name in names:
        value = source.get(name, "").strip()
        if value:
            return value
    return None


def missing_key(model: str, name: str) -> MissingPartError:
    """Return the error for a key that is not in the environment, with the command that sets it."""
    return MissingPartError(
        f"the model {model!r} needs a key, and the environment variable {name} is not set",
        fix=f"Set it and run again:  export {name}=<your key>",
    )


def secret_variables(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment variables whose names look like those of keys, with their values."""
    source = os.environ if environ is None else environ
    named = {name: value.strip() for name, value in source.items() if _SECRET_NAME.search(name)}
    return {name: value for name, value in named.items() if value and not _PLACE.search(name) and not _is_place(value)}


def _is_place(value: str) -> bool:
    """Whether a value is an existing path: litellm sets TIKTOKEN_CACHE_DIR, and a path is not a key."""
    try:
        return value.startswith(("/", "~/")) and os.path.exists(os.path.expanduser(value))  # noqa: PTH110, PTH111
    except ValueError:
        return False


def likely_secrets(environ: Mapping[str, str] | None = None) -> list[str]:
    """Return the values of such variables that also look like a key: long, letters and digits, not a path or sentence.

    SORT_KEY=creativity is not a key: hiding it would change answers.
    """
    return [value for value in secret_variables(environ).values() if _LIKE_A_KEY.fullmatch(value)]


class Mask:
    """Removes secrets from a server's answers, in every form that they may have there.

    The forms are: unchanged, percent-encoded, escaped for JSON, in base64 (also inside a longer text), in hex, and with
    white space between the characters. Secrets of fewer than eight characters stay: `EMPTY` is a word that a model may
    use.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        longest_first = sorted({secret for secret in secrets if len(secret) >= _PIECE}, key=len, reverse=True)
        self._forms = sorted({form for secret in longest_first for form in _forms(secret)}, key=len, reverse=True)
        self._spaced = [(secret, re.compile(r"\s*".join(map(re.escape, secret)))) for secret in longest_first]

    def __bool__(self) -> bool:
        return bool(self._forms)

    def hide(self, text: str) -> str:
        """Return the text with [key] in place of every secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, _MASK)
        if self._spaced:
            squeezed = "".join(text.split())
            for secret, pattern in self._spaced:
                if secret in squeezed:
                    text = pattern.sub(_MASK, text)
        return text


def _forms(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogatepass")
    forms = {secret, quote(data, safe=""), quote(data), "".join(f"%{byte:02X}" for byte in data), data.hex()}
    forms |= {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], data.hex().upper()}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(data).decode())
        for before in range(3):  # preceding bytes shift the text; the characters at its ends encode both
            code = encode(b"\0" * before + data).decode().rstrip("=")
            forms.add(code[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6])
    return {form for form in forms if len(form) >= _PIECE}


def redact(text: str, keys: Iterable[str | None] = ()) -> str:
    """Return `text` without keys: those in `keys`, those in the environment, and everything that looks like one.

    Servers repeat keys in part ("sk-ab***yz is wrong"): a word with eight consecutive characters of a key, or with its
    start before a mask, is removed completely.
    """
    known = {key for key in keys if key}
    secrets = {key for key in (*known, *secret_variables().values()) if len(key) >= _PIECE}
    text = Mask(secrets).hide(text)
    for short in known - secrets:
        text = re.sub(rf"(?<!\w){re.escape(short)}(?!\w)", _MASK, text)
    pieces = {s[i : i + _PIECE] for s in secrets for i in range(min(len(s), 500) - _PIECE + 1)}
    starts = tuple(secret[:4] for secret in secrets)

    def mask(match: re.Match[str]) -> str:
        word = match.group()
        masked = ("*" in word or "..." in word or "…" in word or "•" in word) and word.startswith(starts)
        if masked or any(word[i : i + _PIECE] in pieces for i in range(len(word) - _PIECE + 1)):
            return _MASK
        return word

    return _LOOKS_LIKE_KEY.sub(_MASK, _WORD.sub(mask, text) if secrets else text)


def masked_reply(reply: Reply, mask: Mask) -> Reply:
    """Return a reply without any secret of `mask` in its texts and names."""
    completions = tuple(_masked(completion, mask) for completion in reply.completions)
    model, served = (None if text is None else mask.hide(text) for text in (reply.model, reply.served_by))
    if completions == reply.completions and (model, served) == (reply.model, reply.served_by):
        return reply
    return replace(reply, completions=completions, model=model, served_by=served)


def _masked(completion: Completion, mask: Mask) -> Completion:
    text = mask.hide(completion.text)
    reasoning, refusal = (
        None if part is None else mask.hide(part) for part in (completion.reasoning, completion.refusal)
    )
    calls = tuple(
        replace(call, name=mask.hide(call.name), arguments=mask.hide(call.arguments)) for call in completion.tool_calls
    )
    original = (completion.text, completion.reasoning, completion.refusal, completion.tool_calls)
    if (text, reasoning, refusal, calls) == original:
        return completion
    # The tokens would reveal what is hidden in the text.
    tokens = completion.logprobs if text == completion.text else None
    return replace(completion, text=text, reasoning=reasoning, refusal=refusal, logprobs=tokens, tool_calls=calls)
