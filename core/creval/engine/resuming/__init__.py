"""The state of a resumed run, and its spending so far."""
