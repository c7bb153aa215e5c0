"""What every plugin has to keep, as rules that can be examined one by one (docs/testing.md)."""
