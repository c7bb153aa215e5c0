"""Runs on the Hugging Face Hub: push them as a dataset, pull them as run folders."""
