"""What of an address may be written down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.models.providers.addresses import HIDDEN, address_secrets, shown_address, shown_addresses


@pytest.mark.parametrize(
    ("address", "shown", "secrets"),
    [
        ("http://h:8000/v1", "http://h:8000/v1", []),
        ("http://h/v1?api-version=2026-01-01", "http://h/v1?api-version=2026-01-01", []),
        ("http://h/v1?api-version=1&sig=a%2Fbc", "http://h/v1?api-version=1&sig=***", ["a%2Fbc", "a/bc"]),
        ("http://h/v1?key=k1&TOKEN=t2", "http://h/v1?key=***&TOKEN=***", ["k1", "t2"]),
        ("http://h/v1?justatoken", "http://h/v1?***", ["justatoken"]),
        # A harmless name with what is no plain word, or with a long one, is none.
        ("http://h/v1?version=a/b", "http://h/v1?version=***", ["a/b"]),
        (f"http://h/v1?version={'x' * 41}", "http://h/v1?version=***", ["x" * 41]),
        ("http://me:p%40ss@h:1/v1#part", "http://***@h:1/v1", ["me", "p%40ss", "p@ss"]),
        ("http://[::1]:8/v1?model=m", "http://[::1]:8/v1?model=m", []),
        ("http://[x/v1?key=secret", HIDDEN, ["http://[x/v1?key=secret"]),
    ],
)
def test_what_is_shown_and_what_is_hidden(address: str, shown: str, secrets: list[str]) -> None:
    assert shown_address(address) == shown
    assert address_secrets(address) == secrets
    assert shown_address(shown) == shown
    assert shown_addresses(f"creval --base-url={address} -m '{address}'") == f"creval --base-url={shown} -m '{shown}'"


def test_no_address_has_no_secret() -> None:
    assert address_secrets(None) == []


@given(
    st.text(alphabet="abfgh-_.", min_size=1, max_size=20),  # no harmless name can be made of these
    st.text(alphabet="QRSTUVWXYZ0123456789%+/=", min_size=1, max_size=40),
)
def test_of_an_unknown_parameter_no_value_is_shown(name: str, value: str) -> None:
    address = f"http://h/v1?{name}={value}"
    assert shown_address(address) == f"http://h/v1?{name}={HIDDEN}"
    assert value in address_secrets(address)
