"""The models of roles, the ledger of their calls, and the context through which components ask them."""

from __future__ import annotations
