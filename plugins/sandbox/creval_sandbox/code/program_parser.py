"""Parser `program`: the program in an answer, as the model wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from creval.plugin import Parsed
from creval.plugin.programs import ProgramLanguage
from creval_sandbox.code.python_programs import fenced_blocks, find_python

__all__ = ["ProgramParser"]

_DEFINES = {
    ProgramLanguage.PYTHON: re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w", re.MULTILINE),
    ProgramLanguage.CPP: re.compile(r"\)\s*(?:const\s*|noexcept\s*)*\{|^\s*(?:class|struct)\s+\w+\s*\{", re.MULTILINE),
}


@dataclass(frozen=True, slots=True)
class ProgramParser:
    """Reads the last fenced block that defines a function or class, else the last block.

    Without a block, a Python program is the valid Python in the answer, from its first import or definition if prose
    precedes it; an answer that begins with indented lines, or in C++, is used whole. With `form: completion` every
    answer is used whole, since it continues the prompt.
    """

    language: str = "python"
    form: str = "answer"

    def parse(self, text: Any) -> Parsed:
        """Return the program, or the reason why there is none."""
        if not isinstance(text, str) or not text.strip():
            return Parsed.failure("there is no program in an empty answer")
        if self.form == "completion":
            return Parsed(text, route="program/completion")
        language = ProgramLanguage(self.language)
        blocks = [block for block in fenced_blocks(text, _DEFINES[language]) if block.strip()]
        if language is ProgramLanguage.CPP:
            return Parsed(blocks[0], route="program/fenced") if blocks else Parsed(text, route="program/whole")
        if blocks and _is_indented(blocks[0]):
            return Parsed(blocks[0], route="program/fenced")
        if not blocks and _is_indented(text):
            return Parsed(text, route="program/completion")
        found = find_python(text, _DEFINES[language])
        if found is not None:
            return Parsed(found, route="program/fenced" if blocks else "program/found")
        if blocks:  # not Python: the sandbox reports it
            return Parsed(blocks[0], route="program/fenced")
        return Parsed.failure("no Python program")


def _is_indented(text: str) -> bool:
    """Return whether the first line that is not blank is indented, like the body of a function."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return first[:1] in (" ", "\t")
