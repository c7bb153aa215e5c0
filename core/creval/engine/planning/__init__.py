"""What there is to do: the plan of samples, seeds, the checks before the first call."""

from __future__ import annotations
