"""Generator `drat_anchors`: the two banks of anchor sets from arXiv:2605.13450, Appendix F.3."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from creval.plugin import Doc

__all__ = ["DratAnchors", "read_jsonl"]


def read_jsonl(name: str) -> list[dict[str, Any]]:
    """Return the rows of a data file of this package."""
    text = (files("creval_association") / "data" / name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@dataclass(frozen=True)
class DratAnchors:
    """30 sets of `k` anchors from a `bank`. The banks for k = 2 and 3 are the first 2 and 3 of each set of 4."""

    bank: Literal["scientific", "conceptnet"] = "scientific"
    k: int = 4

    def docs(self) -> Iterable[Doc]:
        """Yield docs with the field `anchors`, a list of k words or short terms."""
        for row in read_jsonl(f"anchors_{self.bank}.jsonl"):
            yield Doc(row["id"], {"id": row["id"], "anchors": row["anchors"][: self.k]})
