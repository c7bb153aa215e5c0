"""One page that shows runs: self-contained, without network, to be opened in any browser and sent to anyone."""

from __future__ import annotations
