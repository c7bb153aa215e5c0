"""Compilation of C++ programs, also inside the sandbox, once for each source, flags and compiler."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from creval.plugin.programs import CaseResult, Limits, Program, SandboxError
from creval_sandbox.conversation import Executable
from creval_sandbox.filters import Profile
from creval_sandbox.mounts import compiler_path

__all__ = ["COMPILE_LIMITS", "Compiler"]

COMPILE_LIMITS = Limits(
    cpu_seconds=30.0, memory_bytes=2 << 30, output_bytes=64 << 20, scratch_bytes=256 << 20, threads=32
)
DEFAULT_FLAGS = ("-O2", "-std=c++20")

_DRIVER = """
import subprocess, sys
compiler, flags = {compiler!r}, {flags!r}
if flags == ["--version"]:
    sys.exit(subprocess.run([compiler, "--version"]).returncode)
done = subprocess.run([compiler, *flags, "-x", "c++", "-", "-o", "/tmp/program"], stdin=0, stdout=2)
if done.returncode:
    sys.exit(1)
with open("/tmp/program", "rb") as made:
    sys.stdout.buffer.write(made.read())
"""

Run = Callable[[Executable, bytes, Limits], CaseResult]


class Compiler:
    """Compiles C++ sources to machine code. `run` runs one case inside a sandbox that contains the compiler."""

    def __init__(self, folder: Path, run: Run) -> None:
        self._folder = folder
        self._run = run
        self._version: str | None = None

    def version(self) -> str:
        """Return the first line of the compiler's version output. Raises MissingPartError, SandboxError."""
        if self._version is None:
            result = self._drive(("--version",), b"")
            if not result.succeeded:
                raise SandboxError.before(f"g++ does not run: {result.stderr.decode('utf-8', 'replace')[:300]}")
            self._version = result.stdout.decode("utf-8", "replace").splitlines()[0]
        return self._version

    def compile(self, program: Program) -> bytes | CaseResult:
        """Return the machine code, or the compiler's result if it made none."""
        flags = (*DEFAULT_FLAGS, *program.flags)
        source = program.source.encode("utf-8", "surrogatepass")
        identity = json.dumps([hashlib.sha256(source).hexdigest(), flags, self.version()])
        kept = self._folder / hashlib.sha256(identity.encode()).hexdigest()
        if kept.is_file():
            return kept.read_bytes()
        result = self._drive(flags, source)
        if not result.succeeded:
            return result
        self._folder.mkdir(parents=True, exist_ok=True)
        part = kept.with_name(f"{kept.name}.{os.getpid()}.part")
        part.write_bytes(result.stdout)
        part.replace(kept)
        return result.stdout

    def _drive(self, flags: tuple[str, ...], source: bytes) -> CaseResult:
        driver = _DRIVER.format(compiler=compiler_path(), flags=list(flags))
        return self._run(Executable(driver.encode(), Profile.COMPILER), source, COMPILE_LIMITS)
