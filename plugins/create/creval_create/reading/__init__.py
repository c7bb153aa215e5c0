"""From the text of an answer to paths: path by path, what can be read without guessing."""

from __future__ import annotations
