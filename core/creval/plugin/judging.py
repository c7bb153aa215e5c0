"""Parts of the core for creval-judges: parsers of verdicts and the numbers in them, seeds, traits of raters.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.engine.planning.seeds import derive
from creval.numerals import decimal_of, last_numeral, number_of, number_text, numerals, read_numeral, same_number
from creval.parsing.base import not_text
from creval.parsing.chain import ParserChain, Step, build_steps
from creval.parsing.cues import boxed_spans
from creval.parsing.json.scan import holds_json, json_places
from creval.plugins.loader import load_plugins
from creval.plugins.registry import Range
from creval.plugins.traits import Raters
from creval.tasks.task_model import ComponentRef
