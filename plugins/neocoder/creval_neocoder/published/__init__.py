"""The authors' data: fetched at one commit, checked, read."""

from __future__ import annotations
