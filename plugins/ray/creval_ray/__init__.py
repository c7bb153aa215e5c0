"""Runs of creval on the machines of a Ray cluster."""
