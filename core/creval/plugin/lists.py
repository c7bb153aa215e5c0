"""Heuristics for lists in answers: list marks, separators, headings.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.parsing.lists import (
    has_mark,
    is_no_item,
    one_item_a_line,
    plain_separators,
    straighten,
    strip_edges,
    strip_marks,
)
from creval.parsing.refusal import speaks_of_the_last
