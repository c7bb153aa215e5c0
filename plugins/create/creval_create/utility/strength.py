"""From class sizes to the strength of a path (Eqs. 6 and 7, Appendix D)."""

from __future__ import annotations

from collections.abc import Sequence

from creval_create.paths.strings import Extent

__all__ = ["path_strength", "triple_strength"]


def triple_strength(class_size: int) -> int:
    """Return the strength of a triple, 5 (selective) to 1, from the judged size of its larger class (Appendix D)."""
    if class_size <= 10:
        return 5
    if class_size < 100:
        return 4
    if class_size < 500:
        return 3
    if class_size < 5000:
        return 2
    return 1


def path_strength(class_sizes: Sequence[int], last_triple: Extent = "left_out") -> int:
    """Return the strength of a path: that of its weakest counted triple.

    Eq. 7 takes all triples, but Table 12 and every published score leave out the last one, which the query prescribes;
    the only triple of a path counts.
    """
    sizes = class_sizes[:-1] if last_triple == "left_out" and len(class_sizes) > 1 else class_sizes
    return min(triple_strength(size) for size in sizes)
