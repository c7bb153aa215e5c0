"""The web application of the page: its files, its state, and its requests."""

from __future__ import annotations

import json
import logging
import secrets
from importlib.resources import files
from typing import Any

from aiohttp import web

from creval_people.seats.board import Board, Refused

__all__ = ["make_app"]

_POLL_SECONDS = 20.0
_LARGEST_BODY = 1_000_000
_FILES = {
    "/": ("index.html", "text/html"),
    "/play.css": ("play.css", "text/css"),
    "/play.js": ("play.js", "text/javascript"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_Handler = Any
_LOG = logging.getLogger("creval")


def make_app(board: Board, hosts: frozenset[str], secret: str) -> web.Application:
    """Return the application for a board. `hosts` are the accepted values of the Host header.

    Other hosts, and requests from a page of another origin, are refused: a web site that the person has open elsewhere
    can neither read the game nor play it. Every address begins with `secret`, which only the person knows, so that
    another user of this machine cannot either. Every response has the headers, also refusals and failures; only
    requests that are not HTTP are refused by aiohttp before they get here.
    """

    @web.middleware
    async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
        try:
            response = await checked(request, handler)
        except web.HTTPException as refused:
            response = web.Response(text=refused.text, status=refused.status, headers=_allowed(refused))
        except Exception:  # an error of one response is logged with its traceback, and ends neither server nor game
            _LOG.exception("the page could not answer %s", request.path.rpartition("/")[2])
            response = web.Response(text="The page failed; see the terminal.", status=500)
        response.headers.update(_HEADERS)
        return response

    async def checked(request: web.Request, handler: _Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if request.host not in hosts or (origin is not None and origin.partition("://")[2] not in hosts):
            raise web.HTTPForbidden(text="This page is served to this machine only.")
        given = request.path.removeprefix("/").partition("/")[0]  # `OPTIONS *` has no slash
        if not secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode()):
            raise web.HTTPNotFound(text="There is no page here. The terminal shows its whole address.")
        response: web.StreamResponse = await handler(request)
        return response

    async def state(request: web.Request) -> web.Response:
        try:
            after = int(request.query.get("after", "0"))
        except ValueError:
            after = 0
        return web.json_response(await board.newer(after, _POLL_SECONDS))

    async def answer(request: web.Request) -> web.Response:
        payload = await _body(request)
        return _respond(lambda: board.take(payload.get("view"), payload.get("value")))

    async def stop(request: web.Request) -> web.Response:
        payload = await _body(request)
        return _respond(lambda: board.stop(payload.get("view")))

    async def seen(request: web.Request) -> web.Response:
        await _body(request)
        if board.state["phase"] == "closing":
            board.closing_seen.set()
        return web.json_response({})

    app = web.Application(middlewares=[guard], client_max_size=_LARGEST_BODY)
    for path, (name, kind) in _FILES.items():
        app.router.add_get(f"/{secret}{path}", _file(name, kind))
    app.router.add_get(f"/{secret}/state", state)
    app.router.add_post(f"/{secret}/answer", answer)
    app.router.add_post(f"/{secret}/stop", stop)
    app.router.add_post(f"/{secret}/seen", seen)
    return app


def _allowed(refused: web.HTTPException) -> dict[str, str]:
    """Return the headers of a refusal: the methods that an address allows."""
    return {"Allow": refused.headers["Allow"]} if "Allow" in refused.headers else {}


def _file(name: str, kind: str) -> _Handler:
    text = (files("creval_people.seats") / "page" / name).read_text(encoding="utf-8")

    async def send(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=kind, charset="utf-8")

    return send


async def _body(request: web.Request) -> dict[str, Any]:
    """Return the JSON object in a page's request. Raises HTTPUnsupportedMediaType, HTTPBadRequest."""
    coded = request.headers.get("Content-Encoding", "identity").lower() != "identity"
    if request.content_type != "application/json" or (request.charset or "utf-8").lower() != "utf-8" or coded:
        raise web.HTTPUnsupportedMediaType(text="JSON in plain UTF-8 is expected.")
    try:
        payload = json.loads((await request.read()).decode("utf-8"))
    except (ValueError, RecursionError, web.RequestPayloadError) as error:
        raise web.HTTPBadRequest(text="The body is not JSON.") from error
    if not isinstance(payload, dict):
        raise web.HTTPBadRequest(text="A JSON object is expected.")
    return payload


def _respond(take: Any) -> web.Response:
    try:
        take()
    except Refused as refused:
        text = json.dumps({"reason": str(refused)})
        return web.Response(text=text, status=409 if refused.stale else 422, content_type="application/json")
    return web.json_response({})
