"""Programs: found in an answer, fed with cases, judged; and the rules of the authors' own evaluator."""

from __future__ import annotations
