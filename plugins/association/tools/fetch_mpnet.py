"""Fetch all-mpnet-base-v2 into `.cache` of this repository, for the golden tests marked `fidelity`."""

from __future__ import annotations

import sys
from pathlib import Path

from creval.plugin import CrevalError
from creval_embedded.fetch import fetch_mpnet

if __name__ == "__main__":
    try:
        fetch_mpnet(Path(__file__).resolve().parents[3] / ".cache", print)
    except CrevalError as error:
        sys.exit(str(error))
