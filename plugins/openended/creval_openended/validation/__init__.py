"""Judges held against people: agreement, rejection by confidence, thresholds, and what judging costs."""
