"""Options of lm-eval's command: those that are accepted as conditions of its tasks, and equivalents of the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

__all__ = ["CONDITIONS", "conditions_of", "instead_of"]

_BOOLEAN: Mapping[str, Any] = {"is_flag": False, "flag_value": "true", "type": bool, "metavar": "[BOOLEAN]"}
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "apply_chat_template": {**_BOOLEAN, "help": "For lm-eval's tasks: ask in a chat."},
    "fewshot_as_multiturn": {**_BOOLEAN, "help": "For lm-eval's tasks: examples as chat turns."},
    "num_fewshot": {"type": click.IntRange(0), "metavar": "N", "help": "For lm-eval's tasks: examples per question."},
    "system_instruction": {"metavar": "TEXT", "help": "For lm-eval's tasks: a system message."},
}
"""The settings of the click option for each. `--condition NAME=VALUE` is equivalent, and accepts several values."""

_INSTEAD = {
    "batch-size": "--concurrency N, or --model 'hf/NAME?batch_size=N'",
    "cache-requests": "--cache",
    "confirm-run-unsafe-code": "--allow-code-execution",
    "device": "--model 'hf/NAME?device=cuda'",
    "gen-kwargs": "--generation NAME=VALUE",
    "log-samples": "nothing: a run keeps every sample",
    "model-args": "--model hf/NAME for weights, --base-url URL for a server, --generation NAME=VALUE",
    "output-path": "--output FOLDER",
    "samples": "--sample-id ID",
    "show-config": "creval show TASK --resolved",
    "trust-remote-code": "--trust-remote-code",
    "use-cache": "--cache",
}


def conditions_of(options: Mapping[str, Any], conditions: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the conditions of the command line: its `--condition`s (`conditions`), and those of lm-eval's options.

    Raises click.UsageError if both set the same.
    """
    lm_eval_conditions = {name: [options[name]] for name in CONDITIONS if options.get(name) is not None}
    for name in lm_eval_conditions.keys() & conditions.keys():
        raise click.UsageError(f"--{name.replace('_', '-')} and --condition {name}: state it once")
    return {**conditions, **lm_eval_conditions}


def instead_of(option: str) -> str | None:
    """Return a line with creval's equivalent of an lm-eval option; None for other options."""
    found = _INSTEAD.get(option.lstrip("-").replace("_", "-"))
    return None if found is None else f"No such option {option!r}, which is lm-eval's. Here: {found}"
