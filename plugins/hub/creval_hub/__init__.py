"""Runs on the Hugging Face Hub: pushed as a dataset that others load, pulled as run folders."""
