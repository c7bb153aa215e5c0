"""The last line of defence: no value of a secret environment variable is ever written to a run folder.

Errors are freed of keys where they arise (`creval.models.secrets`). Every writer of the run folder hides them once
more, whatever they stand in: an answer that echoes a header, a reason, the command line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping

__all__ = ["Secrets"]

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_VALUE = re.compile(r"[^\s/~][^\s]{11,}")  # long enough to be no common word; not a path
_MASK = b"[key]"


class Secrets:
    """The secret values of an environment, and others (`also`), such as those in an address."""

    def __init__(self, environ: Mapping[str, str] = os.environ, also: Iterable[str] = ()) -> None:
        values = {value.strip() for name, value in environ.items() if _NAME.search(name)}.union(also)
        texts = {value for value in values if _VALUE.fullmatch(value) and not value.isdigit()}
        escaped = {json.dumps(value)[1:-1] for value in texts} | {
            json.dumps(v, ensure_ascii=False)[1:-1] for v in texts
        }
        self._values = sorted((text.encode("utf-8", "replace") for text in texts | escaped), key=len, reverse=True)

    def hide(self, data: bytes) -> bytes:
        """Return the data with every secret value replaced by [key]."""
        for value in self._values:
            if value in data:
                data = data.replace(value, _MASK)
        return data
