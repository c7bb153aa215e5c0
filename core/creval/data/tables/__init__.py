"""Local files with rows."""
