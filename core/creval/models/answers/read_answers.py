"""Reads a reply before it is used.

Removes thinking and marks of the chat template (end tokens, openings of a turn, boxes), and detects answers and prompts
that were cut. A server that uses the wrong template, or shows special tokens, sends `m3</s>` or
`<|begin_of_box|>42<|end_of_box|>`. READING_VERSION is the version of these rules.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from creval.escape import without_surrogates
from creval.models.answers.flags import AT_LIMIT, CUT_PROMPT, LOGPROBS_DROPPED, OVER_LIMIT, TEMPLATE_TOKENS
from creval.models.answers.thinking import kept_tokens, tags_in, without_thinking
from creval.models.providers.chat_request import LIMITS
from creval.types.messages import Completion, GenerateRequest, Reply, Usage

__all__ = ["READING_VERSION", "read_answers", "reading_version", "without_template_tokens"]


READING_VERSION = 7
"""The version of the rules by which the core reads answers (`creval.models.answers.read_answers`, `creval.parsing`).

Raise it when the same answer may be read differently. Earlier rules are not kept as code: a run has one version, by
which all its answers are read. A run whose answers are all read keeps its version when it is resumed; if some are
missing, the current rules read all of them.

1  what servers sent, read as it was
2  thinking is taken out of answers, and answers that are cut at the limit are noticed
3  JSON with a slip is fixed or unreadable, never lines; refusals are recognised; characters that nobody sees are gone;
   an answer that a scorer finds wanting keeps the scores that it gives
4  JSON without its brackets is unreadable; refusals in other languages and more words; more marks of lists
5  lists on one line, commas of other scripts, marks of no item (`N/A`, `[refused]`), inches inside texts of faulty JSON
6  JSON torn by a bracket too many is unreadable; keys in any letter case; the array that is called final; soft hyphens,
   marks of direction and control characters are gone; more marks of lists, tags of HTML; refusals in more languages
7  line separators inside texts of JSON; end tokens of chat templates are taken off; only text parts make up an answer;
   more finish reasons are known; one exact reader of numbers, of which no part is read; an option that is named among
   several is none; verdicts of judges without their scale
"""


def reading_version(manifest: Mapping[str, Any]) -> int:
    """Return the version with which a run began; manifests without one are of version 1."""
    return int(manifest.get("reading", 1))


_HINTS = (
    "<|",
    "|>",
    "<\uff5c",
    "</s>",
    "<s>",
    "_of_",
    "<eos",
    "<EOS",
    "<bos",
    "<pad",
    "INST]",
    "[EOS]",
    "[e~[",
    "<turn",
    "<eot",
    "<EOT",
    "<eod",
    "<EOD",
    "<im_end",
    "<seed:",
    "<unk>",
    "[SEP]",
    "[PAD]",
    "[BOS]",
    "[|",
    "assistant>",
    "_end>",
    "<__end",
)
_SIGNS = "<>[]_"
"""Each hint has one of them."""

_END = (
    r"<\|[A-Za-z_\u2581 ]{1,40}[0-9]{0,4}\|>|<\uff5c[^<>\uff5c\n]{1,40}\uff5c>|</s>"
    r"|<(?:eos|EOS|eos_token|pad|PAD|unk|UNK|eot|EOT|eod|EOD|im_end|turn_end|seed:eos)>|<\|/[a-z]{1,20}\|>|</assistant>"
    r"|<(?:__)?end_of_(?:turn|utterance|text)(?:__)?>|<turn\|>|\[/?INST\]|\[(?:EOS|SEP|PAD)\]|\[\|endofturn\|\]|\[e~\["
)
"""A token that ends a turn, or any other special token: at the end of an answer none is part of it."""

_ROLE = r"(?:system|user|assistant|model|human|tool)"

_OPENS = (
    rf"<\|start_header_id\|>\s*{_ROLE}?\s*(?:<\|end_header_id\|>)?|<\|(?:im_start|start|header_start)\|>\s*{_ROLE}?"
    rf"(?:<\|header_end\|>)?|<start_of_turn>\s*{_ROLE}?|<\|turn>\s*{_ROLE}?|<\|(?:user|human|system|observation)\|>"
    r"|<\uff5c(?:User|Assistant)\uff5c>|<\|(?:START_OF_TURN|USER|SYSTEM|CHATBOT)_TOKEN\|>|<s>\s*\[INST\]|\[INST\]"
)
"""The opening of the next turn."""

_BEGINS = (
    r"<\|start\|>assistant(?:<\|channel\|>final<\|message\|>)?|<\|channel\|>final<\|message\|>|<assistant>|\[BOS\]"
    r"|<\|start_of_role\|>assistant<\|end_of_role\|>|<\|role_start\|>assistant<\|role_end\|>|\[\|assistant\|\]"
    r"|<\|(?:bot|model|response)\|>|<s>(?!.*</s>)|"
    r"<\|(?:begin_of_text|startoftext|start_of_text|bos)\|>|<\uff5cbegin\u2581of\u2581sentence\uff5c>|<bos>"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|<\|header_start\|>assistant<\|header_end\|>"
    r"|<\|im_start\|>\s*assistant|<start_of_turn>\s*(?:model|assistant)\b|<\|turn>\s*model\b|<\|assistant\|>"
    r"|<\uff5cAssistant\uff5c>|<\|START_OF_TURN_TOKEN\|>(?:<\|CHATBOT_TOKEN\|>)?|<\|CHATBOT_TOKEN\|>|\[/INST\]"
)
"""What may precede an answer."""

_BOX = (
    r"(?<!`)<\|(?:begin|start)_of_(?:box|solution|answer|response|output)\|>"
    r"|<\|end_of_(?:box|solution|answer|response|output)\|>(?!`)|(?<!`)<\|(?:START|END)_RESPONSE\|>(?!`)"
)
"""Boxes around an answer, or around the part of it that counts."""


class _Patterns(NamedTuple):
    """Compiled on first use: almost no answer needs them."""

    last: re.Pattern[str]
    first: re.Pattern[str]
    box: re.Pattern[str]
    next_turn: re.Pattern[str]


@functools.cache
def _patterns() -> _Patterns:
    return _Patterns(
        re.compile(rf"(?:{_OPENS}|{_END})[\s\u200b\ufeff\x00]*\Z"),
        re.compile(rf"\s*(?:{_BEGINS})\s*", re.DOTALL),
        re.compile(_BOX),
        re.compile(rf"(?:{_END})\s*(?:{_OPENS})"),
    )


def without_template_tokens(completion: Completion, prompts: Iterable[str]) -> tuple[Completion, tuple[str, ...]]:
    """Return a completion without the marks of a chat template, and the resulting flags.

    Removed are tokens at the end and at the beginning, boxes around the answer or a part of it, and everything after an
    end token that another turn follows. `</s>` stays if the answer has `<s>`, as do all tokens in the prompts. The text
    as sent is kept as `raw`; log-probabilities are cut to the remaining text.
    """
    text = completion.text
    if not any(sign in text for sign in _SIGNS) or not any(hint in text for hint in _HINTS):
        return completion, ()
    spans = _spans(text, prompts)
    cleaned = "".join(text[start:end] for start, end in spans)
    if cleaned == text:
        return completion, ()
    tokens, dropped = kept_tokens(completion.logprobs, text, spans)
    if dropped and "".join(token.token for token in completion.logprobs or ()) == cleaned:
        tokens, dropped = completion.logprobs, False
    raw = text if completion.raw is None else completion.raw
    changed = replace(completion, text=cleaned, logprobs=tokens, raw=raw)
    return changed, (TEMPLATE_TOKENS, *((LOGPROBS_DROPPED,) if dropped else ()))


def _spans(text: str, prompts: Iterable[str]) -> list[tuple[int, int]]:
    """Return the spans of a text that are the answer."""
    named = _TaskTokens(text, prompts)
    last, first, box, next_turn = _patterns()
    start, end = 0, len(text)
    turn = next_turn.search(text)
    if turn is not None and not named.holds(turn[0]):
        end = turn.start()
    while (token := last.search(text, max(start, end - 200), end)) is not None and not named.holds(token[0]):
        end = len(text[: token.start()].rstrip())
    while (token := first.match(text, start, end)) is not None and not named.holds(token[0]):
        start = token.end()
    spans, at = [], start
    for token in box.finditer(text, start, end):
        if not named.holds(token[0]):
            spans.append((at, token.start()))
            at = token.end()
    spans.append((at, end))
    return _trimmed(text, [(a, b) for a, b in spans if a < b]) if len(spans) > 1 else spans


def _trimmed(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans without the white space that a box leaves at the beginning and the end."""
    while spans and not text[slice(*spans[0])].strip():
        spans = spans[1:]
    while spans and not text[slice(*spans[-1])].strip():
        spans = spans[:-1]
    if not spans:
        return []
    (start, end), following = spans[0], spans[1:]
    spans = [(end - len(text[start:end].lstrip()), end), *following]
    start, end = spans[-1]
    return [*spans[:-1], (start, start + len(text[start:end].rstrip()))]


class _TaskTokens:
    """Finds tokens that belong to the task: they are in the prompts, or close what the answer opens."""

    def __init__(self, text: str, prompts: Iterable[str]) -> None:
        self._has_opening = "<s>" in text
        self._prompts = prompts
        self._joined: str | None = None

    def holds(self, token: str) -> bool:
        """Whether the token belongs to the task."""
        if token.strip() == "</s>" and self._has_opening:
            return True
        if self._joined is None:
            self._joined = "\n".join(self._prompts)
        return any(part in self._joined for part in token.split())


_LEAST_LIMIT = 16
"""Complete answers may reach a lower limit by coincidence."""

_LEAST_WORDS = 64

_CHARACTERS_A_TOKEN = 10
"""The most characters per token of any tokenizer, on average over a long text."""

_FIRST_WIDE = "\u2e80"

_WIDE_A_TOKEN = 3
"""The same for Chinese, Japanese and Korean characters, which have no spaces between them."""


def read_answers(reply: Reply, request: GenerateRequest) -> Reply:
    """Return a reply in the form in which it is parsed, the same for replies from network, cache and replay.

    An answer that the server reports as complete (`stop`) with exactly as many tokens as the limit sent counts as cut:
    its finish reason becomes `length`.

    Thinking is moved from the texts to the reasoning, unless the task keeps it. Tokens of the chat template are
    removed.
    """
    flags = list(reply.flags)
    completions = tuple(reply.completions)
    if any(without_surrogates(c.text) != c.text for c in completions):  # of a provider that is not a server
        completions = tuple(replace(c, text=without_surrogates(c.text)) for c in completions)
        reply = replace(reply, completions=completions)
    limit = _limit(request)
    if limit is not None and request.n == 1 and len(completions) == 1 and completions[0].finish_reason == "stop":
        answer_tokens = reply.usage.output_tokens - reply.usage.reasoning_tokens
        if answer_tokens == limit:
            completions = (replace(completions[0], finish_reason="length"),)
            flags.append(AT_LIMIT)
        elif answer_tokens > limit:
            flags.append(OVER_LIMIT)
    if _prompt_is_cut(reply.usage, request):
        flags.append(CUT_PROMPT)
    completions = _thoughtless(completions, request, flags)
    completions = _without_tokens(completions, request, flags)
    if not flags and not reply.flags:
        return reply
    return replace(reply, completions=completions, flags=tuple(dict.fromkeys(flags)))


def _thoughtless(
    completions: tuple[Completion, ...], request: GenerateRequest, flags: list[str]
) -> tuple[Completion, ...]:
    if request.keep_reasoning:  # in a replay it may have been removed when it was recorded
        return tuple(c if c.raw is None else replace(c, text=c.raw, raw=None) for c in completions)
    task_tags: frozenset[str] | None = None
    changed = []
    for completion in completions:
        cleaned, new_flags = without_thinking(completion, request.own_tags)
        if new_flags:
            if task_tags is None:  # searched late: almost no answer has such tags
                task_tags = request.own_tags | tags_in(m.text for m in request.messages if m.role != "assistant")
            cleaned, new_flags = without_thinking(completion, task_tags)
        changed.append(cleaned)
        flags += new_flags
    return tuple(changed)


def _without_tokens(
    completions: tuple[Completion, ...], request: GenerateRequest, flags: list[str]
) -> tuple[Completion, ...]:
    changed = []
    for completion in completions:
        prompts = (message.text for message in request.messages if message.role != "assistant")
        cleaned, new_flags = without_template_tokens(completion, prompts)
        changed.append(cleaned)
        flags += new_flags
    return tuple(changed)


def _limit(request: GenerateRequest) -> int | None:
    """Return the limit of the answer's tokens that was sent; None without one, or if it is too low to be conclusive."""
    limits = [request.settings[name] for name in LIMITS if isinstance(request.settings.get(name), int)]
    return limits[0] if limits and limits[0] >= _LEAST_LIMIT else None


def _prompt_is_cut(usage: Usage, request: GenerateRequest) -> bool:
    """Whether the prompt's tokens, including cached ones, are less than half of what its characters need.

    Tokens do not reach across white space, so there are at least as many of them as words.
    """
    counted = usage.input_tokens + usage.cached_input_tokens
    if not counted:
        return False
    characters = sum(len(message.text) for message in request.messages)
    if characters < 3 * counted:
        return False
    text = "\n".join(message.text for message in request.messages)
    wide = 0 if text.isascii() else sum(character >= _FIRST_WIDE for character in text)
    needed = max(len(text.split()), characters // _CHARACTERS_A_TOKEN, wide // _WIDE_A_TOKEN)
    return needed >= _LEAST_WORDS and 2 * counted < needed
