"""The web application of the page: its files, its state, and what it sends."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from aiohttp import web

from creval.models.players.desks.board import Board, Refused

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


def make_app(board: Board, hosts: frozenset[str]) -> web.Application:
    """Return the application for a board. `hosts` are the values of the Host header that are answered.

    Other hosts, and requests that a page of another origin sent, are refused: a web site that the player has open
    elsewhere can neither read the game nor play it.
    """

    @web.middleware
    async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if request.host not in hosts or (origin is not None and origin.partition("://")[2] not in hosts):
            raise web.HTTPForbidden(text="This page is served to this machine only.")
        response: web.StreamResponse = await handler(request)
        response.headers.update(_HEADERS)
        return response

    async def state(request: web.Request) -> web.Response:
        try:
            after = int(request.query.get("after", "0"))
        except ValueError:
            after = 0
        return web.json_response(await board.newer(after, _POLL_SECONDS))

    async def answer(request: web.Request) -> web.Response:
        told = await _body(request)
        return _taken(lambda: board.take(told.get("view"), told.get("value")))

    async def stop(request: web.Request) -> web.Response:
        told = await _body(request)
        return _taken(lambda: board.stop(told.get("view")))

    async def seen(request: web.Request) -> web.Response:
        await _body(request)
        if board.state["phase"] == "closing":
            board.closing_seen.set()
        return web.json_response({})

    app = web.Application(middlewares=[guard], client_max_size=_LARGEST_BODY)
    for path, (name, kind) in _FILES.items():
        app.router.add_get(path, _file(name, kind))
    app.router.add_get("/state", state)
    app.router.add_post("/answer", answer)
    app.router.add_post("/stop", stop)
    app.router.add_post("/seen", seen)
    return app


def _file(name: str, kind: str) -> _Handler:
    text = (files("creval.models.players.desks") / "page" / name).read_text(encoding="utf-8")

    async def send(request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=kind, charset="utf-8")

    return send


async def _body(request: web.Request) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise web.HTTPUnsupportedMediaType(text="JSON is expected.")
    try:
        told = await request.json()
    except (ValueError, RecursionError) as error:
        raise web.HTTPBadRequest(text="The body is no JSON.") from error
    if not isinstance(told, dict):
        raise web.HTTPBadRequest(text="A JSON object is expected.")
    return told


def _taken(take: Any) -> web.Response:
    try:
        take()
    except Refused as refused:
        text = json.dumps({"reason": str(refused)})
        return web.Response(text=text, status=409 if refused.stale else 422, content_type="application/json")
    return web.json_response({})
