"""Datasets of the Hugging Face Hub as data of tasks."""

from __future__ import annotations

from creval_datasets.huggingface import open_huggingface

__all__ = ["open_huggingface"]
