"""Commands under `creval openended`."""
