"""What others wrote (servers, task files, docs) cannot steer the terminal it is shown on."""

from __future__ import annotations

import io
import json
from pathlib import Path

from rich.console import Console

from creval.cli.main import invoke
from creval.cli.run_summary import ending
from creval.engine.run import Finished
from creval.escape import visible
from creval.report.terminal_tables import print_table

TITLE = "\x1b]0;other window\x07"
OPENED = "\x1b[31m"


def test_control_characters_are_written_out_and_other_text_stays() -> None:
    assert visible(f"a{TITLE}\t\nb") == "a\\x1b]0;other window\\x07\t\nb"
    assert visible("\u202eabc \ud800 \x9b") == "\\u202eabc \\ud800 \\x9b"
    assert visible("Grüße, [red] 日本 🙂") == "Grüße, [red] 日本 🙂"
    assert visible("abcdef", limit=3) == "abc…"


def test_tables_show_names_as_they_are() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    print_table(TITLE, [f"[bold]{OPENED}"], [[f"[red]{TITLE}[/red]"]], console)
    shown = console.file.getvalue()
    assert TITLE not in shown and OPENED not in shown
    assert "[red]\\x1b]0;other window\\x07[/red]" in shown


def write_manifest(folder: Path) -> None:
    """What the advice on resuming a run is made from."""
    manifest = {"roles": {"target": "m"}, "requested": ["toy"], "tasks": [], "options": {}, "status": "done"}
    (folder / "run.json").write_text(json.dumps(manifest))


def test_errors_that_a_server_wrote(tmp_path: Path, capsys) -> None:
    write_manifest(tmp_path)
    reason = f"the server said {OPENED}{'x' * 5000}"
    error = {"doc": f"doc\n{TITLE}", "condition": "default", "repeat": 0, "reason": reason}
    task = {"task": "toy", "first_errors": [error], "metrics": [], "planned": 1, "hash": "", "dataset": ""}
    counts = {"scored": 0, "unparsed": 0, "truncated": 0, "refused": 0, "errored": 1, "skipped": 0}
    results = {"model": "m", "tasks": [{**task, "counts": counts}]}
    assert ending(Finished(tmp_path, results), 0.0) == 1
    shown = capsys.readouterr().err
    assert "\x1b" not in shown and "\x07" not in shown
    assert "\\x1b]0;other window" in shown
    assert len(shown) < 2000


def test_errored_samples_are_named_by_what_distinguishes_them(tmp_path: Path, capsys) -> None:
    write_manifest(tmp_path)
    keys = [("a: b", "t=1", 0), ("a: b", "t=2", 1), ("c", "t=1", 0)]
    reasons = ["it: failed", "it: failed", "other"]
    errors = [
        {"doc": doc, "condition": condition, "repeat": repeat, "reason": reason}
        for (doc, condition, repeat), reason in zip(keys, reasons, strict=True)
    ]
    counts = {"scored": 0, "unparsed": 0, "truncated": 0, "refused": 0, "errored": 3, "skipped": 0}
    task = {"task": "toy", "first_errors": errors, "metrics": [], "planned": 3, "hash": "", "dataset": ""}
    ending(Finished(tmp_path, {"model": "m", "tasks": [{**task, "counts": counts}]}), 0.0)
    shown = capsys.readouterr().err
    assert "    2 samples (a: b t=1 repeat 0, a: b t=2 repeat 1): it: failed\n    c t=1 repeat 0: other\n" in shown


def test_a_title_of_a_task_file(tmp_path: Path, capsys) -> None:
    (tmp_path / "d.jsonl").write_text('{"q": "x", "target": "x"}\n')
    (tmp_path / "t.yaml").write_text(
        f"""\
schema: 1
task: toy
version: 1.0.0
title: {json.dumps(TITLE)}
dataset: {{source: file, file: d.jsonl}}
prompt: [{{role: user, content: "{{{{ q }}}}"}}]
score: exact_match
metrics: [{{name: exact_match, failed: zero}}]
"""
    )
    assert invoke(["show", str(tmp_path / "t.yaml")]) == 0
    shown = capsys.readouterr().out
    assert "\\x1b]0;other window\\x07" in shown and "\x1b" not in shown
