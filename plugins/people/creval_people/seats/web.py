"""A person at a web page on this machine."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from aiohttp import web

from creval.plugin import UsageError
from creval.plugin.screens import View
from creval_people.seats.board import Board, Closing, ask_state, closing_state, opening_state
from creval_people.seats.progress import Progress
from creval_people.seats.web_app import make_app

__all__ = ["ADDRESS", "WebSeat"]

ADDRESS = "127.0.0.1"
T = TypeVar("T")
_QUIET = logging.getLogger("creval_people.requests")
"""aiohttp's messages about requests that are not HTTP: they are refused, and do not concern the person who plays."""
_QUIET.setLevel(logging.CRITICAL + 1)


class WebSeat:
    """A `Seat` that serves one page on 127.0.0.1 (or `host`), in a separate thread and event loop.

    Use as a context manager. The page outlives the run's event loop, so that it can show the results. Several
    windows may show the page; the first answer to a question counts.
    """

    def __init__(self, person: str, progress: Progress, port: int = 0, host: str = ADDRESS) -> None:
        self.port = port
        self._host = host
        self._secret = f"{person}-{secrets.token_urlsafe(16)}"
        self._person = person
        self._progress = progress
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="creval-page", daemon=True)
        self._board = Board(opening_state(person))
        self._runner: web.AppRunner | None = None
        self._number = 0
        self._notice = ""

    @property
    def url(self) -> str:
        """Return the page's address. It contains a secret of this seat: anyone who knows it can play."""
        return f"http://{self._host}:{self.port}/{self._secret}/"

    def __enter__(self) -> WebSeat:
        """Start the server. Raises UsageError if the port is taken; port 0 takes any free one."""
        self._thread.start()
        try:
            self._on_page(self._serve()).result()
        except OSError as error:
            self._end_thread()
            raise UsageError(
                f"the page cannot be served on port {self.port}: {error.strerror}",
                where="--port",
                fix="Choose another port; without --port any free one is taken.",
            ) from error
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the server."""
        if self._runner is not None:
            self._on_page(self._runner.cleanup()).result()
            self._on_page(_cancel_rest()).result()
        self._end_thread()

    async def ask(self, view: View) -> str | None:
        """Show the view on the page until it is answered there."""
        self._number += 1
        progress = (self._progress.done, self._progress.total)
        state = ask_state(view, self._number, self._person, progress, self._notice)
        value = await asyncio.wrap_future(self._on_page(self._board.answer_to(view, self._number, state)))
        ends = any(group.final and value in [c.value for c in group.options] for group in view.groups)
        self._notice = f"Your answer is noted: {value}" if ends else ""
        return value

    def stop(self) -> None:
        """End the pending question, or else the next one, as if the person had stopped there."""

        async def now() -> None:
            self._board.give_up()

        self._on_page(now()).result()

    def close_with(self, closing: Closing, patience: float = 10.0) -> bool:
        """Show the closing text and wait until a page has it, at most `patience` seconds. Return whether one has.

        Do not wait if nobody ever opened the page.
        """

        async def last() -> bool:
            self._board.show(closing_state(self._person, closing))
            if not self._board.visited:
                return False
            try:
                async with asyncio.timeout(patience):
                    await self._board.closing_seen.wait()
            except TimeoutError:
                return False
            return True

        return self._on_page(last()).result()

    def _on_page(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _serve(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self._host, self.port))
        except BaseException:
            listener.close()
            raise
        self.port = listener.getsockname()[1]
        names = {self._host, "localhost"} if self._host == ADDRESS else {self._host}
        hosts = frozenset(f"{name}:{self.port}" for name in names)
        app = make_app(self._board, hosts, self._secret)
        self._runner = web.AppRunner(app, access_log=None, logger=_QUIET, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.SockSite(self._runner, listener).start()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_rest() -> None:
    """Cancel tasks that wait for a client which sends no further bytes; the loop is about to close."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
