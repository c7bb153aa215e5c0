"""Rows of a run that are damaged, doubled or another run's are refused by name before anything is asked."""

from __future__ import annotations

import json

import pytest

import creval
from creval.engine.run import resume
from creval.errors import RunError

MODEL = "hosted_vllm/parrot"


def _repeat_7(row):
    return json.dumps(json.loads(row) | {"repeat": 7})


@pytest.fixture
def made(make_task, server, options, tmp_path):
    """A finished run; returns (file of samples, file of scores)."""
    creval.run([make_task(docs=4, repeats=2)], MODEL, options(base_url=server.url))
    server.requests.clear()
    folder = tmp_path / "run"
    return folder / "samples" / "parrot.jsonl", folder / "scores" / "parrot.jsonl"


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, rows[2]], r":9: the doc 'd\d' \(default, repeat \d\) occurs twice"),
        (
            lambda rows: [
                rows[0].replace('"repeat":0', '"repeat":7', 1).replace('"repeat":1', '"repeat":7', 1),
                *rows[1:],
            ],
            ":1: .* repeat 7. is not of this run",
        ),
        (lambda rows: [rows[0] + rows[1], *rows[2:]], ":1: a damaged line"),
        (lambda rows: [*rows[:3], rows[3][:40], *rows[4:]], ":4: a damaged line"),
        (lambda rows: ['{"task": "parrot"}', *rows[1:]], ":1: the row is no s"),
    ],
)
def test_resume_names_the_row(made, server, tmp_path, which, change, said):
    file = made[which]
    rows = change(file.read_text().splitlines())
    file.write_text("\n".join(rows) + "\n")
    with pytest.raises(RunError, match=said):
        resume(tmp_path / "run")
    assert file.read_text() == "\n".join(rows) + "\n"
    assert server.requests == []


def test_rows_of_another_task_s_docs(made, tmp_path):
    rows = made[0].read_text().splitlines()
    other = json.loads(rows[0]) | {"doc_id": "elsewhere"}
    made[0].write_text("\n".join([json.dumps(other), *rows[1:]]) + "\n")
    with pytest.raises(RunError, match=r"the doc 'elsewhere' .* is not of this run"):
        resume(tmp_path / "run")


def test_a_torn_last_line_is_what_a_kill_leaves(made, server, tmp_path):
    rows = made[0].read_text().splitlines()
    made[0].write_text("\n".join(rows[:-1]) + "\n" + rows[-1][:30])
    assert resume(tmp_path / "run").results["tasks"][0]["counts"]["scored"] == 8
    assert len(server.requests) == 1
