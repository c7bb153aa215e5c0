"""Datasets of the Hugging Face Hub as data of tasks. Imported at each start, so it imports nothing."""
