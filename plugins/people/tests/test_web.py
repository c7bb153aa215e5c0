"""The web seat over HTTP, without a browser."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from creval.plugin import UsageError
from creval.plugin.screens import OptionGroup, ScreenOption, View
from creval_people.seats.board import Board, Closing
from creval_people.seats.progress import Progress
from creval_people.seats.web import WebSeat

GAME = View(
    sample="g1",
    title="Medicine",
    goal="Find it.",
    reading="# Book\n\n- **Asthma**: <i>wheeze</i>",
    markdown=True,
    groups=(
        OptionGroup("Tests", (ScreenOption("X-Ray", "taken"),)),
        OptionGroup("Truths", (ScreenOption("Asthma"),), final=True),
    ),
)
TEXT = View(sample="t1", title="t", goal="g", reading="Name a colour.")


class Page:
    """A client of the page's addresses."""

    def __init__(self, seat: WebSeat) -> None:
        self.port = seat.port
        self.base = seat.url.partition(f":{seat.port}")[2].rstrip("/")
        self.version = 0

    def call(
        self, method: str, path: str, reported: Any = None, **headers: str
    ) -> tuple[int, Any, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = None if reported is None else json.dumps(reported)
        connection.request(method, self.base + path, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, json.loads(text) if text.startswith("{") else text, response

    def next(self) -> dict[str, Any]:
        """The next state that is shown."""
        state = self.call("GET", f"/state?after={self.version}")[1]
        self.version = state["version"]
        return state

    def question(self) -> dict[str, Any]:
        """The state of the next question."""
        while (state := self.next())["phase"] != "ask":
            pass
        return state

    def answer(self, view: Any, value: Any) -> tuple[int, Any]:
        return self.call("POST", "/answer", {"view": view, "value": value})[:2]


@pytest.fixture
def seat() -> Iterator[WebSeat]:
    with WebSeat("ada", Progress()) as seat:
        yield seat


@pytest.fixture
def page(seat: WebSeat) -> Page:
    return Page(seat)


@pytest.fixture
def asking() -> Iterator[Any]:
    """Asks in another event loop, as a run does."""
    with ThreadPoolExecutor(1) as pool:

        def ask(work: Coroutine[Any, Any, Any]) -> Future[Any]:
            return pool.submit(asyncio.run, work)

        yield ask


def test_a_choice_on_the_page_is_the_answer(seat: WebSeat, page: Page, asking: Any) -> None:
    waiting = asking(seat.ask(GAME))
    state = page.question()
    assert state["title"] == "Medicine"
    assert state["groups"][0]["choices"] == [["X-Ray", "taken"]]
    assert state["reading"][1]["runs"] == [["Asthma", "strong"], [": <i>wheeze</i>", ""]]
    assert page.answer(state["view"], "X-Ray")[0] == 200
    assert waiting.result(30) == "X-Ray"


@pytest.mark.parametrize("value", ["Flu", "", "  ", None, 7, ["X-Ray"], "x" * 200_000])
def test_what_is_no_choice_is_refused_and_the_question_stays_open(
    seat: WebSeat, page: Page, asking: Any, value: Any
) -> None:
    waiting = asking(seat.ask(GAME))
    view = page.question()["view"]
    status, reported = page.answer(view, value)
    assert status == 422
    assert reported["reason"]
    assert not waiting.done()
    assert page.answer(view, "Asthma")[0] == 200
    assert waiting.result(30) == "Asthma"


def test_each_of_many_questions_wakes_the_pages_that_wait(monkeypatch: pytest.MonkeyPatch, asking: Any) -> None:
    """Three seats in one process. A poll that is not woken lasts longer than the page's own patience."""
    monkeypatch.setattr("creval_people.seats.web_app._POLL_SECONDS", 600.0)

    async def asked(seat: WebSeat) -> list[str | None]:
        return [await seat.ask(replace(TEXT, sample=str(number))) for number in range(40)]

    def answered(seat: WebSeat) -> None:
        page = Page(seat)
        for number in range(40):
            assert page.answer(page.question()["view"], f"word {number}")[0] == 200

    with ExitStack() as stack, ThreadPoolExecutor(6) as pool:
        seats = [stack.enter_context(WebSeat(name, Progress())) for name in ("ada", "bob", "eve")]
        said = [pool.submit(asyncio.run, asked(seat)) for seat in seats]
        try:
            for answers in [pool.submit(answered, seat) for seat in seats]:
                answers.result()
        finally:
            for seat in seats:
                seat.stop()
        assert [each.result() for each in said] == [[f"word {number}" for number in range(40)]] * 3


def test_an_answer_to_an_earlier_question_changes_nothing(seat: WebSeat, page: Page, asking: Any) -> None:
    async def both() -> list[str | None]:
        return [await seat.ask(GAME), await seat.ask(TEXT)]

    waiting = asking(both())
    first = page.question()["view"]
    page.answer(first, "Asthma")
    second = page.question()
    assert second["notice"] == "Your answer is noted: Asthma"
    assert second["view"] != first
    for number in (first, None, "2", 99):
        assert page.answer(number, "X-Ray")[0] == 409
    assert page.answer(second["view"], "red\nblue")[0] == 200
    assert waiting.result(30) == ["Asthma", "red\nblue"]


def test_the_stop_button_stops(seat: WebSeat, page: Page, asking: Any) -> None:
    waiting = asking(seat.ask(GAME))
    view = page.question()["view"]
    assert page.call("POST", "/stop", {"view": view})[0] == 200
    assert waiting.result(30) is None


def test_a_cancelled_run_gives_the_question_up(seat: WebSeat, page: Page, asking: Any) -> None:
    async def cancelled() -> str:
        try:
            async with asyncio.timeout(0.2):
                await seat.ask(GAME)
        except TimeoutError:
            return "given up"
        return "answered"

    assert asking(cancelled()).result(30) == "given up"
    assert page.answer(1, "Asthma")[0] == 409


def test_a_stop_between_two_questions_is_not_lost(seat: WebSeat, asking: Any) -> None:
    seat.stop()
    waiting = asking(seat.ask(GAME))
    try:
        assert waiting.result(10) is None
    finally:
        seat.stop()


@pytest.mark.parametrize("steps", range(6))
def test_a_poll_sees_what_is_shown_at_whatever_point_of_its_way(steps: int) -> None:
    """The state changes when the poll has gone `steps` turns of the loop: it never sleeps through the change."""

    async def polled() -> dict[str, Any]:
        board = Board({"phase": "opening"})
        poll = asyncio.create_task(board.newer(board.version, 3600.0))
        for _ in range(steps):
            await asyncio.sleep(0)
        board.show({"phase": "closing"})
        for _ in range(10):
            await asyncio.sleep(0)
        assert poll.done()
        return poll.result()

    assert asyncio.run(polled()) == {"version": 2, "phase": "closing"}


def test_only_this_machine_and_this_page_are_answered(seat: WebSeat, page: Page, asking: Any) -> None:
    waiting = asking(seat.ask(GAME))
    view = page.question()["view"]
    answer = {"view": view, "value": "Asthma"}
    assert page.call("GET", "/", Host="evil.example")[0] == 403
    assert page.call("GET", "/state", Host=f"evil.example:{page.port}")[0] == 403
    assert page.call("POST", "/answer", answer, Origin="https://evil.example")[0] == 403
    assert page.call("POST", "/answer", answer, Origin="null")[0] == 403
    status, _, _ = page.call("POST", "/answer", answer, **{"Content-Type": "text/plain"})
    assert status == 415
    assert not waiting.done()
    assert page.call("POST", "/answer", answer, Origin=f"http://127.0.0.1:{page.port}")[0] == 200
    waiting.result(30)


@pytest.mark.parametrize("body", ["{", "[1]", "[" * 100_000])
def test_a_body_that_is_no_object_is_a_bad_request(page: Page, body: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
    connection.request("POST", f"{page.base}/answer", body, {"Content-Type": "application/json"})
    assert connection.getresponse().status == 400
    connection.close()


def test_the_page_loads_nothing_from_elsewhere_and_says_so_to_the_browser(page: Page) -> None:
    for path in ("/", "/play.css", "/play.js"):
        status, text, response = page.call("GET", path)
        assert status == 200
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "//" not in text.replace("// ", "").replace("//\n", "")  # no address of another host
    assert page.call("GET", "/other")[0] == 404


def test_who_does_not_know_the_address_can_neither_read_nor_play(seat: WebSeat, page: Page, asking: Any) -> None:
    waiting = asking(seat.ask(GAME))
    view = page.question()["view"]
    whole, page.base = page.base, ""
    answer = {"view": view, "value": "Asthma"}
    assert {page.call("GET", path)[0] for path in ("/", "/state", "/x/", "/play.js", whole[:-1] + "/")} == {404}
    assert page.call("POST", "/answer", answer)[0] == 404 and not waiting.done()
    with WebSeat("bob", Progress()) as other:
        assert other.url.rpartition(str(other.port))[2] != seat.url.rpartition(str(seat.port))[2]
    page.base = whole
    assert page.answer(view, "Asthma")[0] == 200
    waiting.result(30)


def test_refusals_and_failures_carry_the_headers_of_the_page(
    page: Page, seat: WebSeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> Any:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(seat._board, "newer", broken)
    answers = [
        page.call("GET", "/", Host="evil.example"),
        page.call("GET", "/other"),
        page.call("PUT", "/answer", {}),
        page.call("POST", "/answer", [1]),
        page.call("GET", "/state"),
    ]
    assert [status for status, _, _ in answers] == [403, 404, 405, 400, 500]
    for _, text, response in answers:
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["X-Content-Type-Options"] == "nosniff" and "secret of the server" not in str(text)


def plain(port: int, data: bytes) -> tuple[int, str]:
    """Send bytes as they are, and return the status and the rest of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(data)
        head, _, rest = connection.recv(65536).decode("latin-1").partition("\r\n")
    return int(head.split()[1]), rest


JSON = "application/json"


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        *(({"Content-Type": f"{JSON}; charset={name}"}, b"{}", 415) for name in ("foo", "utf-16", "hex", "../x")),
        *(({"Content-Type": JSON, "Content-Encoding": name}, b"{}", 0) for name in ("gzip", "deflate", "br", "foo")),
        *(({"Content-Type": name}, b"{}", 415) for name in ("text/json", "\x80/;;=", "multipart/form-data")),
        *(({"Content-Type": JSON}, body, 400) for body in (b"\xff{}", b"[" * 100_000, b"[]", b"{", b"", b"9" * 5000)),
        ({"Content-Type": JSON, "Content-Length": "-2"}, b"{}", 400),
        ({"Content-Type": JSON, "Content-Length": "9" * 30}, b"{}", 400),
        ({"Content-Type": JSON, "Content-Length": "9999999"}, b"{" * 1_100_000, 413),
        ({"Content-Type": JSON, "Transfer-Encoding": "chunked"}, b"zz\r\n{}\r\n", 400),
        ({"Content-Type": JSON, "Transfer-Encoding": "foo"}, b"{}", 400),
        ({"Content-Type": JSON, "Expect": "foo"}, b"{}", 417),
        ({"Content-Type": JSON, "X": "a\x00b"}, b"{}", 400),
        ({"Content-Type": JSON, "Host": "evil.example"}, b"{}", 400),
        ({"Content-Type": f"{JSON}; charset=UTF-8"}, b'{"view": 1}', 409),
    ],
)  # fmt: skip
def test_a_malformed_answer_is_refused_without_a_traceback(
    page: Page, caplog: pytest.LogCaptureFixture, headers: dict[str, str], body: bytes, status: int
) -> None:
    if not {"Content-Length", "Transfer-Encoding"} & set(headers):
        headers = {**headers, "Content-Length": str(len(body))}
    lines = [f"POST {page.base}/answer HTTP/1.1", f"Host: 127.0.0.1:{page.port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    found, _ = plain(page.port, "\r\n".join([*lines, "", ""]).encode("latin-1") + body)
    assert caplog.records == []
    assert found == status if status else found in (400, 415)  # aiohttp may be first to find that it cannot decode it


def test_nothing_is_left_waiting_for_a_client_that_sends_no_more() -> None:
    with WebSeat("ada", Progress()) as seat:
        base = Page(seat).base
        head = f"POST {base}/other HTTP/1.1\r\nHost: 127.0.0.1:{seat.port}\r\nContent-Length: 99\r\n\r\n"
        assert plain(seat.port, head.encode())[0] == 404
    assert asyncio.all_tasks(seat._loop) == set()


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("OPTIONS * HTTP/1.1", 404),
        ("CONNECT {base}/answer HTTP/1.1", 403),
        ("FOO {base}/answer HTTP/1.1", 400),
        ("GET {base}/state HTTP/9.9", 400),
        ("GET {base}/%zz HTTP/1.1", 404),
        ("GET /%ff%00%ed%a0%80/ HTTP/1.1", 404),
        ("GET http://[ HTTP/1.1", 400),
        ("GET state HTTP/1.1", 400),
        ("GET {base}/%s HTTP/1.1" % ("a" * 20_000), 400),
        ("", 400),
    ],
)
def test_a_malformed_request_line_is_refused_without_a_traceback(
    page: Page, caplog: pytest.LogCaptureFixture, line: str, status: int
) -> None:
    head = f"{line.format(base=page.base)}\r\nHost: 127.0.0.1:{page.port}\r\n\r\n"
    assert (plain(page.port, head.encode())[0], caplog.records) == (status, [])


def test_the_closing_is_shown_and_known_to_have_been_seen(seat: WebSeat, page: Page, asking: Any) -> None:
    page.next()
    with ThreadPoolExecutor(1) as pool:
        closing = Closing("Done", ["25 + 15"], ("Task", "Value"), [("kumo", "1.00")])
        shown = pool.submit(seat.close_with, closing, 30.0)
        state = page.next()
        assert not shown.done()  # sent is not yet shown
        assert page.call("POST", "/seen", {})[0] == 200
        assert shown.result(30) is True
    assert state["phase"] == "closing"
    assert state["rows"] == [["kumo", "1.00"]]


def test_a_page_that_has_gone_is_waited_for_no_longer_than_set(seat: WebSeat, page: Page) -> None:
    page.next()
    assert seat.close_with(Closing("Done"), patience=0.01) is False


def test_nobody_is_waited_for_where_nobody_came(seat: WebSeat) -> None:
    assert seat.close_with(Closing("Done"), patience=float("inf")) is False


def test_a_port_in_use_is_an_error_with_a_fix() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match=r"--port") as refused, WebSeat("ada", Progress(), taken.getsockname()[1]):
            pass
    assert "another port" in str(refused.value)
