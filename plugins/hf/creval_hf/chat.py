"""Render prompts by the tokenizer's chat template, and separate thinking from the answer by the template's marks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from creval.plugin import Completion, Message
from creval.plugin.completions import ENDLESS_THINKING, LOGPROBS_DROPPED, THINKING, kept_tokens
from creval.plugin.models import FatalModelError

__all__ = ["NO_TEMPLATE", "Marks", "Prompt", "marks_of", "part_thinking", "render"]

NO_TEMPLATE = "none"
_THOUGHT, _SAID = "thought-4f1c", "said-9b2e"
"""Texts that occur in no template: the template's marks are what it writes around them."""
_OPEN_AT_END = re.compile(r"(<([\w:]+)>|\[([A-Z]+)\]|<\|(\w+)\|>)\s*\Z")


@dataclass(frozen=True, slots=True)
class Marks:
    """The texts that a template writes before and after the thinking of an answer, without white space."""

    opening: str
    closing: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as text. `plain`: not from a template, so the tokenizer adds its special tokens."""

    text: str
    plain: bool
    marks: Marks | None = None


def render(tokenizer: Any, messages: Sequence[Message], settings: Mapping[str, Any], where: str) -> Prompt:
    """Return the prompt of a conversation; a final message of the assistant is continued. Raises FatalModelError."""
    template = settings.get("chat_template")
    if template == NO_TEMPLATE:
        return Prompt("\n\n".join(message.text for message in messages), True)
    if not tokenizer.chat_template:
        what = "the tokenizer has no chat template, as base models do not"
        fix = "To send prompts as plain text, add: --generation chat_template=none"
        raise FatalModelError(what, where=where, fix=fix, every_call=True)
    named = tokenizer.chat_template
    if template is not None and not (isinstance(named, Mapping) and template in named):
        known = f"{NO_TEMPLATE}, {', '.join(named)}" if isinstance(named, Mapping) else NO_TEMPLATE
        what = f"the tokenizer has no chat template {template!r}"
        raise FatalModelError(what, where=where, fix=f"chat_template takes: {known}.", every_call=True)
    variables = dict(settings.get("chat_template_kwargs") or {})
    if settings.get("reasoning_effort") is not None:
        variables["reasoning_effort"] = settings["reasoning_effort"]
    continues = messages[-1].role == "assistant"
    plain = [{"role": message.role, "content": message.text} for message in messages]
    apply = _Template(tokenizer, template, variables)
    try:
        text = apply(plain, continue_final_message=continues, add_generation_prompt=not continues)
    except Exception as error:  # a template is a program that may raise any error
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        fix = "Use a task whose messages the model supports, or add: --generation chat_template=none"
        raise FatalModelError(f"the chat template refuses the messages: {reason}", where=where, fix=fix) from None
    return Prompt(text, False, None if continues else marks_of(apply, text))


class _Template:
    """A chat template with its variables."""

    def __init__(self, tokenizer: Any, name: str | None, variables: Mapping[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._name = name
        self._variables = variables

    def __call__(self, messages: Sequence[Mapping[str, Any]], **how: Any) -> str:
        named = {"chat_template": self._name} if self._name else {}
        made = self._tokenizer.apply_chat_template(list(messages), tokenize=False, **named, **self._variables, **how)
        return str(made)

    @property
    def source(self) -> str:
        """Return the template's text."""
        source = self._tokenizer.chat_template
        return str(source.get(self._name or "default", "") if isinstance(source, Mapping) else source)


def marks_of(apply: Any, prompt: str) -> Marks | None:
    """Return the marks of a template: the texts around a thought, or else the end of its prompts."""
    asked = {"role": "user", "content": "?"}
    thoughts = {"reasoning_content": _THOUGHT, "thinking": _THOUGHT, "reasoning": _THOUGHT}
    try:
        whole = apply([asked, {"role": "assistant", "content": _SAID, **thoughts}])
        head = apply([asked], add_generation_prompt=True)
    except Exception:  # it does not accept this conversation
        whole = head = ""
    before, thought, rest = whole.partition(_THOUGHT)
    between, said, _ = rest.partition(_SAID)
    if thought and said and between.strip():
        common = next((i for i, (a, b) in enumerate(zip(before, head, strict=False)) if a != b), len(head))
        opening = before[common:].strip() or _ending(head)
        if opening:
            return Marks(opening, between.strip())
    opening = _ending(prompt)
    closing = next((c for c in _closings(opening) if c in apply.source), "") if opening else ""
    return Marks(opening, closing) if closing else None


def _ending(prompt: str) -> str:
    found = _OPEN_AT_END.search(prompt)
    return found[1] if found else ""


def _closings(opening: str) -> Sequence[str]:
    return opening[0] + "/" + opening[1:], opening.replace("<|", "<|/"), opening.replace("START", "END")


def part_thinking(completion: Completion, marks: Marks, prompt: str) -> tuple[Completion, tuple[str, ...]]:
    """Move a completion's thinking to its reasoning; return it with the flags that say so.

    The thinking begins at the start if the prompt left it open, or with the opening mark; without a closing mark it
    never ends, and there is no answer.
    """
    text = completion.text
    opened = prompt.rstrip().endswith(marks.opening)
    start = len(text) - len(text.lstrip())
    if not opened and text.startswith(marks.opening, start):
        opened, start = True, start + len(marks.opening)
    end = text.find(marks.closing, start)
    if end < 0 and not opened:
        return completion, ()
    thought = text[start : end if end >= 0 else len(text)].strip()
    first = end + len(marks.closing) if end >= 0 else len(text)
    first += len(text[first:]) - len(text[first:].lstrip())
    tokens, dropped = kept_tokens(completion.logprobs, text, [(first, len(text))])
    flags = [THINKING, *([ENDLESS_THINKING] if end < 0 else []), *([LOGPROBS_DROPPED] if dropped else [])]
    parted = replace(completion, text=text[first:], reasoning=thought or None, logprobs=tokens, raw=text)
    return parted, tuple(flags)
