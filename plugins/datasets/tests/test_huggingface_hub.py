"""The source `huggingface` from end to end: the real library against a hub that speaks the Hub's protocol."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from aiohttp import web
from support.forked import finished
from support.hub_server import HubServer

TOKEN = "hf_" + "abcdefgh12345678"
LINES = b"".join(json.dumps({"word": f"word {number}", "n": number}).encode() + b"\n" for number in range(30_000))

READ = """
import json, sys
from pathlib import Path
from creval_datasets.huggingface import open_huggingface
from creval.data.data_options import DataOptions
from creval.errors import DataError

found = []
for dataset, revision, split, offline in json.loads(sys.argv[2]):
    options = DataOptions(cache=Path(sys.argv[1]), offline=offline, task="toy")
    try:
        rows = open_huggingface(dataset, revision, split, base=Path("."), options=options)
        found.append([len(rows), rows.row(len(rows) - 1)["word"]])
    except DataError as error:
        found.append(str(error))
print(json.dumps(found))
"""


def read(folder: Path, endpoint: str, *cases: tuple[str, str, str, bool], token: str = "") -> list[Any]:
    """Open each data set in one process of its own, and return its size and last word, or the message."""
    environment = {
        **os.environ,
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(folder / "home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": token,
    }
    done = finished([str(folder / "cache"), json.dumps(cases)], folder, environment, 120, READ)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_one_commit_of_one_split_and_every_reason_why_not(tmp_path: Path) -> None:
    with HubServer({TOKEN: "ada"}) as hub:
        words = hub.add("ada/words", {"test.jsonl": LINES})
        old = words.commits[-1].oid
        words.commit("main", "less", {"test.jsonl": LINES[: LINES.index(b"\n") + 1]})
        new = words.commits[-1].oid
        gated = hub.add("ada/gated", {"test.jsonl": LINES}, gated=True).commits[-1].oid
        cases = [
            ("ada/words", old, "test", False),
            ("ada/words", new, "test", False),
            ("ada/words", old, "train", False),
            ("ada/words", "b" * 40, "test", False),
            ("ada/nothing", old, "test", False),
            ("ada/gated", gated, "test", False),
            ("ada/words", old, "test", True),
            ("ada/gated", gated, "test", True),
        ]
        first, second, split, revision, missing, closed, kept, never = read(tmp_path, hub.url, *cases)
        (opened,) = read(tmp_path, hub.url, ("ada/gated", gated, "test", False), token=TOKEN)
    assert first == kept == opened == [30_000, "word 29999"] and second == [1, "word 0"]
    assert "train" in split and "test" in split
    assert "Revision" in revision and "exist" in missing
    assert "gated" in closed and "HF_TOKEN" in closed
    assert "not in the cache" in never

    gone = "http://127.0.0.1:9"
    again, nothing = read(tmp_path, gone, ("ada/words", old, "test", False), ("ada/words", "c" * 40, "test", False))
    assert again == first  # a pinned commit that is here needs no hub
    assert "cannot be reached" in nothing and "--data toy=FILE" in nothing


def test_a_download_that_broke_off_is_whole_in_the_end(tmp_path: Path) -> None:
    asked = []

    async def broken(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"ETag": '"x"', "Content-Length": str(len(LINES))})
        await response.prepare(request)
        await response.write(LINES[: len(LINES) // 2])
        assert request.transport is not None
        request.transport.close()
        return response

    def fault(request: web.Request) -> Any:
        if request.method == "GET" and request.path.endswith("test.jsonl"):
            asked.append(request.path)
            return broken(request) if len(asked) == 1 else None
        return None

    with HubServer({}, fault) as hub:
        commit = hub.add("ada/words", {"test.jsonl": LINES}).commits[-1].oid
        assert read(tmp_path, hub.url, ("ada/words", commit, "test", False)) == [[30_000, "word 29999"]]
    assert len(asked) >= 2
