"""The registry of published plugins: one file each, read, listed and checked (docs/registry.md)."""
