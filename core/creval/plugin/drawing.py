"""What figures of creval-analyses need of the core.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.format import fold_name
from creval.report.output_files import unwritable
