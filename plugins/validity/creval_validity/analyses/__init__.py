"""The computations of `creval analyse validity` and `creval analyse trend`, and the comparison with the paper."""

from __future__ import annotations
