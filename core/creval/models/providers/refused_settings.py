"""Which setting of a request a server refused, read from the words of its error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["RefusedSetting", "refused_setting"]

_REFUSED = re.compile(
    r"(?i)not (?:currently |yet |be )?(?:support|allow|permit|accept|enabled|available|valid|compatible|implemented)"
    r"|(?:un|in|dis)(?:supported|valid|allowed|compatible|recognized|recognised|known|expected)|deprecated"
    r"|no longer|removed|cannot|can not|can't|doesn't|don't|isn't|aren't|may only|must"
    r"|only (?:the default|supports?|accepts?|one)"
    r"|only [\w.=]+ is supported|extra inputs?|forbidden|out of (?:range|bounds)|range:|should be|too (?:high|low|big)"
    r"|(?:above|below) (?:the )?m(?:ax|in)imum|less than or equal|greater than or equal|refuse|reject"
)
_CONFLICT = re.compile(
    r"(?i)\bboth\b|together|mutually exclusive|only one|either\b.*\bor\b|at the same time|simultaneous|combin|exclusive"
    r"|(?:alter|modify|set|specify|use)(?:ing)? [`'\"\w]+ or [`'\"\w]+,? but not"
)
_NAMED = r"""(?ix)(?:unsupported|unrecognized|unknown|unexpected|extra|invalid)\s+(?:parameter|value|argument
    |request\s+argument|field|name|property|key)s?\s*(?:supplied|name)?:?\s*['"`]?(?P<a>[a-z_][a-z_.]{1,40})['"`]?
    |['"`](?P<b>[a-z_][a-z_.]{1,40})['"`]?\s*(?::\s*)?(?:is|are|does)\s+(?:not\s+(?:support|allow)|unsupported)
    |does\s+not\s+support\s+param(?:eter)?s?:?\s*\[?['"`](?P<c>[a-z_]{2,40})"""
_INSTEAD = re.compile(r"(?i)(?:use|with|by|set|to)\s+['\"`]?(max_(?:completion|output|new)_tokens)\b")
_CONTEXT = re.compile(
    r"(?i)context[ _](?:length|window|size)|maximum (?:input|sequence|model) length|too (?:large|long)\b.*context"
    r"|(?:prompt|input|messages?) (?:is|are) too (?:large|long)"
)
_PLAIN_WORDS = frozenset({"stop", "seed", "n", "user", "store", "tools", "modalities", "reasoning", "thinking"})
_CALLED = r"(?:parameters?|arguments?|fields?|propert(?:y|ies)|settings?|options?|inputs?)"


class RefusedSetting(NamedTuple):
    """`name` is the setting to take away; `other` the one that it does not go with; `instead` the one to use."""

    name: str
    other: str = ""
    instead: str = ""


def refused_setting(message: str, code: str, param: str, sent: Sequence[str]) -> RefusedSetting | None:
    """Return the setting that a server refused, None where the words are about something else.

    `param` is the parameter that the error itself names, `sent` are the names of the settings in the request.
    """
    named = _in_order(message, sent)
    if len(named) > 1 and _CONFLICT.search(message):
        last = "top_p" if "top_p" in named else named[-1]
        return RefusedSetting(last, other=next(name for name in named if name != last))
    instead = _INSTEAD.search(message)
    if instead is not None and "max_tokens" in message and instead[1] not in sent:
        return RefusedSetting("max_tokens", instead=instead[1].lower())
    found = re.search(_NAMED, message)
    if param and (found or "unsupported" in code or "unknown_parameter" in code):
        return RefusedSetting(param)
    if found is not None:
        name = next((group for group in found.groups() if group), "")
        name = _camel(sent).get(name, name)
        if name in sent or (name and "value" not in found[0].lower()):  # "invalid value: the ..." names nothing
            return RefusedSetting(name)
    if _CONTEXT.search(message) or not _REFUSED.search(message):
        return None
    if param in sent:
        return RefusedSetting(param)
    return RefusedSetting(named[0]) if named else None


def _camel(sent: Sequence[str]) -> dict[str, str]:
    """The names as some servers spell them: presencePenalty."""
    return {re.sub(r"_([a-z])", lambda found: found[1].upper(), name): name for name in sent}


def _in_order(message: str, sent: Sequence[str]) -> list[str]:
    """The settings that a message names, in its order; a plain word only where it is marked as a name."""
    places: dict[str, int] = {}
    for spelt, name in [*_camel(sent).items(), *((name, name) for name in sent)]:
        word = re.escape(spelt)
        marked = (
            rf"['\"`\[]{word}['\"`\]:=]|{_CALLED}:?\s+{word}\b|\b{word}\s+{_CALLED}\b"
            rf"|body[.\"', ]+{word}\b|\A{word}:|:\s*{word}\.?\Z"
        )
        pattern = marked if spelt in _PLAIN_WORDS else rf"(?<![\w.]){word}(?!\w)"
        found = re.search(pattern, message)
        if found is not None:
            places[name] = min(found.start(), places.get(name, found.start()))
    return sorted(places, key=places.__getitem__)
