"""The rules of the authors' released evaluator, including its faults, with every program in the sandbox.

- Reads from stdin become `input()`, which gives the next line.
- The program is the text from the first import before the first `def`, or from that `def`; after `solve(` it ends at
  the first line that is neither indented nor begins with `solve`: an empty line within solve() cuts it.
- All cases are fed at once after their count, and the printed lines are compared one by one with the expected ones;
  missing or extra lines go unnoticed. If that raises, each case is fed separately, without a count.
- An expected list of lines is compared with the evaluated output, which rarely succeeds.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

from creval.plugin.programs import CaseResult, Limits, Program
from creval_neocoder.problem import Case

__all__ = ["LIMITS", "accepted", "given", "harness", "parse_released"]

LIMITS = Limits(cpu_seconds=6.0)
"""Six seconds for all cases together."""

_READS = (
    *("sys.stdin.read()", "stdin.read()", "sys.stdin.readlines()", "stdin.readlines()"),
    *("sys.stdin.readline()", "stdin.readline()"),
)

_RAISED = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)
"""Errors when a program's output is evaluated; the last two occur if it is nested deeply."""

_HARNESS = """
import builtins, contextlib, io, json, sys
code, cases = json.loads(sys.stdin.read())
say = sys.stdout

def run(lines):
    left = iter(lines)
    builtins.input = lambda: next(left)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            solve()
        except BaseException:
            return None
    return out.getvalue().strip()

try:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, globals())
    ready = True
except BaseException:
    ready = False
if ready:
    print(json.dumps(run([str(len(cases)), *(line for case in cases for line in case)])), file=say, flush=True)
    for case in cases:
        print(json.dumps(run(case)), file=say, flush=True)
"""


def parse_released(text: str) -> str | None:
    """Return the program that the released evaluator takes from a text, or None if it finds none."""
    for read in _READS:
        text = text.replace(read, "input()")
    begin = text.find("def")
    if begin < 0:
        return None
    imports, froms = text.find("import", 0, begin), text.find("from", 0, begin)
    if imports < 0 and froms >= 0:
        return None
    begin = min((at for at in (imports, froms) if at >= 0), default=begin)
    text = text[begin:]
    at = text.find("solve(")
    kept = text[:at]
    for line in text[at:].split("\n"):
        if not line.startswith((" ", "\t", "solve")):
            break
        kept += line + "\n"
    return kept


def harness() -> Program:
    """Return the program that runs another one by these rules; its input comes from `given`."""
    return Program(_HARNESS)


def given(code: str, cases: Sequence[Case]) -> bytes:
    """Return the input of the harness. It does not contain expected outputs."""
    return json.dumps([code, [list(case.lines) for case in cases]]).encode()


def accepted(result: CaseResult, cases: Sequence[Case]) -> bool:
    """Return whether the released evaluator accepts what the harness printed: False if it was stopped or disturbed."""
    printed = _printed(result.stdout) if result.succeeded else None
    if not printed:
        return False
    at_once, by_itself = printed[0], printed[1:]
    if at_once is not None:
        try:
            return all(_same(line, case.output) for line, case in zip(at_once.split("\n"), cases, strict=False))
        except _RAISED:
            pass
    if len(by_itself) != len(cases):  # the program ended the harness, or printed between its lines
        return False
    return all(_same_or_fails(text, case.output) for text, case in zip(by_itself, cases, strict=True))


def _printed(stdout: bytes) -> list[str | None] | None:
    """Return the texts that the harness printed, each None if the program raised; None if there is other output."""
    try:
        found = [json.loads(line) for line in stdout.decode("utf-8", "replace").splitlines()]
    except (ValueError, RecursionError):
        return None
    return found if all(text is None or isinstance(text, str) for text in found) else None


def _same(text: str, expected: str | tuple[str, ...]) -> bool:
    """Compare. Raises if the expected value is a list and the text does not evaluate to something similar."""
    if isinstance(expected, str):
        return text == expected
    return [str(value) for value in ast.literal_eval(text)] == list(expected)


def _same_or_fails(text: str | None, expected: str | tuple[str, ...]) -> bool:
    try:
        return text is not None and _same(text, expected)
    except _RAISED:
        return False
