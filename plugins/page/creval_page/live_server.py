"""Serve the page of unfinished runs, read-only and to this machine only."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from creval.plugin import CrevalError, UsageError, open_runs
from creval.plugin.page import find_baselines
from creval_page.live_runs import LiveRuns
from creval_page.write_page import filled_page, page_data, page_text

__all__ = ["ADDRESS", "LiveServer"]

ADDRESS = "127.0.0.1"
_SCRIPTS = ("base.js", "live.js")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every response. The policy in the page itself limits what it may load and run."""


class LiveServer:
    """A server on 127.0.0.1 in separate threads; use it as a context manager.

    It serves three addresses: the page, its state as JSON, and the page of the finished runs. Each begins
    with a secret, so that no other user of this machine can read them. No part of a request names a file.
    """

    def __init__(self, places: Sequence[Path], port: int = 0, baselines: Path | None = None) -> None:
        self.port = port
        self._runs = LiveRuns(places)
        self._baselines = baselines
        self._secret = secrets.token_urlsafe(16)
        self._lock = threading.Lock()
        self._report: tuple[tuple[Path, ...], str] = ((), "")
        self._unwritable = ""
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """Return the page's address."""
        return f"http://{ADDRESS}:{self.port}/{self._secret}/"

    def __enter__(self) -> LiveServer:
        """Start the server. Raises UsageError if the port is taken; port 0 takes any free one."""
        try:
            self._server = ThreadingHTTPServer((ADDRESS, self.port), self._handler())
        except (OSError, OverflowError) as error:
            fix = "Choose another port; without --port any free one is taken."
            raise UsageError(f"port {self.port} cannot be served: {error}", where="--port", fix=fix) from error
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="creval-live", daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def answer(self, path: str) -> tuple[int, str, str]:
        """Return status, media type and text for the path of a request."""
        given, _, rest = path.partition("?")[0].removeprefix("/").partition("/")
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self._secret.encode()):
            return 404, "text/plain", "There is no page here. Its whole address is in the terminal."
        routes: dict[str, Callable[[], tuple[int, str, str]]] = {
            "": self._page,
            "state": lambda: (200, "application/json", json.dumps(self._state(), allow_nan=False)),
            "report": self._finished_page,
        }
        if rest not in routes:
            return 404, "text/plain", "There is no such page."
        with self._lock:  # one reader at a time
            return routes[rest]()

    def _state(self) -> dict[str, Any]:
        state = self._runs.state()
        if self._unwritable:
            state |= {"ended": False, "fault": self._unwritable}
        return state

    def _page(self) -> tuple[int, str, str]:
        """Return the page of finished runs once all are; until then, or if it cannot be written, the live page."""
        state = self._state()
        if state["ended"]:
            status, kind, text = self._finished_page()
            if status == 200:
                return status, kind, text
            self._unwritable = text
            state |= {"ended": False, "fault": text}
        return 200, "text/html", filled_page("live.html", _SCRIPTS, "creval live", state)

    def _finished_page(self) -> tuple[int, str, str]:
        folders = tuple(self._runs.finished())
        if not folders:
            return 404, "text/plain", "No run has finished yet."
        if self._report[0] != folders:
            try:
                runs = open_runs(folders, as_stored=True)
                found = find_baselines(self._baselines or folders[0].absolute().parent)
                self._report = folders, page_text(page_data(runs, found))
            except CrevalError as error:
                return 500, "text/plain", str(error)
        return 200, "text/html", self._report[1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        live = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10
            server_version = "creval"
            sys_version = ""

            def do_GET(self) -> None:
                status, kind, text = 403, "text/plain", "This page is served to this machine only."
                if self._from_here():
                    try:
                        status, kind, text = live.answer(self.path)
                    except Exception:  # only this response fails, with its traceback in the terminal
                        status, kind, text = 500, "text/plain", "The page failed."
                        self.server.handle_error(self.request, self.client_address)
                body = text.encode("utf-8", "backslashreplace")
                self.send_response(status)
                for name, value in {**_HEADERS, "Content-Type": f"{kind}; charset=utf-8"}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815 - the name is http.server's

            def _from_here(self) -> bool:
                """Return whether the request names this server, and does not come from a page of another origin."""
                hosts = {f"{name}:{live.port}" for name in (ADDRESS, "localhost")}
                origin = self.headers.get("Origin")
                named = self.headers.get_all("Host") or []
                return len(named) == 1 and named[0] in hosts and origin in (None, *(f"http://{host}" for host in hosts))

            def log_message(self, *_: Any) -> None:
                """Log nothing: the user who started the server does not need requests."""

        return Handler
