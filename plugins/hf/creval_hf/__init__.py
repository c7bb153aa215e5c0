"""Models of the Hugging Face Hub that run in this process, by transformers."""

from __future__ import annotations
