"""A server on the loopback address that also writes: an answer follows from the prompt and how often it was asked."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from support.completions_server import CompletionsServer, tokens_of

__all__ = ["GeneratingServer", "said"]

_LINES = (
    "That makes {sum}.\n#### {sum}\n\nQ: and so on",
    "The answer is {sum}. And the {word} stays.",
    " {word}, of course",
    "{sum} boats. No more",
    "not True but False.\nPassage: x",
    "The {word} {sum}",
    "  The answer is {last}. The answer is {sum}.",
)


def said(prompt: str, turn: int = 0) -> str:
    """Return what is written after a prompt the n-th time."""
    tail = prompt[-200:]
    numbers = [int(each) for each in re.findall(r"\d+", tail)][-2:] or [0]
    words = re.findall(r"[a-z]{4,}", tail) or ["none"]
    digest = hashlib.sha256(f"{turn // 3}{prompt}".encode()).digest()
    line = _LINES[digest[0] % len(_LINES)]
    return line.format(sum=sum(numbers) + (digest[1] % 4 == 0), last=numbers[-1], word=words[digest[2] % len(words)])


@dataclass
class GeneratingServer(CompletionsServer):
    """Knows /v1/completions without echo and /v1/chat/completions, too; `stop` and `max_tokens` are kept to."""

    asked: Counter[str] = field(default_factory=Counter)
    steady: bool = False
    """Whether a prompt is always answered alike, however often it was asked."""

    def restart(self) -> None:
        """Forget how often each prompt was asked."""
        self.asked = Counter()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return status and body of an answer."""
        chat = path == "/v1/chat/completions"
        if not chat and (path != "/v1/completions" or body.get("echo")):
            return super().answer(path, body)
        with self._lock:
            self.requests.append((path, body))
            if self.fail:
                return self.fail.pop(0), {"error": {"message": "come again"}}
            return 200, self._written(body, chat)

    def _written(self, body: dict[str, Any], chat: bool) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        if isinstance(prompt, list):
            prompt = prompt[0] if isinstance(prompt[0], list | str) else prompt
        if isinstance(prompt, list):
            prompt = "".join(self._texts[each] for each in prompt)
        text = said(prompt, 0 if self.steady else self.asked[prompt])
        self.asked[prompt] += 1
        places = [at for stop in body.get("stop") or () if stop and (at := text.find(stop)) >= 0]
        text = text[: min(places)] if places else text
        tokens = tokens_of(text)
        cut = len(tokens) > (body.get("max_tokens") or 10**6)
        text = "".join(tokens[: body["max_tokens"]]) if cut else text
        choice = {"index": 0, "finish_reason": "length" if cut else "stop"}
        choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        return {"model": body["model"], "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
