"""Decide whether a failed call is worth another try, and how to report it to the user.

This module also finds the setting that a server refused, from the text of its error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any, NamedTuple

from creval.errors import ContextLengthError, FatalModelError, ModelError, RetryableModelError
from creval.lazy_pattern import lazy_pattern
from creval.models.providers.chat_request import LIMITS
from creval.models.secrets import redact
from creval.types.messages import GenerateRequest

__all__ = ["Caller", "Failure", "declined", "error_of", "explain", "failure_in", "plain_text", "refused_setting"]


_REFUSED = lazy_pattern(
    r"(?i)not (?:currently |yet |be )?(?:support|allow|permit|accept|enabled|available|valid|compatible|implemented)"
    r"|(?:un|in|dis)(?:supported|valid|allowed|compatible|recognized|recognised|known|expected)|deprecated"
    r"|no longer|removed|cannot|can not|can't|doesn't|don't|isn't|aren't|may only|must"
    r"|only (?:the default|supports?|accepts?|one)"
    r"|only [\w.=]+ is supported|extra inputs?|forbidden|out of (?:range|bounds)|range:|should be|too (?:high|low|big)"
    r"|not a (?:valid|known|supported)|is disabled|conflict|only [a-z]=\d|unexpected keyword"
    r"|不支持|不允许|不能|无效|不合法|no se admite|pas pris en charge|nicht unterstützt|サポートされていません"
    r"|(?:above|below) (?:the )?m(?:ax|in)imum|less than or equal|greater than or equal|refuse|reject"
)

_CONFLICT = lazy_pattern(
    r"(?i)\bboth\b|together|conflict|mutually exclusive|only one"
    r"|either\b.*\bor\b|at the same time|simultaneous|combin|exclusive"
    r"|\bone of\b.*\b(?:or|and)\b|(?:alter|modify|set|specify|use)(?:ing)? [`'\"\w]+ or [`'\"\w]+,? but not"
)

_NAMED = r"""(?ix)(?:unsupported|unrecognized|unknown|unexpected|extra|invalid)\s+
    (?:parameter|value|argument|keyword\s+argument|request\s+argument|field|name|property|key)s?\s*(?:supplied|name)?:?\s*
    (?!(?:not|is|are|was|were|for|in)\b)['"`]?(?P<a>[a-z_][a-z_.]{1,40})['"`]?
    |['"`](?P<b>[a-z_][a-z_.]{1,40})['"`]?\s*(?::\s*)?(?:is|are|does)\s+(?:not\s+(?:support|allow)|unsupported)
    |does\s+not\s+support\s+param(?:eter)?s?:?\s*\[?['"`](?P<c>[a-z_]{2,40})"""

_INSTEAD = lazy_pattern(r"(?i)(?:use|with|by|set|to)\s+['\"`]?(max_(?:completion|output|new)_tokens)\b")

_CONTEXT_SETTINGS = lazy_pattern(
    r"(?i)context[ _](?:length|window|size)|maximum (?:input|sequence|model) length|too (?:large|long)\b.*context"
    r"|(?:prompt|input|messages?) (?:is|are) too (?:large|long)"
)

_PLAIN_WORDS = frozenset({"stop", "seed", "n", "user", "store", "tools", "modalities", "reasoning", "thinking"})

_CONTENT = lazy_pattern(
    r"(?i)\b(?:messages?|content|prompts?|inputs?|questions?|images?|texts?|file|string|answer|response|completion)\b"
)
"""Words of an error about the question: there, temperature is a setting only if it is written as one."""

_PLACE_IN_MESSAGES = lazy_pattern(r"(?i)\b(?:messages|contents|input|prompt)[.\[]\s?['\"]?\d")

_CALLED = r"(?:parameters?|arguments?|fields?|propert(?:y|ies)|settings?|options?|inputs?)"


class RefusedSetting(NamedTuple):
    """`name` is the setting to remove; `other` the one that it conflicts with; `instead` the one to use."""

    name: str
    other: str = ""
    instead: str = ""


def refused_setting(message: str, code: str, param: str, names: Sequence[str]) -> RefusedSetting | None:
    """Return the setting that a server refused, None if the error is about something else.

    `param` is the parameter that the error names, `names` are the names of the settings in the request.
    """
    if param not in names and (_PLACE_IN_MESSAGES.match(param) or _PLACE_IN_MESSAGES.search(message)):
        return None
    named = _in_order(message, names)
    if len(named) > 1 and _CONFLICT.search(message):
        last = "top_p" if "top_p" in named else named[-1]
        return RefusedSetting(last, other=next(name for name in named if name != last))
    instead = _INSTEAD.search(message)
    if instead is not None and "max_tokens" in message and instead[1] not in names:
        return RefusedSetting("max_tokens", instead=instead[1].lower())
    match = re.search(_NAMED, message)
    if param and (match or "unsupported" in code or "unknown_parameter" in code):
        return RefusedSetting(param)
    if match is not None:
        name = next((group for group in match.groups() if group), "")
        name = _camel(names).get(name, name)
        if name in names or (name and "value" not in match[0].lower()):  # "invalid value: the ..." names nothing
            return RefusedSetting(name)
    if _CONTEXT_SETTINGS.search(message) or not _REFUSED.search(message):
        return None
    if param in names:
        return RefusedSetting(param)
    return RefusedSetting(named[0]) if named else None


def _camel(names: Sequence[str]) -> dict[str, str]:
    """Return the names as some servers spell them: presencePenalty."""
    return {re.sub(r"_([a-z])", lambda match: match[1].upper(), name): name for name in names}


def _spaced(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names as people write them: reasoning effort. Ambiguous words, such as max tokens, are absent."""
    words = [(name.replace("_", " "), name) for name in names if name.endswith(("_effort", "_penalty", "_format"))]
    return [*words, *((f"stop{sign}sequences", "stop") for sign in " _" if "stop" in names)]


def _in_order(message: str, names: Sequence[str]) -> list[str]:
    """Return the settings that a message names, in order; a plain word only if it is marked as a name."""
    places: dict[str, int] = {}
    in_prose = _CONTENT.search(message) is not None
    for spelt, name in [*_camel(names).items(), *((name, name) for name in names), *_spaced(names)]:
        word = re.escape(spelt)
        marked = (
            rf"['\"`\[]{word}['\"`\]:=]|{_CALLED}:?\s+{word}\b|\b{word}\s+{_CALLED}\b"
            rf"|body[.\"',]+[\"', ]*{word}\b|\A{word}:|:\s*{word}\.?\Z"
            rf"|\A{word} (?:is|are) not\b|(?:\A|\b[Oo]nly ){word} ?[=>] ?\d"
        )
        if spelt == "temperature" and in_prose:
            marked += rf"|\A{word}\s|\b{word}\s?=\s?\d|\b{word} (?:and|or) `?top_|\btop_\w`? (?:and|or) {word}\b"
        is_prose = spelt in _PLAIN_WORDS or (spelt == "temperature" and in_prose)
        pattern = marked if is_prose else rf"(?<![\w.]){word}(?!\w)"
        match = re.search(pattern, message)
        if match is not None:
            places[name] = min(match.start(), places.get(name, match.start()))
    return sorted(places, key=places.__getitem__)


_LONGEST = 300  # characters of a server's message that are shown

_RETRYABLE_4XX = frozenset({408, 409, 423, 425, 429})

_FATAL_5XX = frozenset({501, 505})

_OUT_OF_MONEY = (
    "insufficient_quota",
    "insufficient_credit",
    "insufficient_balance",
    "insufficient_user_quota",
    "billing",
    "payment_required",
    "exceeded_current_quota",
    "arrearage",
    "account_overdue",
)

_SPENDING_LIMIT = r"(?i)(spend|spending|usage|credit|budget|key|monthly|weekly|daily) +limit|limit +exceeded"

_AFFORDABLE = r"(?i)can only afford (\d+)"

_TOO_MANY_TOKENS = rf"{_AFFORDABLE}|(?:fewer|lower|reduce|decrease)[^.]{{0,40}}max_(?:completion_)?tokens"

_CONTEXT = r"(?i)context[ _](?:length|window|size)|maximum (?:input|sequence|model) length|too (?:large|long)"

_LIMIT = r"(?i)max_(?:completion_|new_|output_)?tokens|completion tokens|in the (?:completion|output)|of output"

_CONTEXT_SIZE = r"(?i)(?:context|model|sequence)[^.\d]{0,60}?(?:length|window|size|limit)[^.\d]{0,20}?(\d{2,9})"

_REQUEST_TOO_LARGE = r"(?i)\brequest (?:is )?too large\b"

_TOO_HIGH = lazy_pattern(
    r"(?i)max_?(?:completion_|new_|output_)?tokens\b.*(?:too (?:large|high|big|many)|at most|exceed|greater than"
    r"|maximum|less than|above|up to|<=|> ?\d|range|between|limit of)"
    r"|(?:exceed|above|over|larger than)\w* .*max_\w*tokens"
)
_MOST_TOKENS = lazy_pattern(
    r"(?i)(?:at most|less than or equal to|up to|maximum (?:of|value of|is|allowed)|limit of|>|<=|[\[(] ?\d+ ?,"
    r"|between \d+ and|max(?:imum)?(?: value)?:)\D{0,25}?(\d{2,9})"
)

_DECLINED = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation")


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: HTTP status (None: no response), the server's message, code and parameter.

    `wait` is the seconds that the server asks to wait, None if it names none. `limit` is the token limit and
    `setting_names` the names of the settings that were sent. `within`: the failure was in a reply of status 200.
    """

    status: int | None
    message: str
    code: str = ""
    param: str = ""
    wait: float | None = None
    limit: int | None = None
    setting_names: tuple[str, ...] = ()
    within: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, for the wording of errors. `keys` are removed from every text, `key_name` is the key's variable."""

    where: str
    model: str
    key_name: str | None = None
    keys: tuple[str | None, ...] = ()


def error_of(status: int | None, body: str, headers: Mapping[str, str], now: float | None = None) -> Failure:
    """Read the error body of a chat-completions server, whatever its form.

    `now` is the time in seconds since the epoch (by default the current time), for waits given as a date.
    """
    error: Any = body
    parsed: Any = body
    try:
        parsed = json.loads(body)
        first = parsed[0] if isinstance(parsed, list) and len(parsed) == 1 else parsed  # Gemini wraps it in a list
        error = first.get("error", first.get("detail", first)) if isinstance(first, dict) else parsed
    except (ValueError, RecursionError):
        pass
    return failure_in(error, status, headers, parsed, now)


def failure_in(
    error: Any,
    status: int | None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    now: float | None = None,
) -> Failure:
    """Build a Failure from an `error` object; a status within it (routers wrap it in a 200) takes precedence.

    `body` is the whole body, if it contains more than the error.
    """
    from creval.models.providers.requested_waits import requested_wait  # its patterns are needed only after a failure

    now = time() if now is None else now
    whole_body = error if body is None else body
    if not isinstance(error, Mapping):
        wait = requested_wait(headers or {}, whole_body, now, status == 429)
        return Failure(status, plain_text(str(error)), wait=wait)
    within = status is None
    code = error.get("code")
    code = int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3 else code
    if isinstance(code, int) and 400 <= code < 600:
        status = code
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    message = str(error.get("message") or error.get("msg") or json.dumps(dict(error), default=str))
    if raw and str(raw) not in message:
        message = f"{message}: {raw}"
    words = (error.get("code"), error.get("type"), _inner_code(error))
    return Failure(
        status,
        plain_text(message),
        code=" ".join(str(word).lower() for word in words if word and not isinstance(word, int)),
        param=str(error.get("param") or ""),
        wait=requested_wait(headers or {}, whole_body, now, status == 429),
        within=within,
    )


def with_request_settings(failure: Failure, request: GenerateRequest) -> Failure:
    """Return a failure with the names of the request's settings and its token limit."""
    setting_names = tuple(name for name, value in request.settings.items() if value is not None)
    limits = (request.settings.get(name) for name in LIMITS)
    return replace(
        failure, setting_names=setting_names, limit=next((limit for limit in limits if isinstance(limit, int)), None)
    )


def declined(failure: Failure) -> bool:
    """Return whether the provider's content filter stopped the question: a refusal, not a fault."""
    words = f"{failure.code} {failure.message}".lower()
    if (failure.status in (400, 403) or failure.within) and any(word in words for word in _DECLINED):
        return True
    if failure.within and "flagged" in words and ("content" in words or "moderation" in words):
        return True
    return failure.status == 403 and "moderation" in words and "flagged" in words


def explain(failure: Failure, caller: Caller) -> ModelError:
    """Convert a failure to the error to raise."""
    status = failure.status
    message = redact(failure.message, caller.keys)[:_LONGEST].strip() or "nothing"
    what = f"{f'HTTP {status}' if status else 'the call failed'}, the server said: {message}"
    if _will_pass(failure):
        return RetryableModelError(what, where=caller.where, http_status=status, retry_after=failure.wait)
    if _limit_is_too_high(failure):
        return _lower_limit(failure, caller, what)
    refused = _refused(failure)
    if refused is not None:
        return _refusal(refused, failure, caller, what)
    verdict = _verdict(failure, caller)
    kind = ContextLengthError if verdict.too_long else FatalModelError
    return kind(
        what,
        where=caller.where,
        fix=verdict.fix,
        http_status=status,
        every_call=verdict.every_call,
        closed=verdict.closed,
    )


def _option_name(parameter: str) -> str:
    """Return the parameter's name on the command line; an unknown setting is under extra."""
    from creval.tasks.sections.settings import generation_settings

    return parameter if parameter in generation_settings() else f"extra.{parameter}"


class _Judgement(NamedTuple):
    """The treatment of a fatal failure; see FatalModelError for the rest."""

    fix: str
    every_call: bool = False
    closed: bool = False
    too_long: bool = False


def plain_text(text: str) -> str:
    """Return one line of readable text: for an HTML page its title, else the text with white space collapsed."""
    head = text[:4000]
    if "<html" in head.lower() or "<!doctype" in head.lower():
        title = re.search(r"<title[^>]{0,100}>([^<]{1,200})", head, re.IGNORECASE)
        return f"an HTML page ({title.group(1).strip()})" if title else "an HTML page"
    return " ".join(head.split())


def _inner_code(error: Mapping[str, Any]) -> str:
    inner = error.get("innererror")
    return str(inner.get("code", "")) if isinstance(inner, Mapping) else ""


def _will_pass(failure: Failure) -> bool:
    status = failure.status
    if any(word in failure.code for word in _OUT_OF_MONEY):
        return False
    if status == 429 and re.search(_REQUEST_TOO_LARGE, failure.message):  # larger than a whole minute's limit
        return False
    if status == 402:  # some servers stop an account for a while
        return failure.wait is not None and not re.search(_TOO_MANY_TOKENS, failure.message)
    if status is None or 200 <= status < 300:  # no response, or a nonsensical one
        return True
    return status in _RETRYABLE_4XX or (status >= 500 and status not in _FATAL_5XX)


def _refused(failure: Failure) -> RefusedSetting | None:
    """Return the setting that the server refused, None for any other failure."""
    if failure.status not in (400, 422):
        return None

    return refused_setting(failure.message, failure.code, failure.param, failure.setting_names)


def _refusal(refused: RefusedSetting, failure: Failure, caller: Caller, what: str) -> FatalModelError:
    """Return the error that names the refused setting and the option that removes it."""
    without = f"--generation {_option_name(refused.name)}=null"
    text = f"the model does not accept the setting {refused.name!r} as it was sent"
    fix = f"Leave it out with {without}, or give a value that the model accepts."
    if refused.other:
        text = f"the model accepts only one of the settings {refused.other!r} and {refused.name!r}"
        fix = f"Leave one out:  {without}   or   --generation {_option_name(refused.other)}=null"
    elif refused.instead:
        value = failure.limit or "N"
        fix = f"Use the other name:  {without} --generation {_option_name(refused.instead)}={value}"
    return FatalModelError(f"{text}; {what}", where=caller.where, fix=fix, http_status=failure.status, every_call=True)


def _limit_is_too_high(failure: Failure) -> bool:
    """Return whether the model's maximum is below the limit that was sent."""
    if failure.status not in (400, 422) or failure.limit is None or _CONTEXT_SETTINGS.search(failure.message):
        return False
    return bool(_TOO_HIGH.search(failure.message)) and not _INSTEAD.search(failure.message)


def _lower_limit(failure: Failure, caller: Caller, what: str) -> FatalModelError:
    """Return the error that names the option to lower the limit, with the server's stated maximum."""
    name = next((name for name in failure.setting_names if name in LIMITS), "max_tokens")
    maxima = (int(number_text) for number_text in _MOST_TOKENS.findall(failure.message))
    most = next((number for number in maxima if failure.limit is not None and number < failure.limit), None)
    fix = f"Lower it to at most {most}" if most else "Lower it"
    return FatalModelError(
        f"the limit of {failure.limit} tokens is more than the model allows; {what}",
        where=caller.where,
        fix=f"{fix}:  --generation {_option_name(name)}={most or 'N'}",
        http_status=failure.status,
        every_call=True,
    )


def _verdict(failure: Failure, caller: Caller) -> _Judgement:
    status, words = failure.status, f"{failure.code} {failure.message}".lower()
    if status == 402 and re.search(_TOO_MANY_TOKENS, failure.message):
        affordable = re.search(_AFFORDABLE, failure.message)
        most = f" to at most {affordable[1]}" if affordable else ""
        value = affordable[1] if affordable else "..."
        return _Judgement(f"Lower the limit{most} (--generation max_tokens={value}), or add credit.", True)
    if any(word in failure.code for word in _OUT_OF_MONEY) or status == 402:
        return _Judgement("Add credit to the account, then continue.", closed=True)
    if status == 401:
        if caller.key_name is None:
            return _Judgement("Check the key in the provider's environment variable.", closed=True)
        return _Judgement(f"Check the key:  export {caller.key_name}=<your key>", closed=True)
    if status == 403:
        if re.search(_SPENDING_LIMIT, failure.message):
            return _Judgement("Raise the spending limit of the key or account, then continue.", closed=True)
        every_call = "an html page" not in words  # a firewall's page may be about this one question
        return _Judgement(f"The key is not allowed to use {caller.model!r}; ask the provider for access.", every_call)
    if status in (301, 302, 307, 308, 404, 405, 410):
        fix = f"Check the model's name {caller.model!r} and the base URL; that of most servers ends in /v1."
        return _Judgement(fix, every_call=True)
    if status == 413 or re.search(_CONTEXT, words):
        return _too_long(failure)
    return _Judgement("The server rejects the request; see its message.")


def _too_long(failure: Failure) -> _Judgement:
    """Distinguish a question that is too long from an answer limit that leaves no room for it."""
    if not re.search(_LIMIT, failure.message):
        return _Judgement("The question is too long for this model; use one with a longer context.", too_long=True)
    size = re.search(_CONTEXT_SIZE, failure.message)
    requested = re.search(
        r"(?i)(?:max_(?:completion_)?tokens[^.\d]{0,40}?(?:large|:|=| is| of) *:? *(\d+)"
        r"|(\d+) (?:tokens )?(?:in|of|for) (?:the )?(?:completion|output))",
        failure.message,
    )
    limit = failure.limit or (int(next(filter(None, requested.groups()))) if requested else None)
    every_call = limit is not None and size is not None and limit >= int(size[1])
    every_call = every_call or (size is None and "context" not in failure.message.lower())
    named = f" of {limit}" if limit else ""
    fix = f"The limit{named} leaves no room for the question in the context: lower it (--generation max_tokens=...)."
    return _Judgement(fix, every_call, too_long=not every_call)
