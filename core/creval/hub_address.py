"""Checks whether the Hugging Face Hub answers: its own libraries would retry for a minute before they fail."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit
from urllib.request import getproxies

__all__ = ["hub_address", "hub_answers"]

_CONNECT_TIMEOUT = 5.0
"""Seconds within which a connection must be established."""


def hub_address() -> str:
    """Return the Hub's address (`HF_ENDPOINT`, else the public one)."""
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def hub_answers() -> bool:
    """Whether a server answers at the Hub's address. Behind a proxy it is assumed to."""
    address = urlsplit(hub_address())
    if any(getproxies().get(scheme) for scheme in (address.scheme, "all")):
        return True
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((address.hostname or "", port), timeout=_CONNECT_TIMEOUT):
            return True
    except OSError:
        return False
