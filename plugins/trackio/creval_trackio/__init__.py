"""Runs of creval in Trackio."""
