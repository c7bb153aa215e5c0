"""Programs that models wrote, and the sandbox that runs them. Promised: these names follow semantic versioning.

For scorers and protocols that run programs (`context.resource("sandbox")`), and for other back-ends of kind `sandbox`.
How a program is found in an answer (`find_python`) may improve in a minor version.
"""

from __future__ import annotations

from creval.errors import SandboxError
from creval.parsing.python_programs import fenced_blocks, find_python, longest_python, parse_python
from creval.types.components import Sandbox
from creval.types.programs import CaseResult, Limits, Program, ProgramLanguage, StopReason

__all__ = [
    "CaseResult",
    "Limits",
    "Program",
    "ProgramLanguage",
    "Sandbox",
    "SandboxError",
    "StopReason",
    "fenced_blocks",
    "find_python",
    "longest_python",
    "parse_python",
]
