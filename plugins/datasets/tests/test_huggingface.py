"""The source `huggingface` with the real library against a hub on the loopback that serves one small data set."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.forked import finished

from creval.data.data_options import DataOptions
from creval.errors import DataError, MissingPartError
from creval_datasets.huggingface import open_huggingface

COMMIT = "a" * 40
LINES = b'{"word": "a", "n": 1}\n{"word": "b", "n": 2}\n'

needs_datasets = pytest.mark.skipif(find_spec("datasets") is None, reason="the package datasets is not installed")

READ = """
import json, sys
from pathlib import Path
from creval.data.dataset import Dataset
from creval_datasets.huggingface import open_huggingface
from creval.data.data_options import DataOptions
from creval.errors import DataError

def read(revision, offline, dataset="owner/words", split="test"):
    options = DataOptions(cache=Path(sys.argv[1]), offline=offline, task="toy")
    try:
        data = Dataset(open_huggingface(dataset, revision, split, base=Path("."), options=options), "word")
    except DataError as error:
        return str(error)
    return [data[i].fields for i in range(len(data))]

commit = "a" * 40
offline = sys.argv[2] == "offline"
print(json.dumps({
    "pinned": read(commit, offline),
    "other commit": read("b" * 40, offline),
    "other split": read(commit, offline, split="train"),
    "script": read(commit, offline, dataset="owner/script"),
}))
"""


class Hub(BaseHTTPRequestHandler):
    """The few answers of the hub's interface that the library asks for."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        owner, _, name = path.partition("/owner/")
        name, _, rest = name.partition("/")
        data_file = f"{name}.py" if name == "script" else "data/test.jsonl"
        if owner == "/api/datasets" and rest == f"revision/{COMMIT}":
            self._json({"id": f"owner/{name}", "sha": COMMIT, "siblings": [{"rfilename": data_file}]})
        elif owner == "/api/datasets" and rest == f"tree/{COMMIT}":
            file = {"type": "file", "path": data_file, "size": len(LINES), "oid": "b" * 40}
            folder = {"type": "directory", "path": "data", "size": 0, "oid": "c" * 40}
            self._json([file] if name == "script" else [folder])
        elif owner == "/api/datasets" and rest == f"tree/{COMMIT}/data" and name == "words":
            self._json([{"type": "file", "path": data_file, "size": len(LINES), "oid": "b" * 40}])
        elif owner == "/datasets" and rest == f"resolve/{COMMIT}/{data_file}":
            content = b"open('ran', 'w')\n" if name == "script" else LINES
            self._send(200, content, {"ETag": f'"{"d" * 40}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"})
        else:
            self._send(404, b'{"error": "not found"}', {"X-Error-Code": "EntryNotFound"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _json(self, content: Any) -> None:
        self._send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _send(self, code: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def read(folder: Path, endpoint: str, mode: str) -> dict[str, Any]:
    """Read in a process of its own: the library takes the hub's address from the environment when it is imported."""
    hidden = ("HF_TOKEN", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment.update(HF_ENDPOINT=endpoint, HF_HOME=str(folder / "home"), HF_HUB_DISABLE_TELEMETRY="1", NO_PROXY="*")
    done = finished([str(folder / "cache"), mode], folder, environment, 120, READ)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@needs_datasets
def test_one_commit_is_read_and_no_other_replaces_it(hub: str, tmp_path: Path) -> None:
    docs = [{"word": "a", "n": 1}, {"word": "b", "n": 2}]
    online = read(tmp_path, hub, "online")
    assert online["pinned"] == docs
    assert "cannot be loaded" in online["other commit"]
    assert "cannot be loaded" in online["other split"] and "train" in online["other split"]
    assert "cannot be loaded" in online["script"]
    assert not (tmp_path / "ran").exists(), "code of a data set was run"
    offline = read(tmp_path, "http://127.0.0.1:1", "offline")
    assert offline["pinned"] == docs
    # The library itself would serve the commit that it has; creval does not.
    assert "--offline forbids the network" in offline["other commit"]
    assert "--data toy=FILE" in offline["other commit"]


@needs_datasets
def test_a_local_folder_of_the_same_name_does_not_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "owner" / "words").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="a local folder is called 'owner/words'"):
        open_huggingface("owner/words", COMMIT, "test", base=tmp_path, options=DataOptions(cache=tmp_path))


def test_without_the_package_the_fix_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingPartError, match=r"pip install datasets"):
        open_huggingface("owner/words", COMMIT, "test", base=tmp_path, options=DataOptions(cache=tmp_path))
