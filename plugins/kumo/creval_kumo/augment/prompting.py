"""The prompts of the augmenter.

`seed_config.txt` and `exemplar_proposal.txt` are the texts of paper 002, Supplementary ("Seed config generation
template", "Exemplar domain proposal"), word for word. The paper prints no other prompt of these stages ("Extended Data
Fig. 1" is not in the text), so the rest is worded here.
"""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["fill", "text"]

_FIELD = re.compile(r"\[\[(\w+)\]\]")


def text(name: str) -> str:
    """Return a prompt as it is in the file."""
    return files("creval_kumo.augment").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")


def fill(name: str, **fields: str) -> str:
    """Return a prompt with each `[[field]]` replaced; fields inside the inserted values are not replaced."""
    return _FIELD.sub(lambda found: fields[found[1]], text(name)).strip()
