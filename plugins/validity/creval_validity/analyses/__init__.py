"""What `creval analyse validity` and `creval analyse trend` compute, and the comparison with the paper."""

from __future__ import annotations
