"""No answer of a model runs, hangs or breaks a verifier."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reasoning_gym_score import scored

from creval_reasoning_gym.answer import FinalAnswer
from creval_reasoning_gym.guard import is_harmless
from creval_reasoning_gym.library import Made

RUN = ("n_queens", "binary_matrix", "spiral_matrix", "string_insertion", "puzzle24", "countdown", "simple_integration",
       "intermediate_integration", "polynomial_multiplication")  # fmt: skip
HOSTILE = (
    "__import__('pathlib').Path('touched').write_text('x')",
    "[__import__('pathlib').Path('touched').write_text('x')]",
    "open('touched', 'w')",
    "(lambda: open('touched', 'w'))()",
    "[open('touched', 'w') for _ in (1,)]",
    "x.__class__.__base__.__subclasses__()",
    "sin(open('touched', 'w'))",
    "f\"{open('touched', 'w')}\"",
    "9**9**9**9",
    "((9**99)**99)**99",
    "x**99999999",
    "99999999!",
    "factorial(99999999)",
    "2**(3**(4**(5**6)))",
    "[0] * 99999999999",
    "'a' * 99999999999",
    "(" * 5000 + ")" * 5000,
    "-" * 100_000 + "1",
    "1 + " * 20_000 + "1",
)


@pytest.mark.parametrize("name", RUN)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_code_and_endless_powers_are_not_read(name: str, text: str, alone: Path) -> None:
    found, _ = scored(Made(name, 2, 42), text)
    assert found < 0.99
    assert not (alone / "touched").exists()


def test_a_cube_is_not_turned_a_million_times() -> None:
    assert not is_harmless("rubiks_cube", "R999999999")
    assert scored(Made("rubiks_cube", 2, 42), "R999999999")[1] == {"refused": True}


def test_an_answer_without_tags_is_read_without_what_is_around_it() -> None:
    for text, answer in {
        "Let me add.\n\n**Final Answer**\n\n42": "42",
        "### Answer:\n42\n\nI checked it with another method.": "42",
        "The answer is $42$.": "42",
        "**Answer:** 2*x**2 + 1": "2*x**2 + 1",
        "**Answer: 2*x**2**": "2*x**2",
        "**Answer: 42.**": "42",
        "Answer: _ _ Q _": "_ _ Q _",
        "The answer is \\(42\\), or `42`.": "\\(42\\), or `42`",
        "Answer: 42\n\nThis is because 40 + 2.": "42",
        "Answer:\n1 2\n\n3 4": "1 2\n\n3 4",
        "```python\nprint(42)\n```\nSo the answer is 42": "42",
        "The answer is:\n```\n1 2\n3 4\n```": "1 2\n3 4",
        '<answer type="int">42</answer>': "42",
        "<answer>**42**</answer>": "42",
        "<answer>`42`</answer>": "42",
        "<answer>$1/2$</answer>": "$1/2$",
        "<answer>**a** and **b**</answer>": "**a** and **b**",
        "<answer>42</answ": "42",
        "答案是 42。": "42",
    }.items():
        assert FinalAnswer().parse(text).value == answer, text
    assert FinalAnswer().parse("I'm sorry, but I can't help with that.").route == "refusal"
    assert FinalAnswer().parse("<answer>I'm sorry, but I can't help with that.</answer>").ok


def test_plain_answers_pass() -> None:
    for name, text in (
        ("n_queens", "[['_', 'Q'], ['Q', '_']]"),
        ("spiral_matrix", "1 2 3"),
        ("puzzle24", "(3 + 5) * 3"),
        ("simple_integration", "-3*x**2/2 + sin(x)*exp(-x) + C"),
        ("polynomial_multiplication", "16*x**11 - 3*y**4"),
    ):
        assert is_harmless(name, text), text


@settings(max_examples=25, deadline=None)
@given(text=st.text(max_size=60) | st.text("0123456789+-*/()[]{}x,. '\"\\<>answer`\n", max_size=80))
def test_any_text_is_read_and_scored(text: str) -> None:
    read = FinalAnswer().parse(text)
    for name in ("chain_sum", "n_queens", "puzzle24", "simple_integration", "rubiks_cube", "graph_color", "boxnet"):
        assert 0 <= scored(Made(name, 2, 42), read.value if read.ok else text)[0] <= 1
