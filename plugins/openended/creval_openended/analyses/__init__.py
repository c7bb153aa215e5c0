"""Analyses over runs: what entropy goes with, by step and by solution."""
