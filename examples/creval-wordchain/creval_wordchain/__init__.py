"""Chains of words, as a plugin of creval."""
