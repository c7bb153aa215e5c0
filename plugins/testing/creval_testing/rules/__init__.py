"""The conformance rules for every plugin, each of which can be examined separately (docs/testing.md)."""
