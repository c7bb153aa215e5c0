"""Every command in README and docs that asks a hosted model runs as printed, against servers on the loopback address.

What is changed: the providers' addresses (by the environment variables that a user would set), made-up keys, one doc
and one repeat, and encoders that are at hand in place of those that are fetched.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.batch_server import BatchServer
from support.chat_server import ChatServer
from support.commands import program

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
LINE = re.compile(r"^ *(creval (?:[^\n#]* )?--model [^\n#]*)(?:#[^\n]*)?$", re.MULTILINE)
LOCAL = ("baseline/", "embedded/", "replay/", "given/")
ELSEWHERE = {
    "alliteration": "the plugin that plugins.md builds; its own test runs the page",
    "macgyver ": "its problems are fetched from the web; the plugin's tests run it on a copy",
    "macgyver_jury ": "as macgyver",
    "create=queries.jsonl": "the file is what `creval create build` writes; the plugin's tests build and play one",
    "create_published": "its queries may not be shipped; the plugin's tests run it on an imported set",
    "--tasks neocoder": "its problems are fetched from the web; the plugin's tests run it on the reference data",
    "./questions.yaml": "the file is what task-without-code.md builds; tests/examples builds and runs it",
    "neocoder build": "the problems are the reader's own; the page's replayed build is run as its example",
    "built.yaml": "the file is what `creval neocoder build` writes",
    "--dry-run": "it asks nobody; the tests of estimates run it",
    "--detach": "it leaves before anybody has answered; test_batch_commands runs and collects it",
    "kumo_published": "its games are fetched from the web; the plugin's tests run it on a copy",
}
"""Tasks whose commands are not run here, each with the reason."""


def commands(page: Path) -> list[str]:
    """Return the commands of a page that ask a model which is not on this machine."""
    found = []
    whole = re.sub(r" *\\\n *", " ", page.read_text(encoding="utf-8"))  # a command may go on a line below
    for match in LINE.finditer(whole):
        text = match[1].strip()
        words = shlex.split(text)
        model = words[words.index("--model") + 1]
        if not model.startswith(LOCAL) and not any(task in text for task in ELSEWHERE):
            found.append(text)
    return found


class Messages(http.server.BaseHTTPRequestHandler):
    """A server that speaks the messages protocol, for a provider outside the chat-completions lane."""

    keys: list[str]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        self.keys.append(self.headers.get("x-api-key", ""))
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": asked["model"],
            "content": [{"type": "text", "text": "forty-two"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 9, "output_tokens": 3},
        }
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


@pytest.fixture(scope="module")
def messages_server() -> Iterator[str]:
    Messages.keys = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Messages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def environment(home: Path, server: ChatServer, messages: str) -> Mapping[str, str]:
    """The environment of a user with made-up keys, whose providers are all on this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {
        **kept,
        "HOME": str(home),
        "CREVAL_CACHE": str(home / "cache"),
        "OPENROUTER_API_KEY": "made-up-openrouter",
        "OPENAI_API_KEY": "made-up-openai",
        "ANTHROPIC_API_KEY": "made-up-anthropic",
        "OPENROUTER_API_BASE": server.url,
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_BASE": server.url,
        "OLLAMA_API_BASE": server.url.removesuffix("/v1"),
        "ANTHROPIC_API_BASE": messages,
    }


def test_there_are_such_commands() -> None:
    assert len(commands(ROOT / "README.md")) >= 6


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_commands_of_a_page_reach_their_model(page: Path, tmp_path: Path, messages_server: str) -> None:
    for number, text in enumerate(dict.fromkeys(commands(page))):
        with BatchServer(answer="forty-two") as server:
            before = len(Messages.keys)
            words = shlex.split(re.sub(r"http://127\.0\.0\.1:\d+/v1", server.url, text))
            if "--limit" not in words:
                words += ["--limit", "1"]
            if "--tasks kumo" not in text and "--resource" not in words:
                words += ["--resource", "embedding=embedded/minilm"]
            if "_own" in text:
                words += ["--resource", "entailment=cosine/0.85"]
            words += ["--repeats", "1", "--output", f"runs/{number}"]
            done = subprocess.run(
                program(*words[1:]),
                cwd=tmp_path,
                env=environment(tmp_path, server, messages_server),
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert done.returncode == 0, f"{text}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            asked = len(server.requests) + sum(server.billed.values()) + len(Messages.keys) - before
            assert asked > 0, f"no server was asked by: {text}"
            everything = "".join(p.read_text() for p in (tmp_path / "runs" / str(number)).rglob("*.json*"))
            assert "made-up-" not in everything
