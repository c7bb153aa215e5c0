"""Judges of task fulfilment: the retrieval-based jury, the baselines it is compared with, and what they share."""
