"""Parser `neocoder_program`: answer -> the program, ready to run."""

from __future__ import annotations

from typing import Any

from creval.plugin import Parsed
from creval_neocoder.programs.extraction import find_program

__all__ = ["ProgramParser"]


class ProgramParser:
    """Parses a program (see `creval_neocoder.programs.extraction`)."""

    def parse(self, text: Any) -> Parsed:
        """Return the program, or the reason why there is none."""
        program = find_program(str(text))
        return Parsed(program, route="program") if program is not None else Parsed.failure("no Python program")
