"""People playing KUMO."""

from __future__ import annotations
