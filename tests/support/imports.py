"""What a piece of code imports, seen from a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

__all__ = ["imported_by"]


def imported_by(code: str) -> set[str]:
    """Run code in a fresh interpreter, where it must succeed, and return the names of all modules loaded after it."""
    program = f"{code}\nimport json, sys\nprint()\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))
