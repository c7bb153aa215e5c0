"""The authors' data: fetched at one commit, checked and parsed."""

from __future__ import annotations
