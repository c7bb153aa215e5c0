"""Assemble the program to run from the code in the prompt and the model's answer."""

from __future__ import annotations

import re
import textwrap

from creval.plugin.programs import ProgramLanguage
from creval_sandbox.code.python_programs import longest_python, parse_python

__all__ = ["assemble", "future_first"]

_PYTHON_NAMES = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[^\n(]*$", re.MULTILINE)
_CPP_SIGNATURE = re.compile(r"^[^\n#/]*?\b(\w+)[ \t]*\([^;{}]*\)[^;{}()]*\{\s*\Z", re.MULTILINE)


def assemble(header: str, answer: str, language: ProgramLanguage, entry: str = "") -> str:
    """Return the program to run: `answer` after the parts of `header` (the code in the prompt) that it needs.

    An answer that defines the header's last function (or `entry`) follows the header's imports and helpers; any
    other answer continues the header's last line.
    """
    if not header.strip():
        return answer
    if language is ProgramLanguage.CPP:
        return _assemble_cpp(header, answer)
    begun = [*_PYTHON_NAMES.finditer(header)]
    if not begun:
        return f"{header.rstrip()}\n{answer}"
    wanted = entry or begun[-1][1]
    if re.search(
        rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{re.escape(wanted)}\b|^{re.escape(wanted)}[ \t]*=", answer, re.M
    ):
        whole = header if parse_python(header) is not None else header[: begun[-1].start()]
        return f"{whole.rstrip()}\n\n\n{answer}"
    return _continued(header, answer)


def future_first(program: str) -> str:
    """Return a program with its `__future__` imports first, as Python requires."""
    found = _FUTURE.findall(program)
    return "\n".join([*dict.fromkeys(found), _FUTURE.sub("", program)]) if found else program


def _continued(header: str, answer: str) -> str:
    """Return header and answer joined, with lost indentation of the answer restored: of its first line, or all of it.

    If text that is not Python follows the function, the longest valid beginning that extends the header counts.
    """
    body = answer.strip("\n")
    lines = [line for line in body.split("\n") if line.strip()]
    last = next(line for line in reversed(header.split("\n")) if line.strip())
    indent = last[: len(last) - len(last.lstrip())] or "    "
    if lines and lines[0][:1] not in (" ", "\t"):
        stripped = len(lines) > 1 and all(line[:1] in (" ", "\t") for line in lines[1:])
        body = f"{indent}{body}" if stripped else textwrap.indent(body, indent)
    whole = f"{header.rstrip()}\n{body}\n"
    if parse_python(whole) is not None:
        return whole
    beginning = longest_python(whole)
    return beginning if beginning is not None and len(beginning) > len(header.strip()) else whole


def _assemble_cpp(header: str, answer: str) -> str:
    signature = _CPP_SIGNATURE.search(header)
    if signature is None:
        return f"{header.rstrip()}\n{answer}"
    if re.search(rf"\b{re.escape(signature[1])}[ \t\n]*\([^;]*\)[^;]*\{{", answer):
        return f"{header[: signature.start()].rstrip()}\n{answer}"
    return f"{header}{answer}"
