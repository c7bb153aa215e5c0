"""Options of commands and analyses that use models and resources: `--role`, `--resource`, `--max-cost` and others.

Promised: these names follow semantic versioning. It imports click, and no engine, so that `--help` stays fast.
"""

from __future__ import annotations

from creval.cli.shared_options import command_options, open_workbench, part_options

__all__ = ["command_options", "open_workbench", "part_options"]
