"""Observers that show the progress of a run: on a terminal, in a notebook, in plain lines."""
