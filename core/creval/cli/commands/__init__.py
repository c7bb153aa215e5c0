"""The subcommands of creval, grouped in modules by subject."""

from __future__ import annotations
