"""The models of roles, the ledger of their calls, and what components may ask them."""

from __future__ import annotations
