"""Runs in the forms that others read: parquet, Every Eval Ever."""
