"""Judges of task fulfilment: the retrieval-based jury, its baselines, and their shared code."""
