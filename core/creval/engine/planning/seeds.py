"""Random seeds, all derived from the run's seed by names, the same on every machine and Python version."""

from __future__ import annotations

import hashlib
import random
from array import array

from creval.types.sample import SampleKey

__all__ = ["choose", "derive", "sample_seed"]


def derive(seed: int, *names: object) -> int:
    """Return a 63-bit seed for the stream called `names`, from the run's seed by SHA-256."""
    text = "\x1f".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1


def sample_seed(seed: int, key: SampleKey) -> int:
    """Return the seed of one sample."""
    return derive(seed, "sample", *key)


def choose(count: int, limit: int | None, seed: int, name: str) -> list[int]:
    """Return `limit` of `count` indices, chosen at random for (seed, name), in ascending order.

    The choice of a larger limit contains that of a smaller one, so that a run can be extended.
    """
    if limit is None or limit >= count:
        return list(range(count))
    stream = random.Random(derive(seed, "subset", name))
    draws = array("d", (stream.random() for _ in range(count)))
    ranks = sorted(range(count), key=draws.__getitem__)
    return sorted(ranks[: max(limit, 0)])
