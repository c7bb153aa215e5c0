"""What goes to a server in one call, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

__all__ = ["FormFile", "HttpCall", "HttpReply"]


class HttpReply(NamedTuple):
    """A server's response. Header names are in lower case; of several headers with one name the first is kept."""

    status: int
    headers: Mapping[str, str]
    body: bytes


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
