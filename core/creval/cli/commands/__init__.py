"""The subcommands of creval: one module for each thing that commands are about."""

from __future__ import annotations
