"""The authors' files: fetched from a server on the loopback address, pinned, kept, refused where altered."""

from __future__ import annotations

import asyncio
import functools
import json
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from creval.engine.run_options import RunOptions
from creval.errors import DataError
from creval.plugin.data import DataOptions, sha256_of
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_ideas import published
from creval_ideas.published import FOLDER, KEYWORDS, PINS, PROMPTS, open_keywords
from creval_testing.task_examples import run_examples

WORDING = {
    "idea_prompt": {"description": "An idea on {{keywords}}, please."},
    "critic_prompt": {"description": "You review {ideas}."},
    "fluency_critic_prompt": {"description": "On {{keyword}}: {{A}} or {{B}}? On {{keyword}}."},
}


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def write(folder: Path) -> dict[str, str]:
    """Write files in the form of the authors', with other words; returns their pins."""
    for name, text in ((KEYWORDS, ",Keyword\n0,moss\n1,big bang\n"), (PROMPTS, json.dumps(WORDING))):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return {name: sha256_of(folder / name) for name in (KEYWORDS, PROMPTS)}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address that serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_docs_hold_the_authors_wording(served: tuple[Path, str], tmp_path: Path) -> None:
    folder, address = served
    pins = write(folder)
    rows = open_keywords(address, pins, base=tmp_path, options=DataOptions(cache=tmp_path / "cache"))
    assert list(rows) == [
        {
            "keyword": keyword,
            "idea": f"An idea on {keyword}, please.",
            "critic": "You review {ideas}.",
            "pair": [f"On {keyword}: ", " or ", f"? On {keyword}."],
        }
        for keyword in ("moss", "big bang")
    ]
    kept = DataOptions(cache=tmp_path / "cache", offline=True)
    assert list(open_keywords("http://127.0.0.1:9", pins, base=tmp_path, options=kept)) == list(rows)


def test_other_files_are_refused(served: tuple[Path, str], tmp_path: Path) -> None:
    folder, address = served
    pins = write(folder)
    (folder / PROMPTS).write_text("{}")
    with pytest.raises(DataError, match="sha256"):
        open_keywords(address, pins, base=tmp_path, options=DataOptions(cache=tmp_path / "cache"))
    pins[PROMPTS] = sha256_of(folder / PROMPTS)
    with pytest.raises(DataError, match="another form"):
        open_keywords(address, pins, base=tmp_path, options=DataOptions(cache=tmp_path / "cache"))


def test_without_a_network_the_fix_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="--offline forbids the network"):
        open_keywords(base=tmp_path, options=DataOptions(cache=tmp_path, offline=True))


def test_the_keywords_are_those_of_the_authors(reference_data: Path, tmp_path: Path) -> None:
    file = reference_data / "liveideabench" / "keywords.csv"
    assert sha256_of(file) == PINS[KEYWORDS]
    pins = write(tmp_path / "data" / FOLDER)
    (tmp_path / "data" / FOLDER / KEYWORDS).write_bytes(file.read_bytes())
    options = DataOptions(cache=tmp_path, offline=True)
    rows = list(open_keywords(pins=pins | {KEYWORDS: PINS[KEYWORDS]}, base=tmp_path, options=options))
    assert len({row["keyword"] for row in rows}) == len(rows) == 1180
    assert rows[1]["idea"] == "An idea on periodic table, please."


def test_the_examples_of_the_task_on_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "PINS", write(tmp_path / "cache" / "data" / FOLDER))
    plugins = load_plugins()
    task = TaskIndex(plugins).load("liveideabench")
    outcomes = asyncio.run(run_examples(task, RunOptions(offline=True), plugins))
    assert len(outcomes) == 4
    assert [fault for each in outcomes for fault in each.faults] == []
