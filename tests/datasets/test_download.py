"""The source `url` against a real server on the loopback: pinned, whole or not at all, cached, http only."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from creval.data import download as module
from creval.data.data_options import DataOptions
from creval.data.dataset import Dataset
from creval.data.download import download, open_url
from creval.errors import DataError

CONTENT = b'{"word": "a"}\n{"word": "b"}\n'
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers by path; counts requests on the server."""

    def do_GET(self) -> None:
        self.server.requests.append(self.path)  # type: ignore[attr-defined]
        targets = {
            "/moved": "/words.jsonl",
            "/to-file": "file:///etc/passwd",
            "/to-ftp": "ftp://127.0.0.1/x",
            "/loop": "/loop",
        }
        name = self.path.partition("?")[0]
        if name in targets:
            self.send_response(302)
            self.send_header("Location", targets[name])
            self.end_headers()
        elif name == "/missing":
            self.send_error(404)
        elif name == "/busy" and self.server.requests.count(self.path) <= 2:  # type: ignore[attr-defined]
            self.send_response(429)
            self.send_header("Retry-After", "7")
            self.end_headers()
        elif name == "/broken":
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT) + (10 if name == "/short" else 0)))
            self.end_headers()
            self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.requests = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were asked for; none is made."""
    asked: list[float] = []
    monkeypatch.setattr(module.time, "sleep", asked.append)
    return asked


def url(server: ThreadingHTTPServer, path: str) -> str:
    return f"http://127.0.0.1:{server.server_port}{path}"


def test_a_file_is_fetched_once_and_then_served_from_the_cache(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    options = DataOptions(cache=tmp_path)
    address = url(server, "/words.jsonl?token=x")
    for again in (options, options, DataOptions(cache=tmp_path, offline=True)):
        with Dataset(open_url(address, SHA256.upper(), base=tmp_path, options=again)) as dataset:
            assert [doc.fields["word"] for doc in dataset] == ["a", "b"]
    assert len(server.requests) == 1  # type: ignore[attr-defined]
    assert [file.name for file in (tmp_path / "data").iterdir()] == [f"{SHA256}.jsonl"]


def test_a_damaged_cache_is_fetched_again(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    options = DataOptions(cache=tmp_path)
    address = url(server, "/words.jsonl")
    open_url(address, SHA256, base=tmp_path, options=options).close()
    (tmp_path / "data" / f"{SHA256}.jsonl").write_bytes(b"damaged")
    with pytest.raises(DataError, match="--offline forbids the network"):
        open_url(address, SHA256, base=tmp_path, options=DataOptions(cache=tmp_path, offline=True))
    assert len(Dataset(open_url(address, SHA256, base=tmp_path, options=options))) == 2


def test_redirects_are_followed_to_http_only(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    download(url(server, "/moved"), SHA256, tmp_path / "moved")
    assert (tmp_path / "moved").read_bytes() == CONTENT
    for path in ("/to-file", "/to-ftp"):
        with pytest.raises(DataError, match=r"redirects to an address that is not http|is not allowed"):
            download(url(server, path), SHA256, tmp_path / "x")
    with pytest.raises(DataError, match="the server answered 302"):
        download(url(server, "/loop"), SHA256, tmp_path / "x")


def test_a_busy_server_is_asked_again_when_it_says(
    server: ThreadingHTTPServer, tmp_path: Path, waited: list[float]
) -> None:
    download(url(server, "/busy"), SHA256, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert waited == [7, 7]


@pytest.mark.parametrize(("path", "requests"), [("/broken", 4), ("/short", 4), ("/missing", 1)])
def test_what_may_pass_is_tried_again_and_nothing_else(
    server: ThreadingHTTPServer, tmp_path: Path, waited: list[float], path: str, requests: int
) -> None:
    with pytest.raises(DataError):
        download(url(server, path), SHA256, tmp_path / "file")
    assert len(server.requests) == requests  # type: ignore[attr-defined]
    assert len(waited) == requests - 1


@pytest.mark.parametrize(
    ("path", "sha256", "part"),
    [
        ("/missing", SHA256, "the server answered 404"),
        ("/words.jsonl", "0" * 64, f"not the one that the task pins: sha256 {SHA256} instead of {'0' * 64}"),
        ("/short", SHA256, "the connection broke after"),
    ],
)
def test_nothing_is_kept_of_what_went_wrong(
    server: ThreadingHTTPServer, tmp_path: Path, path: str, sha256: str, part: str
) -> None:
    with pytest.raises(DataError, match=part):
        download(url(server, path), sha256, tmp_path / "cache" / "file")
    assert list((tmp_path / "cache").iterdir()) == []


def test_sizes_are_bounded(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="larger than 5 bytes"):
        download(url(server, "/words.jsonl"), SHA256, tmp_path / "cache" / "file", max_bytes=5)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "http://", "127.0.0.1/x"]
)
def test_only_http_addresses_are_fetched(tmp_path: Path, address: str) -> None:
    with pytest.raises(DataError, match="only http and https"):
        download(address, SHA256, tmp_path / "x")


def test_a_password_in_the_address_is_refused_and_never_shown(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        download("https://me:hunter2@example.org/x", SHA256, tmp_path / "x")
    assert "hunter2" not in str(caught.value)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    gone = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = url(gone, "/words.jsonl")
    gone.server_close()
    with pytest.raises(DataError, match="cannot be fetched"):
        download(address, SHA256, tmp_path / "x")
