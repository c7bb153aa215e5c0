"""Parser `choice`: finds the option that an answer names."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from creval.errors import UsageError
from creval.parsing.base import TextParser, not_text
from creval.parsing.cues import CUE, LINK, boxed_spans
from creval.parsing.refusal import refused
from creval.types.components import Parsed

__all__ = ["Choice"]

_AROUND = " \t\r\n.,:;!?()[]{}*_`\"'“”‘’$。：，【】（）"
_LETTER = "0-9A-Za-z\u00c0-\u052f"  # of the scripts that put spaces between words
_MARKS = r"[ \t*_`$\"'“”‘’(\[{<【「（]"
_GAP = r"[^\w\n]"
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|emph|math(?:rm|bf|it|sf|tt)|operatorname)\s?\{([^{}]*)\}")
_WORDLIKE = "AIOEYU"
"""Letters that are also words, in English or similar languages: options only where they cannot be words."""
_LABEL_CONTINUES = (
    r"because|since|as|due|is|was|would|seems?|looks|fits|must|should|and|or|but|not|over|rather|which|with|to|through|vs|versus"
    r"|oder|und|bis|ou|et|y|o|e"
)
_PRONOUN_CONTINUES = r"because|since|due|is"
_FILLERS = re.compile(
    r"(?:the|an?|option|choice|letter|answer|alternative|number|most|likely|probably|definitely|clearly|therefore|thus|"
    r"indeed|simply|just|still|only|obviously|certainly|correct|right|best|one|correcta|correcto|correta|correcte|"
    r"bonne|richtige|la|le|l|el|o|die|der|das|opción|opção|letra|lettre|lettera|buchstabe|alternativa|opzione|pilihan|"
    rf"选项|選項|विकल्प|الخيار|বিকল্প|вариант|آپشن|선택지)(?![{_LETTER}]){_MARKS}{{0,6}}",
    re.IGNORECASE,
)
_ALSO = re.compile(
    rf"(?:[ \t]{{0,3}}(?P<sign>[,;]?[ \t]{{0,3}}(?<![{_LETTER}])(?:and/or|or|and|to|through|vs\.?|versus"
    rf"|ou|et|y|o|e|oder|und|bis|или|и|atau|dan|veya|ve|of|en|lub|albo|hoặc|và)(?![{_LETTER}])"
    r"|[,/;&+|~、，]|或者?|和|及|与|與|跟|还是|還是|または|もしくは|あるいは|と|か|또는|혹은|및|[와과]"
    rf"|(?<!\w)(?:أو|او|و|یا|या|अथवा|और|বা|অথবা|এবং|اور|หรือ|และ)(?!\w))|[ \t]{{1,4}}){_GAP}{{0,6}}"
    rf"(?:(?:option|choice|answer|maybe|perhaps|possibly|potentially|also|even|alternatively)[ \t]{{1,4}}){{0,3}}"
    rf"{_MARKS}{{0,4}}",
    re.IGNORECASE,
)
_OPENED = re.compile(r"[ \t]?\((?=(?:or|and|ou|oder|o)[ \t])", re.IGNORECASE)
"""What joins another option to one: a sign or word (`sign`), or spaces alone."""
_NEGATION = re.compile(
    r"\b(?:not|never|neither|nor|cannot|incorrect|wrong|false|eliminate[ds]?|exclude[ds]?|ruled? out|kein|nicht|no es"
    r"|não|n'est pas|bukan|non)\b|n['’]t\b|不|没|沒|非|नहीं|ليس|ليست|(?<!\w)не(?!\w)|নয়|نہیں",
    re.IGNORECASE,
)
_NEGATED_BEFORE = re.compile(
    r"(?:\b(?:not|cannot|never|neither|nor|no|incorrect|wrong|false|worst|rules? out|eliminate|exclude)\b|n['’]t"
    r"|不是|不选)[ \t*_`(\"']{0,4}(?:(?:be|the|an?|option|choice|answer)[ \t*_`(\"']{1,4}){0,3}$",
    re.IGNORECASE,
)
_NEGATED_AFTER = re.compile(
    r"[\s).*\]]{0,4}(?:नहीं|নয়|نہیں|ではな|じゃな|[이가]? ?아니|değil|(?:is|was|can|would|could) ?n['’]t"
    r"|(?:is|was) (?:not|wrong|incorrect|false)|cannot be|ist nicht|ist falsch|no es|n'est pas|não é|不对|不對|不正确"
    r"|错|是错)",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"[ \t)\]*_`\"'.]{0,4}(?:(?:is|was|would be|must be|should be|seems|looks|has to be|es|est|ist|é|è)"
    r"(?: (?:clearly|definitely|probably|therefore|thus|indeed|likely|obviously|most|the|my|la|le|el|a|die|il))*"
    r" (?:correct|right|best|true|answer|choice|correcta|correcto|correta|corretta|bonne|richtige?)\b"
    r"|是?正[确確]|が正解|[이가] 정답|верн|- правильн)",
    re.IGNORECASE,
)
_CHOOSE = re.compile(
    r"\b(?:choose|chose|pick(?:ed)?|select(?:ed)?|go(?:ing)? (?:with|for)|went with|opt(?:ed)? for|settle on)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(rf"{_GAP}{{0,3}}[ \t][a-z]")
_SKIPPED = re.compile(rf"(?:{_MARKS}|[:：=、，,\n\-–—>→.]){{0,12}}")
_OTHER_GAP = re.compile(rf"[^\n.。{_LETTER}]{{0,30}}|[^\n.。A-Za-z0-9]{{0,30}}")
_STOP = re.compile(r"[.。!?](?=\s)|\n(?!\s{0,4}\S{1,12}\s{0,4}(?:\n|$))")
_SMALL_LETTER = re.compile(r"[a-z](?=[.)\]*]|\s{0,9}(?:\n|$))")
_TAG = re.compile(r"<(?:final_?)?(?:answer|choice|solution|result|final)>", re.IGNORECASE)
_WIDE = str.maketrans(
    {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
)
"""Full-width digits and letters, as people write them between Chinese and Japanese."""
_LONGEST_LINK = 80
_MOST_CUES = 100
_MOST_LABELS = 2_000


class _Named(NamedTuple):
    """The options named at a place in the answer: one, or several (which is a failure)."""

    at: int
    options: tuple[str, ...]
    route: str


@dataclass(frozen=True)
class Choice(TextParser):
    """One of `options`, returned as written there.

    Tried in this order:
    1. the whole answer is an option, apart from punctuation around it (route `choice`);
    2. the last of these places that names one: a `\\boxed{}`, the text after a cue (`the answer is`, `答案是`), `B is
       correct`, and a last line that is an option alone (`choice/cue`);
    3. the option that the answer begins with (`B. ...`), unless it lists all options again (`choice/first`);
    4. exactly one option occurs in the text as a whole word (`choice/only`).
    A place that names several options (`A or B`) makes the answer a failure, as do several without a cue.

    Letter case is ignored, except for options of one letter within a text. "A good one" and "I think" name no option.
    """

    options: Sequence[str] = ("A", "B", "C", "D")
    _label: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.options or len({option.casefold() for option in self.options}) != len(self.options):
            raise UsageError("options must be given, and all different", where="parser choice")
        if not all(option.strip() for option in self.options):
            raise UsageError("an option is blank", where="parser choice")
        ordered = sorted(self.options, key=len, reverse=True)
        object.__setattr__(self, "_label", re.compile("|".join(_spelling(option) for option in ordered)))

    def parse(self, text: Any) -> Parsed:
        if not isinstance(text, str):
            return not_text(text)
        if self.is_refusal(text):
            return refused()
        if not any(option.translate(_WIDE) != option for option in self.options):
            text = text.translate(_WIDE)
        bare = _WRAPPER.sub(r"\1", text).strip(_AROUND).casefold()
        for option in self.options:
            if (option.strip(_AROUND).casefold() or text.strip()) == (bare or option):
                return Parsed(option, route="choice")
        text = _WRAPPER.sub(r"\1", text)
        for named in (self._announced(text), self._leading_option(text)):
            if named is not None and len(named.options) == 1:
                return Parsed(named.options[0], route=named.route)
            if named is not None:
                return _several(named.options)
        occurring = self._occurring(text)
        if len(occurring) == 1:
            return Parsed(occurring[0], route="choice/only")
        return _several(occurring) if occurring else Parsed.failure("the answer names none of the options")

    # --- places that announce an option ---------------------------------------------------------------

    def _announced(self, text: str) -> _Named | None:
        """Return the option named at the last place that announces one."""
        places = [*self._boxed(text), *self._cued(text), *self._called_right(text), *self._last_line(text)]
        return max(places, key=lambda named: named.at, default=None)

    def _boxed(self, text: str) -> Iterator[_Named]:
        for start, end, content in boxed_spans(text):
            if named := self._option_at(text[content : end - 1].replace("\\ ", " "), 0):
                yield named._replace(at=start)

    def _cued(self, text: str) -> Iterator[_Named]:
        for cue in deque(CUE.finditer(text), _MOST_CUES):
            if _is_negated(text, cue.start()) or text[max(0, cue.start() - 2) : cue.start()] == "</":
                continue
            for start in self._links(text, cue):
                if named := self._option_at(text, start):
                    yield named._replace(at=start)
                    break
        for tag in deque(_TAG.finditer(text), _MOST_CUES):
            if named := self._option_at(text, tag.end()):
                yield named._replace(at=tag.end())
        for verb in deque(_CHOOSE.finditer(text), _MOST_CUES):
            negated = _NEGATION.search(text[max(0, verb.start() - 20) : verb.start()])
            if not negated and (named := self._option_at(text, verb.end())):
                yield named._replace(at=verb.end())

    def _links(self, text: str, cue: re.Match[str]) -> Iterator[int]:
        """Yield the places at which the answer after a cue may begin."""
        if cue["answer"] or cue["hashes"]:
            yield cue.end()
        end = min(cue.end() + _LONGEST_LINK, len(text))
        stop = _STOP.search(text, cue.end(), end)
        for link in LINK.finditer(text, cue.end(), stop.start() if stop else end):
            if _NEGATION.search(text[cue.end() : link.end()]):
                return
            yield link.end()
        if cue["other"]:
            gap = _OTHER_GAP.match(text, cue.end())
            if gap is not None and not _NEGATION.search(gap.group()):
                yield gap.end()
                yield cue.end()

    def _called_right(self, text: str) -> Iterator[_Named]:
        for label in self._labels(text):
            if _RIGHT.match(text, label.end()) and not _is_negated(text, label.start()):
                yield _Named(label.start(), (self._named(label.group()),), "choice/cue")

    def _last_line(self, text: str) -> Iterator[_Named]:
        """Yield the last line if it is only an option, with the lines before it if these are options too."""
        lines = [line.strip(_AROUND).casefold() for line in text.strip("` \t\r\n").split("\n")]
        alone = {option.strip(_AROUND).casefold(): option for option in self.options}
        if len(lines) > 1 and lines[-1] in alone:
            found = dict.fromkeys(alone[line] for line in lines if line in alone)
            last = alone[lines[-1]]
            yield _Named(len(text.rstrip()), tuple(found) if len(found) > 2 else (last,), "choice/cue")

    # --- what a place names -----------------------------------------------------------------------------

    def _option_at(self, text: str, start: int) -> _Named | None:
        """Return the option or options that a text names at a place; None if it begins with something else."""
        at = _skip(text, start)
        while True:
            label = self._label.match(text, at)
            if label is not None and self._is_label(text, label):
                break
            low = None if label else _SMALL_LETTER.match(text, at)
            if low is not None and low.group().upper() in self.options:
                return _Named(at, (low.group().upper(),), "choice/cue")
            filler = _FILLERS.match(text, at)
            if filler is None:
                return None
            at = filler.end()
        if _NEGATED_AFTER.match(text, label.end()):
            return None
        found = dict.fromkeys([self._named(label.group())])
        found.update(dict.fromkeys(self._others(text, label.end())))
        return _Named(at, tuple(found), "choice/cue")

    def _others(self, text: str, at: int) -> Iterator[str]:
        """Yield the options listed after an option (`, B`, `or C`), but not the start of a clause (`, B is wrong`)."""
        for _ in range(len(self.options)):
            at += len(text[at : at + 4]) - len(text[at : at + 4].lstrip(")]*_`\"'"))
            at += len(opened[0]) if (opened := _OPENED.match(text, at)) else 0
            also = _ALSO.match(text, at)
            label = also and self._label.match(text, also.end())
            if not also or not label or not self._is_label(text, label):
                return
            continues = _CLAUSE.match(text, label.end())
            listed = _ALSO.match(text, label.end())
            further = listed is not None and self._label.match(text, listed.end()) is not None
            if (also["sign"] or " ").strip() in ("", ",", ";", "，") and continues and not further:
                return
            yield self._named(label.group())
            at = label.end()

    def _is_label(self, text: str, label: re.Match[str]) -> bool:
        """Whether a letter is an option at this place, not a word ("A good one", "I think")."""
        letter = label.group()
        if len(letter) > 1 or letter.upper() not in _WORDLIKE:
            return True
        before, after = text[max(0, label.start() - 1) : label.start()], text[label.end() : label.end() + 40]
        if before in tuple("([*_`\"'“$【（<") or re.match(r"[)\]*_`\"”$】）>:]|\.(?!\w)", after):
            return True
        continues = _PRONOUN_CONTINUES if letter == "I" else _LABEL_CONTINUES
        if re.match(rf"[ \t]+(?:{continues})\b", after):
            return True
        if letter == "I" and re.match(r"['’]|,(?![ \t]*[A-Z](?![A-Za-z]))|[ \t]+\w", after):
            return False
        return re.match(r"[ \t]+[a-z\u00df-\u024f]|['’]\w", after) is None

    def _named(self, spelled: str) -> str:
        return next(option for option in self.options if option.casefold() == spelled.casefold())

    # --- what the answer begins with, and what it names at all ----------------------------------------------

    def _leading_option(self, text: str) -> _Named | None:
        """Return the option with a mark or line break that an answer begins with; None if it lists all options."""
        at = _skip(text, len(text) - len(text.lstrip()))
        label = self._label.match(text, at)
        if label is None or not self._is_label(text, label):
            return None
        after = text[label.end() :].lstrip(")]*_`\"' ")
        short = len(label.group()) == 1 or label.group().isdecimal()
        marked = after[:1] in ("\n", "", *(".:;,-–—，、。：" if short else ""))
        because = short and re.match(r"(?:because|since|as it)\b", after)
        if not (marked or because or text[label.end() : label.end() + 1] in (")", "]")) or self._lists_all(text):
            return None
        if _NEGATED_AFTER.match(text, label.end()):
            return None
        others = dict.fromkeys([self._named(label.group()), *self._others(text, label.end())])
        return _Named(at, tuple(others), "choice/first")

    def _lists_all(self, text: str) -> bool:
        """Whether a text repeats the options with their marks (`A. one`, `B) two`)."""
        marked = set()
        for label in self._labels(text):
            if re.match(r"[*_]{0,2}[.):]", text[label.end() : label.end() + 3]):
                begins = not text[max(0, label.start() - 4) : label.start()].rpartition("\n")[2].strip(" \t*_(-")
                marked.add((begins, label.group()))
        at_lines = {label for begins, label in marked if begins}
        anywhere = {label for _, label in marked}
        return (len(at_lines) > 1 and "\n" in text.strip()) or len(anywhere) >= min(3, len(self.options))

    def _occurring(self, text: str) -> list[str]:
        """Return the options that occur and are not negated; one inside a longer option does not count."""
        found = dict.fromkeys(
            self._named(label.group()) for label in self._labels(text) if not _is_negated(text, label.start())
        )
        return sorted(found, key=list(self.options).index)

    def _labels(self, text: str) -> Iterator[re.Match[str]]:
        return (label for label in deque(self._label.finditer(text), _MOST_LABELS) if self._is_label(text, label))


def _is_negated(text: str, at: int) -> bool:
    return _NEGATED_BEFORE.search(text[max(0, at - 30) : at]) is not None


def _skip(text: str, at: int) -> int:
    """Return the position after the spaces, marks and signs at a position."""
    found = _SKIPPED.match(text, at)
    return at if found is None else found.end()


def _several(options: Sequence[str]) -> Parsed:
    return Parsed.failure(f"the answer names several options: {', '.join(options)}")


def _spelling(option: str) -> str:
    """Return the pattern of an option as a whole word; letter case counts only for a single letter."""
    edge = _LETTER
    before, after = rf"(?<![{edge}])(?<![{edge}][.\-])", rf"(?![{edge}]|[-.][{edge}]|['’][{edge}])"
    if option.isdecimal():
        before, after = rf"(?<![{edge}])(?<![0-9][.,])(?<!-)(?<!\.)", rf"(?![{edge}%]|[.,:\-–][0-9]|['’][0-9])"
    elif len(option) == 1:
        after += rf"(?!\+(?![{edge}])|\+\+|#)"
    else:
        before, after = rf"(?<![{edge}])(?<![{edge}][-‐‑])", rf"(?![{edge}])(?![-‐‑][{edge}])"
    word = before + re.escape(option) + after
    return word if len(option) == 1 else f"(?i:{word})"
