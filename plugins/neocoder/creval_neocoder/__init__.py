"""NeoCoder: creativity of programs under growing constraints (Lu et al., NAACL 2025, arXiv:2407.09007)."""

from __future__ import annotations
