"""Texts: how near an answer is to a reference, and whether it keeps the rules that it was given."""
