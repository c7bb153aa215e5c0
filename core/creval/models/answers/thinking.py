"""Separates the thinking that a model wrote into its answer from the answer.

Servers that do not know a model's tags leave its thinking in the text: between two tags, before a closing tag alone
(the opening one was in the prompt's template), or after an opening tag that is never closed (the limit was reached).

`kept_tokens` cuts log-probabilities to the rest of a text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from creval.models.answers.flags import ENDLESS_THINKING, LOGPROBS_DROPPED, THINKING
from creval.types.messages import Completion, TokenLogprob

__all__ = ["kept_tokens", "tags_in", "tags_in_parameters", "without_thinking"]


def kept_tokens(
    tokens: tuple[TokenLogprob, ...] | None, text: str, spans: list[tuple[int, int]]
) -> tuple[tuple[TokenLogprob, ...] | None, bool]:
    """Return the tokens in the spans of `text`, and whether they had to be left out.

    That is the case if the tokens do not form the text, or if one crosses the border of a span.
    """
    if tokens is None:
        return None, False
    if "".join(token.token for token in tokens) != text:
        return None, True
    kept, position = [], 0
    inside = bytearray(len(text))
    for start, end in spans:
        inside[start:end] = b"\x01" * (end - start)
    for token in tokens:
        end = position + len(token.token)
        covered = [inside[place] for place in range(position, end) if not text[place].isspace()]
        if covered and all(covered):
            kept.append(token)
        elif any(covered):
            return None, True
        elif not covered and any(inside[position:end]):
            kept.append(token)
        position = end
    return tuple(kept), False


_NAMES = (
    "think",
    "thinking",
    "thinking_process",
    "thought_process",
    "chain_of_thought",
    "inner_monologue",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "antthinking",
    "seed:think",
    "mm:think",
)

_RECIPIENT = r"[^<]{0,80}(?:<\|constrain\|>[^<]{0,40})?"
"""Text between a channel's name and its message: the recipient, and the message's format."""

_PAIRS = {
    "[think]": (r"\[THINK\]", r"\[/THINK\]"),
    "◁think▷": ("◁think▷", "◁/think▷"),
    "begin_of_thought": (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    "start_thinking": (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    "|think|": (r"<\|(?:think|thinking|thought)\|>", r"<\|/(?:think|thinking|thought)\|>"),
    "unused94": (r"<unused94>", r"<unused95>"),
    "channel": (
        rf"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary){_RECIPIENT}<\|message\|>|<\|channel>thought\b",
        rf"(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final{_RECIPIENT}<\|message\|>|<channel\|>",
    ),
}

_FAMILIES = [*_NAMES, *_PAIRS]


@functools.cache
def _pattern() -> re.Pattern[str]:
    """Return a pattern for all marks: `name` (with `slash` if closing), else `o<n>` opens and `c<n>` closes pair n."""
    names = "|".join(sorted(_NAMES, key=len, reverse=True))
    parts = [
        rf"<(?P<slash>/)?(?P<name>{names})(?:\s[^<>]{{0,200}})?(?<!/)>",
        r"(?P<end><\|end\|>)(?!<\|start\|>assistant)",
    ]
    parts += [
        f"(?P<o{number}>{opens})|(?P<c{number}>{closes})" for number, (opens, closes) in enumerate(_PAIRS.values())
    ]
    return re.compile("|".join(parts), re.IGNORECASE)


_HINTS = ("<", "[THINK]", "[/THINK]", "\u25c1")

_BARE = re.compile(r"\Aanalysis(?=\S)(.*)assistantfinal", re.DOTALL)
"""Channels of which only the names are left because a server dropped the special tokens."""

_BEFORE = (
    "<|start|>assistant",
    "<|im_start|>assistant",
    "<|assistant|>",
    "<|begin_of_solution|>",
    "<|START_RESPONSE|>",
    "<|end|>",
)

_MOST_WRAPS = 4

_AFTER = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "</s>",
    "<|end|>",
    "<|return|>",
    "<|end_of_solution|>",
    "<|END_RESPONSE|>",
)

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)


class _Mark(NamedTuple):
    """An opening or closing tag at [start, end); `family` -1: the end of any channel."""

    family: int
    opens: bool
    start: int
    end: int


@dataclass(slots=True)
class _Split:
    """A text split into its answer and its thinking, as spans. `ended` is False if the thinking never ends."""

    answer: list[tuple[int, int]] = field(default_factory=list)
    thinking: list[tuple[int, int]] = field(default_factory=list)
    ended: bool = True


def tags_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the thinking tags in these texts (prompts), which belong to the task."""
    tags: set[str] = set()
    for text in texts:
        tags.update(_FAMILIES[mark.family] for mark in _marks(text) if mark.family >= 0)
    return frozenset(tags)


def tags_in_parameters(parameters: Any, name: str = "") -> frozenset[str]:
    """Return the thinking tags in a parser's parameters: in a pattern, or as the value of a `tag`."""
    if isinstance(parameters, Mapping):
        inner = [tags_in_parameters(value, str(key)) for key, value in parameters.items()]
        return frozenset().union(*inner)
    if isinstance(parameters, list | tuple):
        return frozenset().union(*(tags_in_parameters(value, name) for value in parameters))
    if not isinstance(parameters, str):
        return frozenset()
    text = parameters.lower()
    if "tag" in name.lower():
        return frozenset(family for family in _NAMES if text.strip("</> ") == family)
    words = {family for family in _NAMES if re.search(rf"[<\[|/?)]{re.escape(family)}\b", text)}
    return tags_in([parameters]) | words


def without_thinking(completion: Completion, own_tags: frozenset[str]) -> tuple[Completion, tuple[str, ...]]:
    """Return a completion with its thinking moved from text to reasoning, and the resulting flags.

    Thinking is: complete blocks outside code fences, text before a closing tag alone, and text after a tag that is
    never closed (the text is then empty, as there is no answer). The tags in `own_tags` are ignored. The text as sent
    is kept as `raw`. Log-probabilities are cut to the answer's tokens if the tokens form the raw text; else they are
    left out.
    """
    text = completion.text
    if completion.raw is not None or not _may_think(text):
        return completion, ()
    split = _split(text, own_tags)
    if split is None:
        return completion, ()
    thinking = [text[start:end].strip() for start, end in split.thinking]
    reasoning = "\n\n".join(part for part in (completion.reasoning, *thinking) if part)
    spans = _trimmed(text, split.answer) if split.ended else []
    tokens, dropped = kept_tokens(completion.logprobs, text, spans)
    changed = replace(
        completion,
        text="".join(text[start:end] for start, end in spans),
        reasoning=reasoning or None,
        logprobs=tokens,
        raw=text,
    )
    flags = (THINKING, *(() if split.ended else (ENDLESS_THINKING,)), *((LOGPROBS_DROPPED,) if dropped else ()))
    return changed, flags


def _may_think(text: str) -> bool:
    """Whether a search is worthwhile: almost no answer contains any of these."""
    return any(hint in text for hint in _HINTS) or text.startswith("analysis")


def _marks(text: str) -> Iterator[_Mark]:
    for match in _pattern().finditer(text):
        group = match.lastgroup or ""
        if group == "name":
            family, opens = _FAMILIES.index(match["name"].lower()), match["slash"] is None
        elif group == "end":
            family, opens = -1, False
        else:
            family, opens = len(_NAMES) + int(group[1:]), group[0] == "o"
        yield _Mark(family, opens, match.start(), match.end())


def _split(text: str, own_tags: frozenset[str]) -> _Split | None:
    """Split a text; None if it contains no thinking."""
    bare = _BARE.match(text) if "channel" not in own_tags else None
    if bare:
        return _Split([(bare.end(), len(text))], [bare.span(1)])
    marks = [mark for mark in _marks(text) if mark.family < 0 or _FAMILIES[mark.family] not in own_tags]
    if all(mark.family < 0 for mark in marks):
        return None
    last_closing = {mark.family: index for index, mark in enumerate(marks) if not mark.opens}
    fences = _Fences(text)
    split, inside, position, moved = _Split(), None, 0, False
    for index, mark in enumerate(marks):
        if _is_code(text, mark):
            continue
        if inside is not None:
            if mark.opens or not _closes(mark, inside, index, last_closing):
                continue
            split.thinking.append((position, mark.start))
            inside, position = None, mark.end
        elif mark.family < 0 or fences.cover(mark.start, position):
            continue
        elif mark.opens:
            split.answer.append((position, mark.start))
            inside, position = mark.family, mark.end
        else:  # the text before a closing tag alone is thinking too
            split.thinking += [*split.answer, (position, mark.start)]
            split.answer, position = [], mark.end
        moved = True
    if not moved:
        return None
    (split.answer if inside is None else split.thinking).append((position, len(text)))
    split.ended = inside is None
    split.thinking.sort()
    return split


def _closes(mark: _Mark, inside: int, index: int, last_closing: Mapping[int, int]) -> bool:
    """Whether a closing tag ends the open thinking: one of the same family, or another if none of the same follows."""
    if mark.family == inside:
        return True
    if mark.family < 0:
        return _FAMILIES[inside] == "channel"
    return last_closing.get(inside, -1) < index


def _is_code(text: str, mark: _Mark) -> bool:
    """Whether a tag is in backticks: the text mentions it and does not use it."""
    return text[mark.start - 1 : mark.start] == "`" and text[mark.end : mark.end + 1] == "`"


class _Fences:
    """The code fences of a text, searched as far as needed, in time proportional to its length."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cursor = 0
        self._span = (-1, -1)
        self._exhausted = not ("```" in text or "~~~" in text)

    def cover(self, place: int, start: int) -> bool:
        """Whether `place` is in a closed fence that opens at or after `start`. Places must not decrease."""
        self._cursor = max(self._cursor, start)
        while not self._exhausted:
            if self._span[0] <= place < self._span[1]:
                return self._span[0] >= start
            opening = _FENCE.search(self._text, self._cursor)
            if opening is None:
                self._exhausted = True
                return False
            self._cursor = opening.start()
            if self._cursor > place:
                return False
            self._close(opening)
        return False

    def _close(self, opening: re.Match[str]) -> None:
        """Find the end of a fence. It is not a fence if another with a language follows before its end."""
        for line in _FENCE.finditer(self._text, opening.end()):
            if line[2].strip():
                opening = line
            elif line[1].startswith(opening[1]):
                self._span, self._cursor = (opening.start(), line.end()), line.end()
                return
        self._exhausted = True


def _trimmed(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans that are not empty, without servers' wrappers around the answer and leading white space."""
    trimmed: list[tuple[int, int]] = []
    for start, end in spans:
        answer = text[start:end]
        for _ in range(_MOST_WRAPS):
            answer = _unwrapped(answer)
        if not trimmed:
            answer = answer.lstrip()
        if answer:
            first = text.index(answer, start)
            trimmed.append((first, first + len(answer)))
    return trimmed


def _unwrapped(answer: str) -> str:
    bare = answer.strip()
    before = next((wrap for wrap in _BEFORE if bare.startswith(wrap)), "")
    after = next((wrap for wrap in _AFTER if bare.endswith(wrap)), "")
    return bare.removeprefix(before).removesuffix(after) if before or after else answer
