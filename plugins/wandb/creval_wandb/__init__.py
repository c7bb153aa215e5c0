"""Runs of creval in Weights & Biases."""
