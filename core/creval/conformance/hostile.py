"""Texts that no parser may trip over: what broken, verbose or malicious models write."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["HOSTILE", "SPOKEN"]

HOSTILE: Sequence[str] = (
    "",
    " \t\r\n",
    "\x00\x01\x07\x1b[31m",
    "\ud800 half a pair",
    "\u202eright to left\u202c \u200b\u2060\ufeff",
    "e" + "\u0301" * 2_000,
    "[" * 8_000,
    "{" * 8_000 + "}" * 7_999,
    '{"a":' * 2_000,
    "[[[]]]" * 2_000,
    '"' * 8_001,
    "\\" * 8_001,
    "<answer>" * 2_000,
    "<" * 8_000 + ">" * 8_000,
    "1" * 8_000,
    "-1e999999999, +NaN, Infinity, 0x10, ١٢٣, ⅷ, 1,2,3.4.5",
    "a" * 10_000 + "!",
    "(a+)+$ " * 3_000,
    "\n" * 8_000,
    "- \n1. \n* \n" * 2_000,
    ";,:|/" * 2_000,
    '["a", "b"',
    '```json\n["a"]\n```\n' * 500,
    "null",
    "true",
    "[null, {}, [], 1e400]",
    "I'm sorry, but I can't help with that.",
    "{{ 7 * 7 }} {% for a in b %} ${x} $(reboot) __import__('os').system('true')",
    "'; DROP TABLE answers; --",
    "def solve():\n    return " + "+".join("1" * 1_500),
    "```python\nx = " + "not " * 3_000 + "1\n```",
    "```python\nf = " + "lambda: " * 1_500 + "1\ndef solve():\n    pass\n```",
    "x = " + "(" * 3_000 + "1" + ")" * 3_000,
    '["a", ' * 3_000 + "1" + "]" * 3_000,
    "\\frac{" * 3_000 + "1" + "}{2}" * 3_000,
    "1" + ",000" * 3_000,
    "日本語、中文；한국어。\U0001f9ea" * 500,
)
"""None of them is random: a fault can be met again."""

SPOKEN: Sequence[str] = tuple(
    text for text in HOSTILE if text.startswith(("def", "```", "x =", '["a", ', "1,000", "-1e9", "[null"))
)
"""Those that a whole task is played with: numbers out of range, and structures too deep for a recursive reader."""
