"""Which answers are plain refusals. One recogniser for all parsers; docs/parsing.md tells its phrases.

It is conservative: only a whole short answer that begins with a usual English phrase is one, and only without anything
that looks like a list. What it does not know is read like any other answer.
"""

from __future__ import annotations

import re

from creval.types.components import Parsed

__all__ = ["REFUSAL_ROUTE", "is_refusal", "refused"]

REFUSAL_ROUTE = "refusal"
"""The route of a refusal, under which `results.json` counts it."""

_MAX_CHARACTERS = 400
_MAX_LINES = 4
_MAX_COMMAS = 3


def _any(*phrases: str) -> str:
    return f"(?:{'|'.join(phrases)})"


_SORRY = _any(
    r"(?:i am|i'm)(?: so| very| really| truly| terribly)? sorry",
    "(?:so |very )?sorry",
    "(?:i )?apologi[sz]e",
    "(?:my )?apologies",
    "i regret",
    "unfortunately",
    "regrettably",
)
_AS_A_MODEL = r"as (?:an?|your) (?:\w+ ){0,3}(?:ai|assistant|language model|llm|chatbot|model)(?: \w+){0,4}"
_LEAD = _any(_SORRY, _AS_A_MODEL, "no", "oh", "well", "hmm", "hi", "hello", "thanks", "thank you", "i understand")
_JOIN = r"(?: for (?:any|the) \w+| about that| to say)?[,.!:;]*(?: (?:but|and|however|that))?,? ?"
_DO = _any(
    *("accommodate", "agree", "answer", "assist", "be able", "comply", "complete", "continue", "create", "discuss"),
    *("do", "engage", "fulfill?", "generate", "give", "have", "help", "in good conscience", "list", "name", "offer"),
    *("participate", "perform", "proceed", "process", "produce", "provide", "reply", "respond", "say", "share"),
    *("suggest", "support", "write"),
)
_CANNOT = _any(
    *("can't", "cannot", "can not", "cant", "couldn't", "could not", "won't", "will not", "wont", "shouldn't"),
    *("should not", "(?:am|'m) not going to"),
)
_UNABLE = r"(?:am|'m) " + _any(
    *("not able", "unable", "not allowed", "not permitted", "not in a position", "not comfortable", "not willing"),
    *("not programmed", "not designed", f"afraid (?:that )?i {_CANNOT}"),
)
_RATHER = _any(r"(?:would|'d) (?:rather|prefer) not", "prefer not to")
_DECLINE = (
    r"(?:(?:must|have to|need to|will|'ll) )?(?:(?:respectfully|politely|kindly) )?"
    r"(?:decline|refuse)(?: to\b| this\b| that\b|[.!,]|$)"
)
_LACK = r"(?:don't|do not) " + _any(
    "have (?:the ability|the capability|access|enough information|personal)",
    *("feel comfortable", "feel able", "wish to", "want to"),
)
_ABOUT_I = r"i ?(?:(?:really|just|simply|also|still) )?" + _any(
    rf"{_CANNOT}(?: (?:and|or) (?:will|would|can) ?not)?(?: {_DO}\b|[.!]|$)", _UNABLE, _RATHER, _DECLINE, _LACK
)
_ABOUT_THE_REQUEST = r"(?:this|that|it|your request|the request|this request|this prompt) " + _any(
    r"(?:isn't|is not) something i (?:can|am able|will|could)", "goes against", "violates", "is against"
)
_REFUSAL = re.compile(
    _any(
        rf"(?:{_LEAD}{_JOIN}){{0,4}}" + _any(_ABOUT_I, _ABOUT_THE_REQUEST),
        r"no comment\b",
        r"request (?:denied|refused|declined)\b",
        r"(?:(?:i am|i'm)(?: so| very)? sorry|i apologi[sz]e|my apologies)[.!]?$",
        r"sorry[.!]$",
    )
)
_LIST = re.compile(
    r"[\[\]{};|•]|(?:^|\n)\s*(?:\d{1,3}[.)]|[-*+])\s|:\s*\S"
    r"|\b(?:here (?:are|is)|here's|for example|for instance|e\.g\.|such as|instead)\b"
)


def is_refusal(text: str) -> bool:
    """Whether a whole answer is a plain refusal and nothing else."""
    if len(text) > _MAX_CHARACTERS or text.strip().count("\n") >= _MAX_LINES:
        return False
    plain = text.strip().strip("\"'“”*_ ").lower().replace("’", "'").replace("‘", "'").replace("`", "'")
    if _LIST.search(plain) or plain.count(",") > _MAX_COMMAS:
        return False
    return _REFUSAL.match(re.sub(r"\s+", " ", plain)) is not None


def refused() -> Parsed:
    """Return the failure of an answer that is a refusal; it is counted under the route `refusal`."""
    return Parsed.failure("the answer is a refusal", REFUSAL_ROUTE)
