"""Analyses over runs: what entropy correlates with, by step and by solution."""
