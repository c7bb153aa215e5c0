"""A completions server on the loopback address, with a model and a tokenizer that any two clients see alike.

    with CompletionsServer() as server:
        ...  # server.url (ends in /v1), server.requests

A token is at most three characters of a word, a blank before the word belonging to its first; a text of its own splits
otherwise than the same text after a context may, as with real tokenizers. The probability of a token depends on every
token before it in the prompt, so that a prompt cut or windowed otherwise gives other numbers.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["EOS", "CompletionsServer", "logprob_of", "tokens_of"]

EOS = "<|end|>"
_TOKEN = re.compile(re.escape(EOS) + r"|\s?\w{1,3}|\w{1,3}|\s|[^\w\s]")


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text."""
    return _TOKEN.findall(text)


def _hash(tokens: list[str]) -> int:
    return int.from_bytes(hashlib.sha256("\x1f".join(tokens).encode()).digest()[:6], "big")


def logprob_of(before: list[str], token: str) -> tuple[float, bool]:
    """Return the log-probability of a token after others, and whether it is the most probable one."""
    number = _hash([*before, token])
    return -(number % 10007) / 1009 - 0.003, number % 3 == 0


@dataclass
class CompletionsServer:
    """What the server can: a tokenizer of its own to ask, token ids as prompts, an echo, vLLM's form, a first token."""

    tokenizes: bool = True
    echoes: bool = True
    vllm: bool = False
    adds_first: bool = False
    generates: bool = True
    longest: int | None = None
    fail: list[int] = field(default_factory=list)
    """Statuses of the first answers, in order."""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __enter__(self) -> CompletionsServer:
        self._ids: dict[str, int] = {EOS: 0}
        self._texts: list[str] = [EOS]
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else the body waits 40 ms until the head is acknowledged

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                known = self.path == "/tokenizer_info" and outer.tokenizes
                self._send(200 if known else 404, {"eos_token": EOS, "bos_token": None} if known else {"error": "no"})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._send(*outer.answer(self.path, body))

            def _send(self, status: int, body: Any) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def of(self, path: str) -> list[dict[str, Any]]:
        """Return the bodies that came to a path."""
        return [body for at, body in self.requests if at == path]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return status and body of an answer."""
        with self._lock:
            self.requests.append((path, body))
            if path == "/tokenize" and self.tokenizes:
                ids = [self._id(token) for token in tokens_of(body["prompt"])]
                return 200, {"tokens": ids, "count": len(ids), "max_model_len": self.longest}
            if path != "/v1/completions":
                return 404, {"error": {"message": "Not Found"}}
            if self.fail:
                return self.fail.pop(0), {"error": {"message": "come again"}}
            prompts = body["prompt"]
            prompts = [prompts] if isinstance(prompts, str) or type(prompts[0]) is int else prompts
            choices = [self._choice(index, prompt, body) for index, prompt in enumerate(prompts)]
            count = sum(len(tokens_of(prompt) if isinstance(prompt, str) else prompt) for prompt in prompts)
            usage = {"prompt_tokens": count, "completion_tokens": len(prompts) if self.generates else 0}
            return 200, {"model": body["model"], "choices": choices[::-1], "usage": usage}

    def _id(self, token: str) -> int:
        if token not in self._ids:
            self._ids[token] = len(self._texts)
            self._texts.append(token)
        return self._ids[token]

    def _choice(self, index: int, prompt: Any, body: dict[str, Any]) -> dict[str, Any]:
        text = isinstance(prompt, str)
        tokens = tokens_of(prompt) if text else [self._texts[each] for each in prompt]
        tokens = [EOS, *tokens] if text and self.adds_first else tokens
        scored = [*tokens, " so"] if self.generates else tokens
        values: list[float | None] = []
        tops: list[dict[str, float] | None] = []
        for place, token in enumerate(scored):
            value, greedy = logprob_of(scored[:place], token)
            values.append(value if place else None)
            tops.append(({token: value} if greedy else {"!": value / 2, token: value}) if place else None)
        reported = {"tokens": scored, "token_logprobs": values, "top_logprobs": tops}
        choice = {"index": index, "text": "".join(scored), "finish_reason": "length", "logprobs": reported}
        if not self.echoes or not body.get("echo"):
            last = {name: column[-1:] for name, column in reported.items()}
            return choice | {"text": " so", "logprobs": last}
        if self.vllm and body.get("prompt_logprobs") is not None:
            entries = [self._entry(*row) for row in zip(tokens, values, tops, strict=False)]
            choice |= {"prompt_logprobs": entries, "logprobs": None}
        return choice

    def _entry(self, token: str, value: float | None, top: dict[str, float] | None) -> dict[str, Any] | None:
        if top is None:
            return None
        own = {str(self._id(token)): {"logprob": value, "rank": 1 if len(top) == 1 else 2, "decoded_token": token}}
        return own | {
            str(self._id(name)): {"logprob": at, "rank": 1, "decoded_token": name}
            for name, at in top.items()
            if name != token
        }
