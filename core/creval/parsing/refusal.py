"""Recognises plain refusals, and headings that announce the last of several lists.

All parsers share the recogniser of refusals; docs/parsing.md lists its phrases.

It is conservative: a refusal is a short answer, in English or one of some other languages, that as a whole begins with
a usual phrase and contains nothing that looks like a list. Anything else is read like any other answer.
"""

from __future__ import annotations

import re

from creval.lazy_pattern import lazy_pattern
from creval.types.components import Parsed

__all__ = ["REFUSAL_ROUTE", "is_refusal", "refused", "speaks_of_the_last"]

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
_I_AM_A_MODEL = (
    r"(?:i am|i'm) (?:just |only )?(?:\w+, )?an? (?:\w+ ){0,3}(?:ai|assistant|language model|llm|chatbot)(?: \w+){0,4}"
)
_LEAD = _any(
    _SORRY, _AS_A_MODEL, _I_AM_A_MODEL, "no", "oh", "well", "hmm", "hi", "hello", "thanks", "thank you", "i understand"
)
_JOIN = r"(?: for (?:any|the) \w+| about that| to say)?(?: ?[,.!:;—–-]+)?(?: (?:but|and|however|that))?,? ?"
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
    r"(?:(?:must|have to|need to|will|'ll|am going to|'m going to) )?(?:have to )?"
    r"(?:(?:respectfully|politely|kindly) )?"
    r"(?:decline|refuse|pass)(?: to\b| on (?:this|that)\b| this\b| that\b|[.!,]|$)"
)
_LACK = r"(?:don't|do not) " + _any(
    "have (?:the ability|the capability|access|enough information|personal)",
    *(
        "feel comfortable",
        "feel able",
        "wish to",
        "want to",
        "have (?:any )?(?:answers?|ideas?|suggestions?|uses|words)",
    ),
    *(
        "provide",
        "generate",
        "discuss",
        "engage",
        "know[.!]?$",
        "(?:think|believe|feel) (?:that )?i (?:can|could|should|am able)",
    ),
)
_ABOUT_I = r"(?:i|we) ?(?:(?:really|just|simply|also|still) )?" + _any(
    rf"{_CANNOT}(?: (?:and|or) (?:will|would|can) ?not)?(?: {_DO}\b|[.!]|$)", _UNABLE, _RATHER, _DECLINE, _LACK
)
_ABOUT_THE_REQUEST = r"(?:this|that|it|(?:(?:your|the|this|that) )?(?:request|prompt|question|content|topic)) ?" + _any(
    *(r"(?:isn't|is not|'s not) something i (?:can|am able|will|could)", "goes against", "violates", "is against"),
    *(
        r"(?:would be|is|'s) (?:inappropriate|not appropriate) for me",
        "(?:is|'s) against (?:my|the) ",
        f"{_CANNOT} be (?:answered|completed|fulfilled|processed)",
    ),
)
_ABOUT_RULES = r"my (?:\w+ )?(?:guidelines|policies|policy|principles|programming|rules) " + _any(
    "(?:prevents?|prohibits?|forbids?) ", "(?:does|do)(?:n't| not) (?:allow|let|permit) "
)
_REFUSAL = lazy_pattern(
    _any(
        rf"(?:{_LEAD}{_JOIN}){{0,4}}" + _any(_ABOUT_I, _ABOUT_THE_REQUEST, _ABOUT_RULES),
        r"no comment\b",
        rf"(?:{_LEAD}{_JOIN}){{0,2}}(?:nope,? )?{_CANNOT} {_DO}\b",
        rf"(?:{_LEAD}{_JOIN}){{0,2}}(?:not able|unable|not allowed) to {_DO}\b",
        r"(?:error: )?content policy",
        r"request (?:denied|refused|declined)\b",
        r"content (?:blocked|filtered|removed)\b",
        r"(?:(?:i am|i'm)(?: so| very)? sorry|i apologi[sz]e|my apologies)[.!]?$",
        r"sorry[.!]$",
        r"sorry,? no[.!]?$",
    )
)
_ABROAD = lazy_pattern(
    "|".join(
        rf"(?:(?:{sorry})(?!\w).{{0,60}}?)?(?<!\w)(?:{cannot})"
        if spaced
        else rf"(?:(?:{sorry}).{{0,40}}?)?(?:{cannot})"
        for spaced, sorry, cannot in (
            (
                True,
                "(?:es )?tut mir (?:sehr )?leid|leider|entschuldigung",
                "(?:ich (?:kann|darf|möchte)|(?:das )?(?:kann|darf|möchte) ich)\\b.{0,60}\\bnicht",
            ),
            (True, "(?:je suis )?(?:vraiment )?désolée?|je m'excuse|malheureusement", "je ne (?:peux|suis|veux)"),
            (True, "lo siento|disculpa|perdón|lamentablemente", "no puedo|no me es posible|no estoy en condiciones"),
            (True, "desculpe|sinto muito|lamento|infelizmente", "não (?:posso|consigo)"),
            (True, "mi dispiace|scusa|purtroppo", "non (?:posso|sono in grado)"),
            (True, "извините|простите|к сожалению", "я не (?:могу|буду)|не могу"),
            (False, "(?:我|很|非常|十分)*(?:抱歉|对不起|對不起|不好意思)", "我?(?:无法|無法|不能|没办法|沒辦法)"),
            (True, "przepraszam|niestety|przykro mi", "nie (?:mogę|jestem w stanie|potrafię)"),
            (True, "het spijt me|sorry|helaas", "(?:ik kan|kan ik)\\b.{0,60}\\b(?:niet|geen)"),
            (True, "(?:jag är )?(?:tyvärr|ledsen)|förlåt", "(?:jag kan|kan jag)\\b.{0,40}\\binte"),
            (True, "(?:jeg )?beklager|desværre|dessverre|undskyld", "(?:jeg kan|kan jeg)\\b.{0,40}\\bikke"),
            (True, "(?:olen )?pahoillani|valitettavasti|anteeksi", "en (?:voi|pysty)"),
            (True, "omlouvám se|bohužel|je mi líto", "nemohu|nemůžu"),
            (True, "вибачте|на жаль|перепрошую", "я не (?:можу|буду)|не можу"),
            (True, "îmi pare rău|din păcate|scuze", "nu pot"),
            (True, "sajnálom|sajnos|elnézést", "nem (?:tudok|tudom|segíthetek)"),
            (True, "üzgünüm|maalesef|özür dilerim", r"(?:\w+ ){0,6}\w+(?:amam|emem|amıyorum|emiyorum)\b"),
            (True, "(?:mohon )?maaf", "(?:saya |kami )?tidak (?:bisa|dapat)"),
            (True, "(?:tôi )?xin lỗi|rất tiếc", "(?:tôi )?không thể"),
            (True, "λυπάμαι|συγγνώμη|δυστυχώς", "δεν μπορώ"),
            (True, "(?:أنا )?آسف|عذرًا|عذرا|أعتذر", "لا (?:أستطيع|يمكنني)"),
            (True, "(?:אני )?מצטער|סליחה", "(?:אני )?לא (?:יכול|אוכל)"),
            (False, "मुझे खेद है|क्षमा करें|माफ़ कीजिए", ".{0,60}नहीं (?:कर )?सकत"),
            (False, "ขออภัย|ขอโทษ", "(?:ฉัน|ผม|เรา)?ไม่สามารถ"),
            (
                False,
                "(?:大変)?申し訳(?:ありません|ございません)|すみません|ごめんなさい",
                r"\w{1,20}(?:できません|できかねます)",
            ),
            (False, "(?:정말 )?죄송(?:합니다|하지만)", r"[\w ]{1,30}(?:수 없|어렵)"),
        )
    )
)
"""Apologies and inability in other languages than English."""
_MARKED = lazy_pattern(
    r"[\[(<{]\s{0,9}(?:refus(?:ed|al)|declined|(?:request|answer) (?:refused|declined))\s{0,9}[\])>}][.!]?"
)
"""A word in brackets instead of an answer."""
_UNMARKED = lazy_pattern(r"\b(i(?=m\b)|(?:do|does|wo|should|could|is)n(?=t\b))(m|t)\b")
"""Words without their apostrophe (`im`, `dont`)."""
_LIST = lazy_pattern(
    r"[\[\]{}|•]|;(?! ?(?:i|we|but|this|that)\b)|(?:^|\n)\s*(?:\d{1,3}[.)]|[-*+])\s|:\s*\S"
    r"|\b(?:here (?:are|is)|here's|for example|for instance|e\.g\.|such as|instead)\b"
)


def is_refusal(text: str) -> bool:
    """Whether a whole answer is a plain refusal and nothing else."""
    if len(text) > _MAX_CHARACTERS or text.strip().count("\n") >= _MAX_LINES:
        return False
    plain = text.strip().strip("\"'“”*_ ").lower().replace("’", "'").replace("‘", "'").replace("`", "'")
    if _MARKED.fullmatch(plain):
        return True
    plain = _UNMARKED.sub(r"\1'\2", plain)
    plain = plain.strip("() ")
    if _LIST.search(plain) or plain.count(",") > _MAX_COMMAS:
        return False
    plain = re.sub(r"\s+", " ", plain)
    return (_REFUSAL.match(plain) or _ABROAD.match(plain)) is not None


def refused() -> Parsed:
    """Return the failure of an answer that is a refusal; it is counted under the route `refusal`."""
    return Parsed.failure("the answer is a refusal", REFUSAL_ROUTE)


_LAST = lazy_pattern(r"\b(?:final(?:ly)?|final answer|answer|revised|improved|corrected)\b", re.IGNORECASE)


def speaks_of_the_last(heading: str) -> bool:
    """Whether a heading says that the following text replaces earlier drafts (`Final list:`)."""
    return _LAST.search(heading) is not None
