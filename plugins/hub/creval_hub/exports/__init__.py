"""Export formats for runs: parquet, Every Eval Ever."""
