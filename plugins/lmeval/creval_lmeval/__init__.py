"""The tasks of lm-evaluation-harness as tasks of creval. Imported at each start, so it imports nothing."""
