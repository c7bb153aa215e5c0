"""The command line as a user types it, in a process of its own, and a small task to type it for."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.forked import finished

__all__ = ["creval", "program", "start", "write_spelling"]

_SPELLING = """\
schema: 1
task: spelling
version: 1.0.0
title: Spelling
dataset: {source: file, file: words.jsonl, id: id}
protocol: chat
prompt:
  - {role: user, content: "Write the word {{ word }}."}
generation: {max_tokens: 16}
parse: [text]
score: exact_match
metrics:
  - {name: accuracy, from: exact_match, aggregate: mean, failed: zero, primary: true}
"""
PATIENCE = 120.0


def program(*arguments: str) -> list[str]:
    """Return the words that start creval with this interpreter."""
    return [sys.executable, "-m", "creval", *arguments]


def _environment(folder: Path, changes: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without any key, caches in the test's folder."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**kept, "CREVAL_CACHE": str(folder / "cache"), **changes}


def creval(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one command line in `folder` to its end, without any key in the environment but those given."""
    return finished(arguments, folder, _environment(folder, environment), PATIENCE)


def start(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None, **streams: Any) -> Any:
    """Start one command line in `folder`; `streams` as `subprocess.Popen` takes them, else pipes of text."""
    given = streams or {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # a suite under nohup
        given["preexec_fn"] = functools.partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    return subprocess.Popen(program(*arguments), cwd=folder, env=_environment(folder, environment or {}), **given)


def write_spelling(folder: Path, targets: Mapping[str, str]) -> None:
    """Write the task `spelling.yaml` with docs w0, w1, ...: of each word to write, the right answer."""
    (folder / "spelling.yaml").write_text(_SPELLING)
    rows = [{"id": f"w{i}", "word": word, "target": target} for i, (word, target) in enumerate(targets.items())]
    (folder / "words.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
