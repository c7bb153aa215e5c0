"""Human players of KUMO."""

from __future__ import annotations
