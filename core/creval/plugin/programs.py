"""Programs that models wrote, and the sandbox that runs them. Promised: these names follow semantic versioning.

For scorers and protocols that run programs (`context.resource("sandbox")`), and for other back-ends of kind `sandbox`.
`creval_sandbox.code.python_programs` finds the program in an answer.
"""

from __future__ import annotations

from creval.errors import SandboxError
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
]
