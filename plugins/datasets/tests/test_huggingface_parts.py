"""Several configurations and splits, `where`, streams, the newest commit: the real library against a loopback hub."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.forked import finished
from support.hub_server import HubServer

CARD = b"""---
configs:
- config_name: easy
  data_files:
  - {split: train, path: easy/train.jsonl}
  - {split: test, path: easy/test.jsonl}
- config_name: hard
  data_files:
  - {split: train, path: hard/train.jsonl}
  - {split: test, path: hard/test.jsonl}
---
"""
READ = """
import json, sys
from pathlib import Path
from creval.data.data_options import DataOptions
from creval_datasets.huggingface import open_huggingface
from creval.errors import CrevalError

found = []
for case in json.loads(sys.argv[2]):
    options = DataOptions(cache=Path(sys.argv[1]), offline=case.pop("offline", False), task="toy")
    try:
        rows = open_huggingface(**case, base=Path("."), options=options)
        found.append({"origin": rows.origin, "rows": [dict(row) for row in rows]})
    except CrevalError as error:
        found.append(str(error))
print(json.dumps(found))
"""


def read(folder: Path, endpoint: str, *cases: dict[str, Any], token: str = "") -> list[Any]:
    """Open each case in one process of its own: its origin and rows, or the message."""
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "home"), "HF_TOKEN": token}
    environment["HF_HUB_DISABLE_XET"] = "1"
    done = finished([str(folder / "cache"), json.dumps(cases)], folder, environment, 120, READ)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(config: str, split: str, count: int = 3) -> list[dict[str, Any]]:
    return [{"word": f"{config} {split} {n}", "n": n, "lang": "en" if n % 2 else None} for n in range(count)]


def lines(*docs: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(doc).encode() + b"\n" for doc in docs)


@pytest.fixture(scope="module")
def hub() -> Iterator[HubServer]:
    files = {f"{c}/{s}.jsonl": lines(*rows(c, s)) for c in ("easy", "hard") for s in ("train", "test")}
    with HubServer({"hf_other": "bob"}) as server:
        server.add("ada/words", {"README.md": CARD, **files})
        server.add("ada/long", {"test.jsonl": lines(*rows("long", "test", 5000))})
        server.add("ada/gated", {"test.jsonl": lines(*rows("x", "test"))}, gated=True)
        yield server


def case(hub: HubServer, name: str, split: Any = "test", **about: Any) -> dict[str, Any]:
    return {"dataset": f"ada/{name}", "revision": hub.dataset(f"ada/{name}").commits[-1].oid, "split": split, **about}


def words(found: Any) -> list[str]:
    assert isinstance(found, dict), found
    return [row["word"] for row in found["rows"]]


def test_parts_and_rows_are_chosen(hub: HubServer, tmp_path: Path) -> None:
    both: dict[str, Any] = {"config": ["easy", "hard"], "split": ["train", "test"]}
    cases = [
        case(hub, "words", **both, columns=["n"]),
        case(hub, "words", **both, where={"n": {"min": 1, "below": 2}}, origin="subset"),
        case(hub, "words", config="hard", where={"lang": "en"}),
        case(hub, "words", config="hard", where={"lang": None, "n": [0, 1]}),
        case(hub, "words", config="hard", where={"lang": {"not": "en"}, "word": {"above": "hard test 0"}}, take=1),
        case(hub, "words", config="hard", where={"word": {"min": 3}}),
        case(hub, "words", config="hard", where={"language": "en"}),
        case(hub, "words", config="hard", where={"n": 9}),
        case(hub, "words", config="hard", columns=["m"]),
        case(hub, "words", config="hard", split=["train", "test"], origin="n"),
        case(hub, "words", config="hard", columns={"text": "word"}, take=1),
        case(hub, "words", config="hard", columns={"text": "word", "n": "n", "copy": "word"}),
        case(hub, "words", config="hard", columns={"text": "word", "copy": "word"}, streaming=True),
        case(hub, "words", config="hard", columns={"n": "word", "word": "n"}, take=1),
        case(hub, "words", config="middle"),
        case(hub, "words", config="hard", split="dev"),
    ]
    four, second, named, none, last, text, field, nothing, column, taken, new, *twice, swapped, config, split = read(
        tmp_path, hub.url, *cases
    )
    names = ["easy/train", "easy/test", "hard/train", "hard/test"]
    assert four["rows"] == [{"n": n, "origin": name} for name in names for n in range(3)]
    assert four["origin"].endswith("split easy/train, easy/test, hard/train, hard/test")
    assert [(row["word"], row["subset"]) for row in second["rows"]] == [
        (f"{name.replace('/', ' ')} 1", name) for name in names
    ]
    assert words(named) == ["hard test 1"] and words(none) == ["hard test 0"] and words(last) == ["hard test 2"]
    assert "compares the field 'word', 'hard test 0', with 3 (min)" in text
    assert "names the field 'language', which the data do not have; they have word, n, lang" in field
    assert "no row fits `where`" in nothing and "no column 'm'; they have word, n, lang" in column
    assert "already have a column 'n'" in taken and "origin: subset" in taken
    assert new["rows"] == [{"text": "hard test 0"}]
    for said in twice:
        assert "`columns` takes the column 'word' twice, as text and copy" in said and "fields: {copy: text}" in said
    assert swapped["rows"] == [{"n": "hard test 0", "word": 0}]
    assert "middle" in config and "dev" in split


def test_of_a_stream_only_what_is_taken_is_stored(hub: HubServer, tmp_path: Path) -> None:
    stream = case(hub, "long", where={"n": {"min": 100}}, streaming=True, take=50, columns=["word", "n"])
    several = case(hub, "words", config=["easy", "hard"], streaming=True)
    first, parts, other = read(tmp_path, hub.url, stream, several, {**stream, "take": 2})
    assert words(first) == [f"long test {n}" for n in range(100, 150)] and set(first["rows"][0]) == {"word", "n"}
    assert [row["origin"] for row in parts["rows"]] == ["easy/test"] * 3 + ["hard/test"] * 3
    assert words(other) == ["long test 100", "long test 101"]
    stored = sum(file.stat().st_size for file in (tmp_path / "cache").rglob("*") if file.is_file())
    assert stored < 40_000 < len(hub.dataset("ada/long").files["test.jsonl"])
    away = "http://127.0.0.1:9"
    again, never, offline = read(tmp_path, away, stream, {**stream, "take": 3}, {**stream, "take": 3, "offline": True})
    assert again == first
    assert "cannot be reached" in never and "--data toy=FILE" in never
    assert "not in the cache, and --offline forbids the network" in offline


def test_the_newest_commit_is_that_of_the_first_fetch(hub: HubServer, tmp_path: Path) -> None:
    changing = hub.add("ada/changing", {"test.jsonl": lines(*rows("old", "test"))})
    asked = {"dataset": "ada/changing", "revision": "newest", "split": "test"}
    (before, never) = read(tmp_path, hub.url, {**asked, "offline": True}, {**asked, "dataset": "ada/nowhere"})
    assert "--offline forbids the network" in before and "cannot be loaded" in never
    (first,) = read(tmp_path, hub.url, asked)
    commit = changing.commits[-1].oid
    changing.commit("main", "more", {"test.jsonl": lines(*rows("new", "test"))})
    (again,) = read(tmp_path, hub.url, asked)
    (offline,) = read(tmp_path, "http://127.0.0.1:9", {**asked, "offline": True})
    assert words(first) == words(again) == words(offline) == ["old test 0", "old test 1", "old test 2"]
    assert f"ada/changing@{commit[:12]}" in again["origin"]
    (elsewhere,) = read(tmp_path / "home", hub.url, asked)
    assert words(elsewhere) == ["new test 0", "new test 1", "new test 2"]


def test_a_newest_commit_that_is_not_as_expected_is_refused_and_forgotten(hub: HubServer, tmp_path: Path) -> None:
    stated = hub.add("ada/stated", {"test.jsonl": lines(*rows("short", "test")[:2])})
    short = stated.commits[-1].oid
    asked = {"dataset": "ada/stated", "revision": "newest", "split": "test", "columns": ["word"]}
    expected = {"rows": 3, "columns": ["word", "n"]}
    (few, both, fine) = read(
        tmp_path,
        hub.url,
        {**asked, "expected": expected},
        {**asked, "expected": {"rows": 1_000, "columns": ["word", "gloss"]}},
        {**asked, "revision": short, "expected": expected},  # a commit that somebody chose is taken as it is
    )
    assert f"newest commit {short} is another data set: it has 2 rows, the task expects 3" in few
    assert f"{hub.url}/datasets/ada/stated/commits/main" in few and "dataset: {revision: COMMIT}" in few
    assert "it has 2 rows, the task expects 1,000; it has no column 'gloss'" in both and "there are" in both
    assert words(fine) == ["short test 0", "short test 1"]
    stated.commit("main", "whole", {"test.jsonl": lines(*rows("whole", "test"))})
    (found, stream) = read(
        tmp_path, hub.url, {**asked, "expected": expected}, {**asked, "expected": expected, "streaming": True}
    )
    assert words(found) == ["whole test 0", "whole test 1", "whole test 2"]
    assert "a stream has no row count" in stream


def test_why_a_data_set_is_not_available_is_reported(hub: HubServer, tmp_path: Path) -> None:
    gated, stream = case(hub, "gated"), case(hub, "gated", streaming=True)
    missing = {**case(hub, "words", config="hard"), "revision": "b" * 40}
    for message in read(tmp_path, hub.url, gated, stream, {**gated, "revision": "newest"}):
        assert "the data set is gated" in message and "HF_TOKEN" in message, message
        assert f"Accept them at {hub.url}/datasets/ada/gated" in message
    (revision,) = read(tmp_path, hub.url, missing)
    assert "no such Revision" in revision and f"{hub.url}/datasets/ada/words/commits/main" in revision
    (opened,) = read(tmp_path, hub.url, gated, token="hf_other")
    assert words(opened) == ["x test 0", "x test 1", "x test 2"]


def test_an_account_without_access_is_pointed_to_where_to_ask_for_it(tmp_path: Path) -> None:
    def fault(request: web.Request) -> web.Response | None:
        headers = {"X-Error-Code": "GatedRepo", "X-Error-Message": "you are not in the authorized list"}
        return web.Response(status=403, headers=headers) if "/resolve/" in request.path else None

    with HubServer({"hf_other": "bob"}, fault) as server:
        server.add("ada/gated", {"test.jsonl": lines(*rows("x", "test"))}, gated=True)
        (message,) = read(tmp_path, server.url, case(server, "gated"), token="hf_other")
        assert f"Accept them at {server.url}/datasets/ada/gated" in message and "token of that account" in message
