"""Making samples: workers, the session of a protocol, the protocol `chat`."""

from __future__ import annotations
