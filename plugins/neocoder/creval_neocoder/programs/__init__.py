"""Programs: extracted from an answer, fed with cases, judged; and the rules of the authors' evaluator."""

from __future__ import annotations
