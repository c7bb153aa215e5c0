"""Parts of the core for creval-encoders and creval-datasets: the Hugging Face Hub, rows of data, names, caches.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.data.row_selection import RowFilter, renamed
from creval.data.row_types import MalformedRow, Row
from creval.hub_address import hub_address, hub_answers
from creval.resources.open_resource import CALLS_A_PAIR, Asker
from creval.write_ahead import switch_to_write_ahead
