"""Docs that prompts and scorers cannot take, and scorers that cannot take what parsers give, are refused at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from creval.data.data_options import DataOptions
from creval.plugins.loader import load_plugins
from creval_testing.check_tasks import check_all, check_warnings
from creval_testing.validate import validate

TASK = """
schema: 1
task: stems
version: 1.0.0
title: Stems
dataset: {{source: file, file: stems.jsonl}}
prompt:
  - {{role: user, content: "{prompt}"}}
parse: {parse}
score: {score}
metrics:
  - {{name: {score}, failed: zero}}
"""
INDEXED = "{{ stems[0] }} and {{ stems[1] }}"
LOOP = "{% for stem in stems %}{{ stem }} {% endfor %}"
JOINED = "{{ stems | join(', ') }}"


def written(folder: Path, rows: list[dict[str, object]], **parts: str) -> str:
    given = {"prompt": "{{ stems }}", "parse": "text", "score": "exact_match", **parts}
    (folder / "stems.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "stems.yaml").write_text(TASK.format(**given), "utf-8")
    return str(folder / "stems.yaml")


def problems(file: str) -> list[str]:
    return [problem.message for problem in check_all([file], load_plugins(), DataOptions(offline=True))]


@pytest.mark.parametrize("prompt", [INDEXED, LOOP, JOINED])
def test_a_text_is_no_list(tmp_path: Path, prompt: str) -> None:
    good, bad = {"stems": ["cottage", "swiss"], "target": "x"}, {"stems": "cottage,swiss,cake", "target": "x"}
    assert problems(written(tmp_path, [good, good], prompt=prompt)) == []
    (found,) = problems(written(tmp_path, [good, bad], prompt=prompt))
    assert "takes 'stems' as a list" in found and "the doc '1' of" in found and "the text 'cottage,swiss,cake'" in found


@pytest.mark.parametrize(
    ("prompt", "what"),
    [
        ("{% for i in range(1000000000) %}x{% endfor %}", "range() gives at most 10,000 numbers in a prompt"),
        ("{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}", "more work than"),
        ("{{ 'x' * 1000000000 }}", "too large for a prompt"),
        ("{{ stems | first | round }}", "cannot be rendered"),
    ],
)
def test_a_prompt_that_cannot_be_made_of_the_first_doc(tmp_path: Path, prompt: str, what: str) -> None:
    (found,) = problems(written(tmp_path, [{"stems": ["a"], "target": "x"}] * 3, prompt=prompt))
    assert what in found


def test_a_loop_over_something_else_and_a_slice_ask_nothing_of_a_field(tmp_path: Path) -> None:
    row: dict[str, object] = {"stems": "cottage", "target": "x"}
    for prompt in ("{{ stems[:3] }}", "{% for i in range(2) %}{{ stems }}{% endfor %}"):
        assert problems(written(tmp_path, [row], prompt=prompt)) == []


@pytest.mark.parametrize(
    ("target", "what"),
    [("four", "'four' cannot be read as a number"), ([1, True], "not a bool"), (None, "not a NoneType")],
)
def test_numeric_needs_numbers(tmp_path: Path, target: object, what: str) -> None:
    parts = {"parse": "last_number", "score": "numeric"}
    assert problems(written(tmp_path, [{"stems": "a", "target": 4}, {"stems": "b", "target": "4.5"}], **parts)) == []
    (found,) = problems(written(tmp_path, [{"stems": "a", "target": target}], **parts))
    assert "cannot be scored by 'numeric'" in found and "its 'target' is" in found and what in found


JUDGED = """
schema: 1
task: stems
version: 1.0.0
title: Stems
dataset: {source: file, file: stems.jsonl}
prompt:
  - {role: user, content: "{{ stems[0] }}"}
roles:
  judge:
    prompts:
      grade:
        - role: user
          content: |
            {{ answer }}
            {{ stems | join(' ') }}
score: {judge: {prompt: grade, scale: [1, 5], name: grade}}
metrics:
  - {name: grade, failed: exclude}
"""


def test_the_prompt_of_a_role_is_looked_at_too_and_each_use_is_reported_once(tmp_path: Path) -> None:
    """One problem a use, whatever the number of docs; what the scorer gives the prompt (`answer`) is no field."""
    file = Path(written(tmp_path, [{"stems": text, "answer": "x"} for text in ("ab", "cd")]))
    file.write_text(JUDGED.lstrip(), "utf-8")
    found = check_all([str(file)], load_plugins(), DataOptions(offline=True))
    assert [(each.line, "as a list" in each.message, "'ab'" in each.message) for each in found] == [
        (7, True, True),
        (15, True, True),
    ]


@pytest.mark.parametrize("parse", ["json_array", "[json_array, words]", "lines", "[text, words]"])
@pytest.mark.parametrize("score", ["includes", "exact_match", "numeric"])
def test_a_list_is_nothing_for_a_scorer_of_texts(tmp_path: Path, parse: str, score: str) -> None:
    (found,) = problems(written(tmp_path, [{"stems": "a", "target": "4"}], parse=parse, score=score))
    assert found == f"the scorer '{score}' takes a number or a text, but `parse` gives a list"


def test_what_is_not_known_is_not_refused(tmp_path: Path) -> None:
    for parse in ("json_object: answer", "text", "choice", "last_number", "[tagged: answer, text]"):
        row: dict[str, object] = {"stems": "a", "target": "4"}
        parsed = "{" + parse + "}" if ": " in parse and not parse.startswith("[") else parse
        assert problems(written(tmp_path, [row], parse=parsed, score="includes")) == []


def test_validate_warns_of_a_repeat_inside_a_repeat(tmp_path: Path) -> None:
    file = written(tmp_path, [{"stems": "a", "target": "4"}], parse="{regex: '(a+)+$'}")
    (warning,) = check_warnings([file], load_plugins())
    assert "has a repeat inside a repeat" in warning.message and warning.line == 9
    result = CliRunner().invoke(validate, [file])
    assert (result.exit_code, "warning: " in result.output, "no problems found" in result.output) == (0, True, True)


def test_a_column_of_bytes_that_is_used_is_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = Path(written(tmp_path, [{"stems": "a", "target": "b"}]))
    parquet.write_table(pyarrow.table({"stems": ["a"], "target": [b"b"], "image": [b"c"]}), tmp_path / "stems.parquet")
    file.write_text(file.read_text().replace("stems.jsonl", "stems.parquet"))
    (found,) = problems(str(file))
    assert "'target' holds bytes" in found
    file.write_text(file.read_text().replace("{{ stems }}", "{{ image }}"))
    assert "no doc has the field 'image' ('target' holds bytes, 'image' holds bytes" in problems(str(file))[0]


@pytest.mark.parametrize(
    ("score", "target"),
    [("exact_match", ""), ("includes", " "), ("includes", ["a", ""]), ("exact_match", []), ("numeric", "")],
)
def test_an_empty_target_is_named_with_file_and_line(tmp_path: Path, score: str, target: object) -> None:
    rows: list[dict[str, object]] = [{"stems": "a", "target": "1"}, {"stems": "a", "target": target}]
    (found,) = problems(written(tmp_path, rows, score=score, parse="text"))
    assert "stems.jsonl:2 cannot be scored" in found and "'target'" in found


def test_an_example_with_an_empty_answer_is_a_fault(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"stems": "a", "target": "1"}, {"stems": "b", "target": "2"}]
    file = Path(written(tmp_path, rows))
    (tmp_path / "shots.jsonl").write_text('{"stems": "c", "target": " "}\n')
    file.write_text(file.read_text() + "few_shot: {n: 1, pool: shots.jsonl}\n")
    (found,) = problems(str(file))
    assert "an example before the doc '0'" in found and "has an empty answer: target" in found


@pytest.mark.parametrize("stop", ['""', '["", ""]', '["a", ""]'])
def test_a_stop_sequence_is_not_empty(tmp_path: Path, stop: str) -> None:
    file = Path(written(tmp_path, [{"stems": "a", "target": "1"}]))
    file.write_text(file.read_text() + f"generation: {{stop: {stop}}}\n")
    assert any(
        "stop" in str(problem.path) for problem in check_all([str(file)], load_plugins(), DataOptions(offline=True))
    )
