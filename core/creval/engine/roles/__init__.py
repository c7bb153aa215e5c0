"""Who plays which role, the ledger of their calls, and what components may ask of them."""

from __future__ import annotations
