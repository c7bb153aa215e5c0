"""Keys come from the environment and never come out."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from creval.models.secrets import find_key, missing_key, redact

KEY = "sk-proj-Zx81kQpLm02VvWq7Tr5Yb9Nd"
ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


@pytest.mark.parametrize(
    "said",
    [
        f"Incorrect API key provided: {KEY}. Find it elsewhere.",
        "Incorrect API key provided: sk-proj-*****************Yb9Nd. Find it elsewhere.",
        "Incorrect API key provided: sk-p...b9Nd",
        f'{{"authorization": "Bearer {KEY}"}}',
        f"got {KEY[:12]} and {KEY[6:20]}",
        f"https://host/v1?key={KEY}&x=1",
        KEY,
    ],
)
def test_no_part_of_a_key_survives(said: str) -> None:
    clean = redact(said, (KEY,))
    assert not any(KEY[i : i + 8] in clean for i in range(len(KEY) - 7))
    assert "Yb9Nd" not in clean
    assert "[key]" in clean


@given(st.text(ALPHABET, min_size=16, max_size=60), st.text(max_size=40), st.text(max_size=40), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_key_in_any_text_is_taken_out(key: str, before: str, after: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 12))
    for piece in (key, key[start : start + 12]):
        assert piece not in redact(f"{before}{piece}{after}", (key,))


def test_keys_of_the_environment_are_found_without_being_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_VENDOR_API_KEY", "plainlookingvalue77")
    assert redact("the value plainlookingvalue77 is wrong") == "the value [key] is wrong"


def test_what_looks_like_a_key_goes_even_if_it_is_not_ours() -> None:
    assert redact("Bearer abcdef.ghi is bad") == "Bearer [key] is bad"
    assert redact("use sk-live_1234567890abcd") == "use [key]"


def test_plain_words_stay() -> None:
    said = "The model `gpt-x` does not exist; task-oriented prompts of 12345678 tokens are too long..."
    assert redact(said, (KEY,)) == said


def test_first_set_variable_wins_and_blank_counts_as_unset() -> None:
    assert find_key(("A", "B"), {"A": " ", "B": " k \n"}) == "k"
    assert find_key(("A",), {}) is None


def test_missing_key_names_the_command() -> None:
    assert "export OPENAI_API_KEY=" in str(missing_key("openai/m", "OPENAI_API_KEY"))
