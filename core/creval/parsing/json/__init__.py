"""JSON in answers: where it stands, how a slip in it is mended, what is taken out of it."""

from __future__ import annotations
