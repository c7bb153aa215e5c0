"""Judges compared with people: agreement, rejection by confidence, thresholds, and the cost of judging."""
