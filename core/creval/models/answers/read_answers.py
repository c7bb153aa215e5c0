"""How a reply is read before anybody sees it.

Thinking and marks of the chat template are taken out; answers that were cut at the limit and cut prompts are noticed.
"""

from __future__ import annotations

from dataclasses import replace

from creval.models.answers.flags import AT_LIMIT, CUT_PROMPT, OVER_LIMIT
from creval.models.answers.template_tokens import without_template_tokens
from creval.models.answers.thinking import tags_in, without_thinking
from creval.models.providers.chat_request import LIMITS
from creval.types.messages import Completion, GenerateRequest, Reply, Usage

__all__ = ["read_answers"]

_LEAST_LIMIT = 16
"""Complete answers reach a lower limit by coincidence."""
_LEAST_WORDS = 64
_CHARACTERS_A_TOKEN = 10
"""No tokenizer puts more characters of a long text into a token than this on average."""
_FIRST_WIDE = "\u2e80"
_WIDE_A_TOKEN = 3
"""Of Chinese, Japanese and Korean characters, which stand without white space, not more than this."""


def read_answers(reply: Reply, request: GenerateRequest) -> Reply:
    """Return a reply as it is to be read. Pure: the same for a reply from the network, the cache, or a replay.

    An answer that the server calls whole (`stop`) though it has exactly as many tokens as the limit that was sent is
    cut: its finish reason becomes `length`. Thinking goes from the texts to the reasoning, unless the task keeps it.
    Tokens of the chat template are taken out.
    """
    flags = list(reply.flags)
    completions = tuple(reply.completions)
    limit = _limit(request)
    if limit is not None and request.n == 1 and len(completions) == 1 and completions[0].finish_reason == "stop":
        said = reply.usage.output_tokens - reply.usage.reasoning_tokens
        if said == limit:
            completions = (replace(completions[0], finish_reason="length"),)
            flags.append(AT_LIMIT)
        elif said > limit:
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
    if request.keep_reasoning:  # a replay may have had it taken out when it was recorded
        return tuple(c if c.raw is None else replace(c, text=c.raw, raw=None) for c in completions)
    own: frozenset[str] | None = None
    changed = []
    for completion in completions:
        read, found = without_thinking(completion, request.own_tags)
        if found:
            if own is None:  # looked for only now: almost no answer has such tags
                own = request.own_tags | tags_in(m.content for m in request.messages if m.role != "assistant")
            read, found = without_thinking(completion, own)
        changed.append(read)
        flags += found
    return tuple(changed)


def _without_tokens(
    completions: tuple[Completion, ...], request: GenerateRequest, flags: list[str]
) -> tuple[Completion, ...]:
    changed = []
    for completion in completions:
        prompts = (message.content for message in request.messages if message.role != "assistant")
        read, found = without_template_tokens(completion, prompts)
        changed.append(read)
        flags += found
    return tuple(changed)


def _limit(request: GenerateRequest) -> int | None:
    """The limit of the answer's tokens that was sent, None where none was or it is too low to tell anything."""
    sent = [request.settings[name] for name in LIMITS if isinstance(request.settings.get(name), int)]
    return sent[0] if sent and sent[0] >= _LEAST_LIMIT else None


def _prompt_is_cut(usage: Usage, request: GenerateRequest) -> bool:
    """Whether the prompt's tokens, cached ones included, are less than half of what its characters need.

    Tokens do not reach across white space, so there are at least as many of them as words.
    """
    counted = usage.input_tokens + usage.cached_input_tokens
    if not counted:
        return False
    characters = sum(len(message.content) for message in request.messages)
    if characters < 3 * counted:
        return False
    text = "\n".join(message.content for message in request.messages)
    wide = 0 if text.isascii() else sum(character >= _FIRST_WIDE for character in text)
    needed = max(len(text.split()), characters // _CHARACTERS_A_TOKEN, wide // _WIDE_A_TOKEN)
    return needed >= _LEAST_WORDS and 2 * counted < needed
