"""Expressions in answers: which is read, what equals what, and that nothing hangs or raises."""

from __future__ import annotations

import time
from typing import Any

import pytest

from creval.plugin import ScorerInput
from creval.plugin.authoring import ComponentRef, build_chain
from creval.plugin.loading import load_plugins
from creval_math.components import Math, MathEqual
from creval_math.process import Expressions, MathError, shared

UNREAD = None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("So it is $\\boxed{\\frac{1}{2}}$.", "0.5"),
        ("\\boxed{2\\sqrt{2}}", "2\\sqrt{2}"),
        ("\\boxed{1} or rather \\boxed{(x+1)^2}", "(x+1)^2"),
        ("The answer is $x^2+1$, as shown.", "x^2+1"),
        ("The answer is \\(\\pi/4\\).", "\\pi/4"),
        ("Answer: 12\\,345", "12345"),
        ("First $a+b$, then $a-b$", "a-b"),
        ("It follows that\n\nx = y + 5", "x = y + 5"),
        ("It follows that\n\nx = 5", "5"),
        ("#### 1,250", "1250"),
        ("答案是$\\sqrt{3}$", "\\sqrt{3}"),
        ("The answer is 4,2", UNREAD),
        ("The answer is $4,2$", UNREAD),
        ("\\boxed{}", UNREAD),
        ("\\boxed{\\frac{1}{}", UNREAD),
        ("I do not know.", UNREAD),
        ("I'm sorry, but I can't help with that.", UNREAD),
        ("", UNREAD),
    ],
)
def test_which_expression_is_read(text: str, value: str | None) -> None:
    assert Math().parse(text).value == value


def test_the_first_of_several_where_it_is_asked_for() -> None:
    assert Math(choose="first").parse("First $a+b$, then $a-b$").value == "a+b"


@pytest.mark.parametrize(
    ("target", "value", "equal"),
    [
        ("\\frac{1}{2}", "0.5", 1),
        ("2\\sqrt{2}", "\\sqrt{8}", 1),
        ("(x+1)^2", "x^2+2x+1", 1),
        ("\\{1, 2\\}", "\\{2, 1\\}", 1),
        ("[0, 1)", "[0,1)", 1),
        ("\\frac{\\pi}{4}", "\\pi/4", 1),
        ("5", "x = 5", 1),
        ("12345", "12345", 1),
        ("x+1", "x-1", 0),
        ("(0, 1)", "[0, 1]", 0),
        ("2", "3", 0),
        ("\\sqrt{2}", "1.4", 0),
        ("y", "x", 0),
    ],
)
def test_what_equals_what(target: str, value: str, equal: int) -> None:
    assert scored(target, value) == {"math_equal": equal}


def scored(target: Any, *values: str, scorer: MathEqual | None = None) -> Any:
    item = ScorerInput(None, {"target": target}, None, values, values, {}, (), ())  # type: ignore[arg-type]
    (found,) = (scorer or MathEqual()).score([item], None)  # type: ignore[arg-type]
    return found.scores or found


def test_any_of_several_targets_and_a_doc_at_fault() -> None:
    assert scored(["1", "\\sqrt{8}"], "2\\sqrt{2}") == {"math_equal": 1}
    assert "no field" in (MathEqual().doc_fault({"word": "x"}) or "")
    assert "not an expression" in (MathEqual().doc_fault({"target": "\\frac{1}{"}) or "")
    assert MathEqual().doc_fault({"target": ["1", "\\sqrt{8}"]}) is None
    assert scored("1").errored is False


LONG = "2^{" * 12 + "9" + "}" * 12


@pytest.mark.parametrize("hard", [LONG, "9" * 1_500 + "^{" + "9" * 400 + "}", "9!" * 400, "(" * 900 + "x" + ")" * 900])
def test_an_expression_that_takes_for_ever_is_given_up(hard: str) -> None:
    shared().read("x", 5)  # the process has started
    start = time.monotonic()
    assert scored("x+1", hard, scorer=MathEqual(seconds=0.5)) == {"math_equal": 0}
    assert time.monotonic() - start < 30
    assert scored("x+1", "1+x") == {"math_equal": 1}


@pytest.mark.parametrize(
    "text", ["__import__('os').system('true')", "\x00", "\ud800", "$\\input{/etc/passwd}$", "{" * 5_000]
)
def test_no_text_raises(text: str) -> None:
    for said in (text, f"\\boxed{{{text}}}", f"The answer is {text}"):
        parsed = Math(seconds=2).parse(said)
        assert parsed.ok or parsed.reason
    assert scored("x", text[:100]) == {"math_equal": 0}


def test_the_process_is_ended_and_begun_again() -> None:
    own = Expressions()
    own.read("x+1", 10)
    own.close()
    with pytest.raises(MathError):
        own.read("\\frac{1}{", 10)
    own.close()


def test_by_its_name_in_a_task() -> None:
    chain = build_chain([ComponentRef("math", {})], load_plugins().registry)
    assert chain.parse("\\boxed{\\sqrt{8}}").value == "\\sqrt{8}"
