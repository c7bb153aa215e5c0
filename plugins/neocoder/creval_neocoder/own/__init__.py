"""Our own fifteen problems, for use without the network: each with five solutions and a gold answer."""

from __future__ import annotations
