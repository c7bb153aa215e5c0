"""What `creval prefetch` fetches, and that a run without the network then has it; nothing leaves this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from creval_datasets.cli import prefetch

ROWS = b'{"word": "sun", "target": "sun"}\n{"word": "tea", "target": "tea"}\n'
TASK = """\
schema: 1
task: afar
version: 1.0.0
title: Data from elsewhere
dataset: {source: url, url: "URL", sha256: SHA, id: word}
prompt: [{role: user, content: "Write {{ word }}."}]
score: exact_match
metrics: [{name: exact_match, failed: zero}]
resources: {embedding: embedded/minilm}
baselines: {floor: {fixed: no}, ceiling: target}
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A task whose data a server on the loopback address holds; it is gone when the fixture's `stop` is called."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "words.jsonl").write_bytes(ROWS)
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served")))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/words.jsonl"
    text = TASK.replace("URL", url).replace("SHA", hashlib.sha256(ROWS).hexdigest())
    (tmp_path / "afar.yaml").write_text(text)
    yield str(tmp_path / "afar.yaml")
    server.shutdown()
    server.server_close()
    thread.join()


def test_what_is_fetched_is_here_afterwards(task: str, run_task: Any, tmp_path: Path) -> None:
    first = CliRunner().invoke(prefetch, [task])
    assert first.exit_code == 0, first.output
    assert "local/afar  data: fetched: 2 docs from" in first.output
    assert "local/afar  embedding: here already: embedded/minilm" in first.output
    (tmp_path / "served" / "words.jsonl").unlink()
    again = CliRunner().invoke(prefetch, [task])
    assert "local/afar  data: here already: 2 docs" in again.output
    done = run_task(task, "baseline/ceiling", resources={})
    assert done.metrics("afar")["exact_match"]["value"] == 1.0


def test_what_is_not_available_is_reported_and_costs_the_rest_nothing(task: str, tmp_path: Path) -> None:
    (tmp_path / "served" / "words.jsonl").unlink()
    said = CliRunner().invoke(prefetch, [task, "kumo_easy"])
    assert said.exit_code == 1
    assert "local/afar  data: failed:" in said.output
    assert "404" in said.output
    assert "kumo/kumo_easy  data: local: 250 docs" in said.output
