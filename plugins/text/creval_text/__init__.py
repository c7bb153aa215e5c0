"""Scores of texts: similarity to a reference, and compliance with rules."""
