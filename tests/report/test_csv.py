"""CSV that a spreadsheet takes for no formula and a terminal for no command; numbers and all other texts stay."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import ChatServer

import creval
from creval.cli.main import invoke
from creval.cli.option_values import read_doc_ids
from creval.escape import json_text
from creval.report.output_files import csv_text, unguarded, write_csv
from creval_page.samples_cli import samples as samples_command


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://example.org")',
    "+cmd|' /C calc'!A0",
    "-2+3",
    "-x",
    "--",
    "-1.5 to 2.5",
    "@SUM(A1)",
    "\t=1",
    "\n=1",
    "  =1",
    "\uff1d1",
    "-\u0661",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_may_run_is_guarded(text: str) -> None:
    ((head,), (cell,)) = cells(csv_text([text], [[text]]))
    assert head == cell == f"'{text}"
    assert unguarded(cell) == text


@pytest.mark.parametrize(
    "text",
    ["-5", "+5", "-0.25", "-.5", "-5.", "-1e-05", "+1.5E+10", "a=b", "a-b", "'quoted'", "", " ", "1-2", "_x", "'-5"],
)
def test_other_texts_stay(text: str) -> None:
    assert cells(csv_text(["x", "y"], [[text, "z"]]))[1] == [text, "z"]
    assert unguarded(text) == text


def test_numbers_stay_numbers() -> None:
    row = [-5, -0.1, -1e-300, 1e300, True, None, float("nan"), float("-inf"), 0.1 + 0.2]
    assert csv_text(list("abcdefghi"), [row]).splitlines()[1] == ("-5,-0.1,-1e-300,1e+300,True,,,,0.30000000000000004")


def test_control_characters_are_written_out() -> None:
    text = csv_text(["\x1b]0;head\x07"], [["a\x1b[31mred\x9b2J\u202e\r"], [["\x1b"]], ["two\nlines\tand a tab"]])
    assert not any(sign in text for sign in "\x1b\x07\x9b\u202e\r")
    assert cells(text)[1] == ["a\\x1b[31mred\\x9b2J\\u202e\\r"]
    assert cells(text)[3] == ["two\nlines\tand a tab"]


@given(st.text(alphabet=st.sampled_from("'=+-@ab1. \t")))
def test_every_text_comes_back(text: str) -> None:
    (_, (cell, _)) = cells(csv_text(["x", "y"], [[text, "y"]]))
    assert unguarded(cell) == text


def test_json_on_a_terminal_says_the_same_without_control_characters() -> None:
    data = {"a": "\x1b[31m \x9b2J \u202e \ud800 \x7f", "b": ["Grüße 日本", 1.5]}
    text = json_text(data)
    assert json.loads(text) == data and "Grüße 日本" in text
    assert not any(sign in text for sign in "\x1b\x9b\u202e\ud800\x7f")


def test_commands_write_no_formula_and_docs_are_found_again(tmp_path: Path) -> None:
    """Ids and errors of strangers: `samples --csv`, `report --csv`, and back by --docs."""
    ids = ["=1+1", "-5", "plain", "-x"]
    (tmp_path / "odd.jsonl").write_text(
        "".join(json.dumps({"id": one, "word": "w", "target": "w"}) + "\n" for one in ids)
    )
    (tmp_path / "odd.yaml").write_text(
        "schema: 1\ntask: odd\nversion: 1.0.0\ntitle: Odd ids\n"
        "dataset: {source: file, file: odd.jsonl, id: id}\nprompt: [{role: user, content: 'Say {{ word }}'}]\n"
        "score: exact_match\nmetrics: [{name: right, from: exact_match, aggregate: mean, failed: zero}]\n"
    )
    with ChatServer(answer="w") as server:
        options = creval.RunOptions(output=tmp_path / "run", base_url=server.url)
        run = creval.run([str(tmp_path / "odd.yaml")], "hosted_vllm/x", options).folder
    reported = CliRunner().invoke(samples_command, [str(run), "--csv"]).output
    assert sorted(row["doc"] for row in csv.DictReader(io.StringIO(reported))) == sorted(
        ["'=1+1", "-5", "plain", "'-x"]
    )
    (tmp_path / "docs.csv").write_text(reported)
    assert sorted(read_doc_ids(tmp_path / "docs.csv")) == sorted(ids)


def test_a_report_and_a_leaderboard_guard_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.jsonl").write_text(json.dumps({"id": "a", "word": "w", "target": "w"}) + "\n")
    (tmp_path / "plain.yaml").write_text(
        "schema: 1\ntask: plain\nversion: 1.0.0\ntitle: '=1+1'\n"
        "dataset: {source: file, file: words.jsonl, id: id}\nprompt: [{role: user, content: 'Say {{ word }}'}]\n"
        "score: exact_match\nmetrics: [{name: right, from: exact_match, aggregate: mean, failed: zero, unit: '=2+2'}]\n"
    )
    with ChatServer(answer="w") as server:
        options = creval.RunOptions(output=tmp_path / "run", base_url=server.url)
        run = creval.run([str(tmp_path / "plain.yaml")], "hosted_vllm/=x", options).folder
    results = json.loads((run / "results.json").read_text())
    results["model"] = "=cmd\x1b[31m"
    (run / "results.json").write_text(json.dumps(results))
    capsys.readouterr()
    assert invoke(["report", str(run), "--csv"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert not any(cell.startswith("=") for row in cells(shown) for cell in row)
    board = tmp_path / "board.csv"
    assert invoke(["leaderboard", str(run), "--csv", str(board)]) == 0
    assert "\x1b" not in board.read_text()
    assert not any(cell.startswith("=") for row in cells(board.read_text()) for cell in row)


def test_a_file_is_written_as_the_text(tmp_path: Path) -> None:
    assert write_csv(tmp_path / "a.csv", ["x"], [["=1"], [-1.5]]).read_text() == "x\n'=1\n-1.5\n"
