#!/usr/bin/env python3
"""Executes docs/notebook.ipynb in an empty folder, keeps its outputs, and writes docs/notebook.md from it.

    python tools/make_notebook.py            (from the repository's root; needs the extra `test`)

Cells are changed in the notebook; the page and all outputs are made here.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
PAGE = ROOT / "docs" / "notebook.md"


def executed(notebook: Path) -> Any:
    """Return the notebook with the outputs of a run of its cells in a folder of its own."""
    node = nbformat.read(notebook, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        client = NotebookClient(node, timeout=300, resources={"metadata": {"path": folder}})
        client.execute(env={**os.environ, "IPYTHONDIR": str(home)})
    for cell in node.cells:
        cell.metadata.clear()  # when it was executed
    node.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return node


def page_text(node: Any) -> str:
    """Return a notebook as a page: its texts, its code, and below each cell what it shows."""
    return "\n\n".join(part for cell in node.cells for part in _parts(cell)) + "\n"


def _parts(cell: Any) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield str(cell.source)
        return
    yield f"```py\n{cell.source}\n```"  # the whole notebook is executed by its test, and no block of it alone
    for output in cell.outputs:
        shown = output.get("data", {"text/plain": output.get("text", "")})
        table = shown.get("text/html", "")
        if "<table" in table:
            plain = re.sub(r"<style.*?</style>", "", table, flags=re.DOTALL)  # of data frames; a page has its own
            yield "\n".join(line for line in plain.splitlines() if line.strip())
        else:
            yield f"```text\n{shown['text/plain'].rstrip()}\n```"


if __name__ == "__main__":
    made = executed(NOTEBOOK)
    nbformat.write(made, NOTEBOOK)
    PAGE.write_text(page_text(made), encoding="utf-8")
