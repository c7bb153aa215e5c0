"""The core's parsers of JSON, its recogniser of refusals, and SQuAD's normal form, for other components.

Promised: these names follow semantic versioning. Which texts count as a refusal may change in a minor version.
"""

from __future__ import annotations

from creval.parsing.chain import without_unseen
from creval.parsing.cues import CUE, LINK, boxed_spans
from creval.parsing.json.scan import holds_json
from creval.parsing.json.values import JsonArray, JsonObject
from creval.parsing.refusal import REFUSAL_ROUTE, is_refusal, refused
from creval.scoring.matching import squad_text

__all__ = [
    "CUE",
    "LINK",
    "REFUSAL_ROUTE",
    "JsonArray",
    "JsonObject",
    "boxed_spans",
    "holds_json",
    "is_refusal",
    "refused",
    "squad_text",
    "without_unseen",
]
