"""Tasks and suites: the YAML reader, the merge rule, validation, templates and the index of all that is installed."""

from __future__ import annotations
