"""The process that reads and compares expressions: one request per line, one answer per line.

It is separate from creval, so that an expression that takes forever, or all memory, can be killed. LaTeX is read by a
grammar (latex2sympy2-extended); no text of a model is evaluated as Python.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
from typing import Any

_MEMORY = 2 << 30


def _expression(text: str) -> Any:
    """Return the expression of a text. Raises ValueError if it is none."""
    from math_verify import parse
    from math_verify.parser import LatexExtractionConfig

    found = parse(f"${text}$", [LatexExtractionConfig()], fallback_mode="no_fallback", parsing_timeout=None)
    if not found:
        raise ValueError("it is not an expression")
    return found[0]


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    from math_verify import verify

    try:
        read = [_expression(text) for text in asked["texts"]]
        if len(read) == 1:
            return {"ok": True}
        return {"ok": True, "equal": bool(verify(read[0], read[1], timeout_seconds=None))}
    except (Exception, RecursionError, MemoryError) as error:
        return {"ok": False, "reason": f"{error}"[:200] or type(error).__name__}


def main() -> None:
    """Answer until the input ends."""
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(_answer(json.loads(line))).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
