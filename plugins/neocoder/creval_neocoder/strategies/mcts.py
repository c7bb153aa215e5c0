"""Protocol `neocoder.mcts`: Monte-Carlo tree search over the tokens of the program (`strategies.search`).

Source: paper 001, Section 5.3; Zhang et al. 2023 (arXiv:2303.05510).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from creval.plugin import Completion, Message, Session
from creval.plugin.models import FatalModelError
from creval_neocoder.strategies.feedback import pass_rate
from creval_neocoder.strategies.search import Continuation, Settings, is_end, search

__all__ = ["TreeSearch"]


@dataclass(frozen=True)
class TreeSearch:
    """Searches with at most `rollouts` completed programs; the reward is the share of the sample's cases that pass.

    The answer is the text with the best reward, the first one on a tie. A completion that was truncated at the limit
    counts as far as it goes. Requires a model that continues a text (`continues`) and returns its `top_k` most probable
    tokens.
    """

    rollouts: int = 16
    top_k: int = 3
    c_base: float = 10.0
    c: float = 4.0
    max_tokens: int = 1024
    seconds: float = 5.0

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return the calls of the target per sample, fewest and most."""
        return 1, self.rollouts + 1

    async def run(self, session: Session) -> None:
        """Search, then answer with the best."""
        calls = 0

        async def go_on(begin: str, room: int) -> Continuation:
            nonlocal calls
            calls += 1
            messages = [*session.prompt(), *([Message("assistant", begin)] if begin else [])]
            greedy: dict[str, Any] = {"temperature": 0, "logprobs": True, "top_logprobs": self.top_k}
            reply = await session.ask(messages, tolerate=("length", "empty"), **greedy, max_tokens=room)
            return continuation(reply.completions[0])

        async def reward(text: str) -> float:
            parsed = session.parse(text)
            if not parsed.ok:
                return 0.0
            sandbox = session.context.resource("sandbox")
            return await pass_rate(sandbox, parsed.value, session.doc.fields, self.seconds)

        settings = Settings(self.rollouts, self.top_k, self.c_base, self.c, self.max_tokens)
        found = await search(go_on, reward, settings)
        best = max(found, key=lambda each: each.reward)
        session.report(
            calls=calls,
            rewards=[each.reward for each in found],
            cut=sum(each.cut for each in found),
            programs=len({each.text for each in found}),
            chosen=found.index(best),
        )
        if not best.text.strip():
            session.unparsed("the model gave an empty answer in every rollout")
        session.answer(best.text)


def continuation(completion: Completion) -> Continuation:
    """Return a completion as tokens with the alternatives at each position.

    Raises FatalModelError if the model returns no alternatives, since then there is nothing to search.
    """
    logprobs = completion.logprobs or ()
    tokens = [each.token for each in logprobs]
    while tokens and is_end(tokens[-1]):
        tokens.pop()
    alternatives = [each.top for each in logprobs]
    if tokens and not any(alternatives):
        raise FatalModelError(
            "the model returns no alternatives to its tokens (top_logprobs), which a search needs",
            fix="Use a model or provider that returns them, or leave the task out.",
            every_call=True,
        )
    if "".join(tokens) != completion.text:  # a server whose tokens do not add up to the text
        tokens, alternatives = [completion.text] if completion.text else [], alternatives[:1]
    return Continuation(tokens, alternatives, completion.finish_reason == "length")
