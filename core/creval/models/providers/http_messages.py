"""What goes to a server in one call, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, NamedTuple

__all__ = ["FormFile", "HttpCall", "HttpReply"]


class HttpReply(NamedTuple):
    """A server's response: its status, its body once it is decompressed, and the lines before the body as they came.

    `content_type` is empty if the server names none.
    """

    status: int
    body: bytes
    content_type: str = ""
    head: Sequence[bytes] = ()

    @property
    def text(self) -> str:
        """Return the body as text; what is not UTF-8 is replaced."""
        return self.body.decode("utf-8", "replace")

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers, except those that are not text. Names are in lower case; the first of a name is kept.

        Those of interim replies and of a proxy are left out, and so are the trailers of chunks.
        """
        headers: dict[str, str] = {}
        ended = True
        for line in self.head:
            if line.startswith(b"HTTP/"):
                headers.clear()
                ended = False
                continue
            if ended or line in (b"\r\n", b"\n"):
                ended = True
                continue
            name, colon, value = line.partition(b":")
            if colon and value.isascii():
                headers.setdefault(name.decode("latin-1").lower(), value.decode("ascii").strip())
        return headers


class FormFile(NamedTuple):
    """A file of a form: `size` bytes from the position of `file` on, sent under a name and a media type."""

    file: BinaryIO
    size: int
    name: str
    media_type: str


class HttpCall(NamedTuple):
    """One call: the full address, and the data to send.

    `form`: the fields of a multipart form. `sink`: a body of status 200 is written there, whatever its length. `large`:
    the time limit applies to each wait for data, not to the whole call.
    """

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] | None = None
    query: Mapping[str, str] | None = None
    form: Mapping[str, str | FormFile] | None = None
    sink: BinaryIO | None = None
    large: bool = False
