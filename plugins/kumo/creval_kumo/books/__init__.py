"""Knowledge books: written by templates, and what a book of any origin lacks."""

from __future__ import annotations
