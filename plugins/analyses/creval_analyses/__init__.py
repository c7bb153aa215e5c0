"""Analyses over runs: the command `creval analyse`, models and resources for analyses and commands, figures."""
