"""Analyses of runs: collapse by condition, similarity across models, utility from given qualities."""
