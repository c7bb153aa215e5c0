"""The subcommands of creval, one module each, named after the command."""

from __future__ import annotations
