"""One transfer of libcurl: what is sent, and what has arrived."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import pycurl

from creval.models.providers.http_connections import Connections
from creval.models.providers.http_messages import FormFile, HttpCall, HttpReply

__all__ = ["Transfer"]

_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_FORBIDDEN = "\r\n\0"


class Transfer:
    """A handle of libcurl for one call at a time. After a failure it is not used again.

    `received` counts the bytes of the body; more than `most` end the transfer. `fault` is an exception of the sink or
    of the form's file. `on_data` is called for each piece that is sent from a form or received. `is_stale`: nothing was
    sent, as the server had closed the kept connection.
    """

    def __init__(self, most: int, connections: Connections) -> None:
        self.curl = pycurl.Curl()
        self.received = 0
        self.fault: Exception | None = None
        self.on_data: Callable[[], None] | None = None
        self.is_stale = False
        self._most = most
        self._connections = connections
        self._opened: list[int] = []
        self._sink: BinaryIO | None = None
        self._head: list[bytes] = []
        self._pieces: list[bytes] = []
        self._headers: Mapping[str, str] | None = {"": ""}  # of the last call, here none
        self._unsent = memoryview(b"")  # its slices are not copies
        self.curl.setopt(pycurl.HEADERFUNCTION, self._head.append)
        self.curl.setopt(pycurl.READFUNCTION, self._next_of_body)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._write)
        self.curl.setopt(pycurl.SOCKOPTFUNCTION, self._note_socket)
        self.curl.setopt(pycurl.PREREQFUNCTION, self._check_connection)

    def prepare(self, call: HttpCall, headers: Mapping[str, str]) -> None:
        """Set what is sent. Raises ValueError if a header cannot be sent, pycurl.error if the address is malformed."""
        curl = self.curl
        self.received = 0
        self.is_stale = False
        self._opened.clear()
        self._head.clear()
        self._pieces.clear()
        self._sink = call.sink
        curl.setopt(pycurl.FRESH_CONNECT, not call.body)  # without a body libcurl may send again, see _next_of_body
        curl.setopt(pycurl.URL, _with_query(call.url, call.query) if call.query else _ascii(call.url))
        if call.headers != self._headers:
            curl.setopt(pycurl.HTTPHEADER, _header_lines({**headers, **(call.headers or {})}))
            self._headers = call.headers
        if call.form is not None:
            curl.setopt(pycurl.MIMEPOST, self._multipart(call.form))
        elif call.body is not None or call.method == "POST":
            self._unsent = memoryview(call.body or b"")
            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.POSTFIELDSIZE_LARGE, len(self._unsent))
        else:
            curl.setopt(pycurl.HTTPGET, 1)
        curl.setopt(pycurl.CUSTOMREQUEST, call.method)

    def reply(self) -> HttpReply:
        """Return the reply of a complete transfer."""
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self._pieces = []  # a handle that waits for its next call holds no body
        self._unsent = memoryview(b"")
        content_type = self.curl.getinfo_raw(pycurl.CONTENT_TYPE) or b""
        status = self.curl.getinfo(pycurl.RESPONSE_CODE)
        return HttpReply(status, body, content_type.decode("latin-1"), tuple(self._head))

    def _note_socket(self, number: int, _: int) -> int:
        self._opened.append(number)
        return int(pycurl.SOCKOPT_OK)

    def _check_connection(self, _: str, __: str, ___: int, port: int) -> int:
        """Refuse a kept connection that the server has closed. Called before anything is sent."""
        if self._opened:
            self._connections.add(self._opened)
        elif self._connections.is_closed(port):
            self.is_stale = True
            return int(pycurl.PREREQFUNC_ABORT)
        return int(pycurl.PREREQFUNC_OK)

    def _next_of_body(self, size: int) -> memoryview:
        """Return the next bytes of the body.

        A body that libcurl cannot read again is sent once. A string would be sent again, without a word, if a server
        closed a reused connection without an answer.
        """
        piece, self._unsent = self._unsent[:size], self._unsent[size:]
        return piece

    def _write(self, piece: bytes) -> int | None:
        """Take a piece of the body. The result -1 ends the transfer."""
        if self.on_data is not None:
            self.on_data()
        if self._sink is not None and _is_ok(self._head):
            try:
                self._sink.write(piece)
            except Exception as error:
                self.fault = error
                return -1
            return None
        self.received += len(piece)
        if self.received > self._most:
            return -1
        self._pieces.append(piece)
        return None

    def _multipart(self, form: Mapping[str, str | FormFile]) -> Any:
        mime = pycurl.CurlMime(self.curl)
        for name, value in form.items():
            part = mime.addpart()
            part.name(name)
            if isinstance(value, str):
                part.data(value.encode())
            else:
                part.data_cb(value.size, partial(self._read, value.file, value.file.tell() + value.size))
                part.filename(value.name)
                part.type(value.media_type)
        return mime

    def _read(self, file: BinaryIO, end: int, _: object, size: int) -> bytes | int:
        """Return the next bytes of a form's file; libcurl would send more than the stated size."""
        if self.on_data is not None:
            self.on_data()
        try:
            return file.read(min(size, end - file.tell()))
        except Exception as error:
            self.fault = error
            return int(pycurl.READFUNC_ABORT)


def _with_query(url: str, query: Mapping[str, str]) -> bytes:
    return _ascii(f"{url}{'&' if '?' in url else '?'}{urlencode(query)}")


def _ascii(url: str) -> bytes:
    """Return the bytes of an address. Other characters are escaped; in the host they are encoded (IDNA).

    libcurl in pycurl's wheels does not encode hosts. Raises ValueError if a host cannot be encoded.
    """
    if url.isascii():
        return url.encode()
    parts = urlsplit(url)
    rest = urlunsplit(("", "", parts.path, parts.query, ""))
    user, at, host = parts.netloc.rpartition("@")
    host = host.encode("idna").decode()
    return f"{parts.scheme}://{quote(user, safe=_ASCII)}{at}{host}{quote(rest, safe=_ASCII)}".encode()


def _header_lines(headers: Mapping[str, str]) -> list[str]:
    """Return the lines of a request; "Expect:" keeps libcurl from waiting before it sends a long body."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    for line in lines:
        if any(character in line for character in _FORBIDDEN):
            raise ValueError("a header contains a line break")
        if not line.isascii():
            raise ValueError("a header contains characters that are not ASCII")
    return [*lines, "Expect:"]


def _is_ok(head: Sequence[bytes]) -> bool:
    """Return whether the last status line names status 200; libcurl does not tell it before the transfer's end."""
    status_line = next((line for line in reversed(head) if line.startswith(b"HTTP/")), b"")
    return status_line.split(maxsplit=2)[1:2] == [b"200"]
