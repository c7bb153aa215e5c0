"""The complete commands that resume a run or score it again, for messages."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from creval.errors import RunError
from creval.models.providers.addresses import HIDDEN
from creval.opener import read_json

__all__ = ["CONSENTS", "resume_command", "score_command"]

CONSENTS = ("allow_code_execution", "trust_remote_code")
"""Options that allow foreign code to run: they count only on the command line, not in files."""


def resume_command(folder: Path, manifest: Mapping[str, Any] | None = None, also: str = "") -> str:
    """Return the command that resumes a run, followed by the words `also`; without a manifest run.json is read.

    It allows programs to run if the run was allowed to, has a placeholder for an address that is not stored completely,
    and is `creval play` for a run of a person.
    """
    about = _read_manifest(folder) if manifest is None else manifest
    options = about.get("options", {})
    address = options.get("base_url") or ""
    address_option = ["--base-url", shlex.quote(address)] if HIDDEN in address else []
    played = not address_option and str(about.get("roles", {}).get("target", "")).startswith("human/")
    words = ["creval play --resume" if played else "creval resume", *_run(folder, options), *address_option]
    hint = f" (with the values in place of {HIDDEN})" if address_option else ""
    return " ".join([*words, *([also] if also else [])]) + hint


def score_command(folder: Path, manifest: Mapping[str, Any] | None = None, also: str = "") -> str:
    """Return the command that scores the saved answers of a run again; see `resume_command`."""
    about = _read_manifest(folder) if manifest is None else manifest
    return " ".join(["creval score", *_run(folder, about.get("options", {})), *([also] if also else [])])


def _run(folder: Path, options: Mapping[str, Any]) -> list[str]:
    path = str(folder)
    name = shlex.quote(f"./{path}" if path.startswith("-") else path)
    return [name, *(f"--{consent.replace('_', '-')}" for consent in CONSENTS if options.get(consent))]


def _read_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the content of run.json; empty if it cannot be read."""
    try:
        data = read_json(folder / "run.json")
    except (OSError, ValueError, RecursionError, RunError):
        return {}
    parts = ("roles", "options")
    return data if isinstance(data, dict) and all(isinstance(data.get(part), dict) for part in parts) else {}
