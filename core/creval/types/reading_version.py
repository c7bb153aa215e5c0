"""The rules of the core by which answers are read, as a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["READING", "reading_of"]

READING = 7
"""The version of the rules by which the core reads answers (`creval.models.answers.read_answers`, `creval.parsing`).

Raise it when the same answer may be read otherwise. Earlier rules are not kept as code: a run has one version, and all
its answers are read by it. One whose answers are all read keeps its own when it is resumed; where some are
missing, today's rules read all of them.

1  what servers sent, read as it was
2  thinking is taken out of answers, and answers that are cut at the limit are noticed
3  JSON with a slip is mended or unreadable, never lines; refusals are recognised; characters that nobody sees are gone;
   an answer that a scorer finds wanting keeps the scores that it gives
4  JSON without its brackets is unreadable; refusals in other languages and more words; more marks of lists
5  lists on one line, commas of other scripts, marks of no item (`N/A`, `[refused]`), inches inside texts of faulty JSON
6  JSON torn by a bracket too many is unreadable; keys in any letter case; the array that is called final; soft hyphens,
   marks of direction and control characters are gone; more marks of lists, tags of HTML; refusals in more languages
7  line separators inside texts of JSON; end tokens of chat templates are taken off; only text parts make up an answer;
   more finish reasons are known; one exact reader of numbers, of which no part is read; an option that is named among
   several is none; verdicts of judges without their scale
"""


def reading_of(manifest: Mapping[str, Any]) -> int:
    """Return the version that a run was begun with; manifests that name none are of the first."""
    return int(manifest.get("reading", 1))
