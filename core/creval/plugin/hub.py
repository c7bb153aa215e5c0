"""What creval-hub needs of the core: the files of a run folder, and what of a text is a key.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.models.secrets import Mask, redact, secret_variables
from creval.runs.codec import score_data
from creval.runs.folder import RunFolder, file_name
from creval.runs.jsonl import dump_line
from creval.runs.opener import open_plain, plain_size
from creval.runs.trust import MADE_HERE

__all__ = [
    "MADE_HERE",
    "Mask",
    "RunFolder",
    "dump_line",
    "file_name",
    "open_plain",
    "plain_size",
    "redact",
    "score_data",
    "secret_variables",
]
