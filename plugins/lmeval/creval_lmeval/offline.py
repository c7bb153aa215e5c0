"""Keep `datasets` off the network in an offline run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["offline"]


@contextmanager
def offline(wanted: bool) -> Iterator[None]:
    """Let `datasets` and the hub's client use only local files within the context."""
    if not wanted:
        yield
        return
    import datasets
    from huggingface_hub import constants

    before = datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE = before
