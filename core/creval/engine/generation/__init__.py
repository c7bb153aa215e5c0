"""Making samples: workers, the session that a protocol sees, the protocol chat."""

from __future__ import annotations
