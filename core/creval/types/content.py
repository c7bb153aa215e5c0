"""Images, audio and files in messages, as parts between texts."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "MAX_MEDIA",
    "MEDIA_TYPES",
    "UNKNOWN_TYPE",
    "Media",
    "MediaPart",
    "Part",
    "PartKind",
    "TextPart",
    "content_digest",
    "data_url",
    "kind_of",
    "media_file_name",
    "media_in",
    "media_type_of",
    "read_data_url",
]

PartKind = Literal["image", "audio", "file"]
MAX_MEDIA = 32 * 1024 * 1024
"""The most bytes of one image, audio or file."""
MEDIA_TYPES: Mapping[str, str] = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/mp4": "m4a",
    "application/pdf": "pdf",
}
"""Media types that are recognised by their first bytes, with their file extensions."""
_FIRST_BYTES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"%PDF-", "application/pdf"),
)
UNKNOWN_TYPE = "application/octet-stream"
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,", re.ASCII)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text among the parts of a message."""

    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the part as it is stored in a run folder."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, audio or file of a message: its bytes, or the address from which the model's server fetches it.

    `digest` is the sha256 (hex) of the bytes, or of the address. It and `media_type` are derived if not given. `name`
    is the file name that is sent.
    """

    kind: PartKind
    data: bytes = field(default=b"", repr=False)
    media_type: str = ""
    name: str = ""
    url: str = ""
    digest: str = ""

    def __post_init__(self) -> None:
        if bool(self.data) == bool(self.url):
            raise ValueError(f"a part of kind {self.kind} has either data or an url")
        if not self.digest:
            object.__setattr__(self, "digest", hashlib.sha256(self.data or self.url.encode()).hexdigest())
        if self.data and not self.media_type:
            object.__setattr__(self, "media_type", media_type_of(self.data, self.name))

    def to_json(self) -> dict[str, Any]:
        """Return the part as it is stored in a run folder: by its digest, without the bytes."""
        data: dict[str, Any] = {"type": self.kind}
        if self.url:
            return {**data, "url": self.url}
        data |= {"sha256": self.digest, "media_type": self.media_type, "bytes": len(self.data)}
        return data | ({"name": self.name} if self.name else {})


Part = TextPart | MediaPart
"""A part of a message."""


class Media(dict[str, Any]):
    """An image, audio or file in a field of a doc: plain data of its digest, type and size; `load` gives the bytes.

    A template renders it as the marker `media:<sha256>`, by which a part of a message finds it. Media with an address
    have only `url`.
    """

    def __init__(self, about: Mapping[str, Any], load: Callable[[], bytes] | None = None) -> None:
        super().__init__(about)
        self.load = load

    @classmethod
    def of(cls, data: bytes, name: str = "", load: Callable[[], bytes] | None = None) -> Media:
        """Describe bytes. With `load` they are not held in memory but read again when needed."""
        digest = hashlib.sha256(data).hexdigest()
        about = {"sha256": digest, "media_type": media_type_of(data, name), "bytes": len(data)}
        return cls(about | ({"name": name} if name else {}), load or (lambda: data))

    @property
    def digest(self) -> str:
        """The sha256 (hex) of the bytes, or of the address."""
        digest = self.get("sha256")
        return str(digest) if digest else hashlib.sha256(str(self["url"]).encode()).hexdigest()

    def part(self, kind: PartKind) -> MediaPart:
        """Return it as a part of a message.

        Raises ValueError if it is of another kind, or its bytes cannot be read or have changed.
        """
        if "url" in self:
            return MediaPart(kind, url=str(self["url"]))
        if kind != "file" and kind_of(self["media_type"]) != kind:
            raise ValueError(f"it is {self['media_type']}, which is no {kind}")
        if self.load is None:
            raise ValueError("its bytes are not available")
        try:
            part = MediaPart(kind, self.load(), self["media_type"], str(self.get("name", "")))
        except OSError as error:
            raise ValueError(f"its file cannot be read: {error.strerror}") from None
        if part.digest != self.digest:
            raise ValueError("its file has changed since the data were opened")
        return part

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        """Pickle as plain data, without the bytes."""
        return dict, (dict(self),)

    def __str__(self) -> str:
        return f"media:{self.digest}"

    __repr__ = __str__

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.digest)


def media_in(value: Any, by_digest: dict[str, Media] | None = None) -> dict[str, Media]:
    """Return the media within a value of a doc, by digest; with `by_digest`, add them to it."""
    by_digest = {} if by_digest is None else by_digest
    if isinstance(value, Media):
        by_digest[value.digest] = value
    elif isinstance(value, Mapping):
        for member in value.values():
            media_in(member, by_digest)
    elif isinstance(value, list | tuple):
        for member in value:
            media_in(member, by_digest)
    return by_digest


def media_type_of(data: bytes, name: str = "") -> str:
    """Return the media type of bytes, recognised by the first of them, else by the file's extension."""
    for first, media_type in _FIRST_BYTES:
        if data.startswith(first):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE"):
        return "image/webp" if data[8:12] == b"WEBP" else "audio/wav"
    if data[4:8] == b"ftyp":
        return "audio/mp4"
    guessed = mimetypes.guess_type(name)[0] if name else None
    # An extension of images or audio does not count: the first bytes would have shown it.
    return guessed if guessed and guessed.startswith(("text/", "application/")) else UNKNOWN_TYPE


def kind_of(media_type: str) -> PartKind:
    """Return the kind of part that a media type belongs to."""
    first = media_type.partition("/")[0]
    return "image" if first == "image" else "audio" if first == "audio" else "file"


def media_file_name(data: Mapping[str, Any]) -> str:
    """Return the name of a part's file in the folder `media`, from the part's stored data."""
    return f"{data['sha256']}.{MEDIA_TYPES.get(str(data.get('media_type')), 'bin')}"


def data_url(media_type: str, data: bytes) -> str:
    """Return bytes as a data URL."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def read_data_url(text: str) -> bytes | None:
    """Return the bytes of a base64 data URL, or None if the text is not one."""
    head = _DATA_URL.match(text[:200])
    if head is None:
        return None
    try:
        return base64.b64decode(text[head.end() :], validate=True)
    except ValueError:
        return None


def content_digest(content: str | Sequence[Mapping[str, Any]]) -> str:
    """Return the sha256 (hex) of a message's stored content: its text, or the digests of its parts."""
    if isinstance(content, str):
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return hashlib.sha256(json.dumps([*map(_part_digest, content)]).encode()).hexdigest()


def _part_digest(data: Mapping[str, Any]) -> Sequence[str]:
    kind = str(data["type"])
    if "text" in data:
        return kind, content_digest(str(data["text"]))
    return kind, str(data.get("digest") or data.get("sha256") or content_digest(str(data.get("url", ""))))
