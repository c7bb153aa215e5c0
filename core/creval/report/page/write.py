"""Puts a page together: markup, style, script and data in one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from creval.report.baselines import Baselines, find_baselines
from creval.report.files import write_text
from creval.report.page.data import page_data
from creval.report.page.samples import MOST
from creval.runs.reader import open_runs

__all__ = ["page_text", "write_page"]

_SCRIPTS = ("base.js", "curves.js", "results.js", "browser.js")


def write_page(folders: Sequence[Path], file: Path, baselines: Path | None = None, most: int = MOST) -> Path:
    """Write the page of finished runs to `file`, and return its path.

    Floor and ceiling come from the runs in `baselines`, by default from those that stand beside the first one.
    Raises RunError where a run is none or did not come to its end, UsageError where the file cannot be written.
    """
    runs = open_runs(folders, as_stored=True)  # texts kept by reference do not leave the folder
    found: Baselines = find_baselines(baselines or runs[0].folder.absolute().parent)
    return write_text(file, page_text(page_data(runs, found, most)))


def page_text(data: Mapping[str, Any]) -> str:
    """Return the page of `page_data` as HTML. What the page may do is bounded by a policy that stands in it."""
    script = "\n".join(_asset(name) for name in _SCRIPTS)
    style = _asset("page.css")
    title = " · ".join(["creval", *(task["task"] for task in data["tasks"][:3])])
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": html.escape(title),
        "STYLE_HASH": _hash(style),
        "SCRIPT_HASH": _hash(script),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _inside_script(text),
    }
    first, *rest = _asset("page.html").split("@@")
    page = [first]
    for name, after in zip(rest[::2], rest[1::2], strict=True):
        page += [parts[name], after]
    return "".join(page)


def _inside_script(text: str) -> str:
    """Return JSON that cannot end the element it stands in: no `<`, and no lone surrogate that UTF-8 lacks."""
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in safe)


def _asset(name: str) -> str:
    return (files("creval.report.page") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
