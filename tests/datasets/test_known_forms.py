"""Rows in the form in which the Hub has known benchmarks (made-up content): choices, labels, lists, examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.data.shaping import Shaping
from creval.errors import DataError, TaskError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.prompt_overrides import with_examples
from creval.tasks.task_model import ChoicesRef, FieldRef
from creval.tasks.templates.rendering import render_prompt


def shaped(row: dict[str, Any], choices: ChoicesRef | None, *fields: FieldRef) -> dict[str, Any]:
    shaping = Shaping(fields, choices)
    return dict(shaping.choices_of(shaping.fields_of(row), "0"))


def test_medmcqa_gathers_columns_and_takes_duplicates() -> None:
    ref = ChoicesRef(("opa", "opb", "opc", "opd"), "cop")
    row = {"opa": "iron", "opb": "zinc", "opc": "iron", "opd": "lead", "cop": 1}
    assert shaped(row, ref)["options"] == "A. iron\nB. zinc\nC. iron\nD. lead"
    with pytest.raises(ValueError, match="duplicates: true"):
        shaped({**row, "cop": 0}, ref)
    kept = shaped({**row, "cop": 2}, ChoicesRef(("opa", "opb", "opc", "opd"), "cop", duplicates=True))
    assert kept["target"] == "C" and kept["choices"][2] == "iron"


def test_columns_without_a_choice_are_left_out() -> None:
    ref = ChoicesRef(("a", "b", "c", "d"), "right", "letter")
    fields = shaped({"a": "x", "b": None, "c": "y", "d": "", "right": "C"}, ref)
    assert (fields["choices"], fields["letters"], fields["target"]) == (["x", "y"], ["A", "B"], "B")
    with pytest.raises(ValueError, match="names choice 2, which is empty"):
        shaped({"a": "x", "b": None, "c": "y", "d": "", "right": "B"}, ref)


def test_truthfulqa_has_one_right_choice_or_several() -> None:
    row = {
        "mc1_targets": {"choices": ["no", "yes", "at night"], "labels": [0, 1, 0]},
        "mc2_targets": {"choices": [f"c{n}" for n in range(30)], "labels": [1, 1] + [0] * 28},
    }
    one = shaped(row, ChoicesRef("mc1_targets.choices", "mc1_targets.labels", "flags"))
    assert (one["target"], one["target_text"]) == ("B", "yes")
    several = shaped(row, ChoicesRef("mc2_targets.choices", "mc2_targets.labels", "flags", seed=3))
    assert sorted(several["choices"][several["letters"].index(label)] for label in several["target"]) == ["c0", "c1"]
    assert several["letters"][25:28] == ["Z", "AA", "AB"] and several["target_text"] == ["c0", "c1"]
    for flags in ([0, 0, 0], [1, 0], 1, ["x", "y", "z"]):
        row["mc1_targets"]["labels"] = flags
        with pytest.raises(ValueError, match="which is no flags of the 3 choices"):
            shaped(row, ChoicesRef("mc1_targets.choices", "mc1_targets.labels", "flags"))


def test_hellaswag_is_cleaned_as_lm_eval_does_it() -> None:
    cleaning = ((r"^\s+|\s+$", ""), (r" \[title\]", ". "), (r"\[.*?\]", ""), ("  ", " "))
    row = {"endings": ["[step] Rinse it [title] Dry", "eats  it."], "label": "1", "ctx_b": "she"}
    fields = shaped(row, ChoicesRef("clean", "label"), FieldRef("clean", "endings", replace=cleaning))
    assert fields["choices"] == [" Rinse it. Dry", "eats it."] and fields["target"] == "B"


@pytest.mark.parametrize(
    ("text", "split", "items"),
    [
        ("a|b | c", "|", ["a", "b", "c"]),
        ("a, b", ",", ["a", "b"]),
        ("x\n\n y \n", "lines", ["x", "y"]),
        ("1. one\n2. two\n3. three, 4. not", "numbered", ["one", "two", "three, 4. not"]),
        ("Options:\n(A) red (or so)\n(B) blue", "numbered", ["red (or so)", "blue"]),
        ("a ) 38 , b ) 27.675 , c ) 30", "numbered", ["38", "27.675", "30"]),
        ("(A) left (B) right", "numbered", ["left", "right"]),
        ("Why?\nA. it is 1. first\n  and more\nB. no", "numbered", ["it is 1. first\n  and more", "no"]),
        ("", "|", []),
    ],
)
def test_a_list_is_cut_from_a_text(text: str, split: str, items: list[str]) -> None:
    assert shaped({"t": text}, None, FieldRef("made", "t", split=split))["made"] == items


@pytest.mark.parametrize(
    ("value", "field", "made"),
    [
        ("a ) 3 , b ) 4", FieldRef("m", "v", r"[a-e] \) ([^,]+)", find_all=True), ["3", "4"]),
        (["A)21", "B)32"], FieldRef("m", "v", r"^[A-E]\)(.*)", number=True), [21, 32]),
        ("1|2", FieldRef("m", "v", split="|", number=True), [1, 2]),
        ("a_b|c_d", FieldRef("m", "v", replace=(("_", " "),), split="|"), ["a b", "c d"]),
        ("x=1; y=2", FieldRef("m", "v", r"\w=(\d)", find_all=True, replace=(("1", "9"),)), ["9", "2"]),
    ],
)
def test_fields_of_lists(value: Any, field: FieldRef, made: list[Any]) -> None:
    assert shaped({"v": value}, None, field)["m"] == made


def test_a_text_without_a_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no numbered list in 'plain'"):
        shaped({"t": "plain"}, None, FieldRef("made", "t", split="numbered"))
    with pytest.raises(ValueError, match="split:") as caught:
        shaped({"t": "a|b", "r": 0}, ChoicesRef("t", "r"))
    assert "not a list of choices" in str(caught.value)


MMLU = """
schema: 1
task: mmlu_form
version: 1.0.0
title: Choices by subject
dataset:
  source: file
  file: test.jsonl
  choices: {from: choices, answer: answer}
few_shot:
  n: 2
  pool: %s
  same: subject
  as: text
  header: "The following are questions about {{ subject | replace('_', ' ') }}.\\n\\n"
  %s
prompt: [{role: user, content: "{{ question }}\\n{{ options }}\\nAnswer:"}]
parse: choice
score: exact_match
metrics: [{name: exact_match, failed: zero}]
"""


def mmlu(folder: Path, pool: str = "dev.jsonl", more: str = "") -> Path:
    def row(name: str, subject: str, answer: int) -> str:
        return json.dumps({"question": name, "subject": subject, "choices": ["u", "v"], "answer": answer}) + "\n"

    (folder / "test.jsonl").write_text("".join(row(f"t{n}", s, 0) for n, s in enumerate(["law", "high_math"] * 2)))
    dev = [row(f"{s}{n}", s, n % 2) for n in range(3) for s in ("high_math", "law")]
    (folder / "dev.jsonl").write_text("".join(dev))
    (folder / "mmlu.yaml").write_text(MMLU % (pool, more))
    return folder / "mmlu.yaml"


def prompts(task: Path) -> list[str]:
    plugins = load_plugins()
    loaded = TaskIndex(plugins).load(task)
    with open_dataset(loaded.dataset, plugins.registry, DataOptions(offline=True)) as dataset:
        found = [render_prompt(loaded, "prompt", doc.fields) for doc in dataset]
    return ["\n--\n".join(str(message.content) for message in messages) for messages in found]


@pytest.mark.parametrize("pool", ["dev.jsonl", "{file: dev.jsonl}", "{source: package, file: dev.jsonl}"])
def test_mmlu_takes_examples_of_the_same_subject_after_one_header(tmp_path: Path, pool: str) -> None:
    law, mathematics, *_ = prompts(mmlu(tmp_path, pool))
    example = "{}\nA. u\nB. v\nAnswer: {}\n\n"
    assert law == (
        "The following are questions about law.\n\n"
        + example.format("law0", "A")
        + example.format("law1", "B")
        + "t0\nA. u\nB. v\nAnswer:"
    )
    assert mathematics.startswith("The following are questions about high math.\n\nhigh_math0\n")
    assert "law" not in mathematics


def test_the_header_occurs_once_before_turns_and_without_examples(tmp_path: Path) -> None:
    task = mmlu(tmp_path)
    task.write_text(task.read_text().replace("as: text", "as: turns"))
    turns = prompts(task)[0].split("\n--\n")
    assert len(turns) == 5 and turns[0].startswith("The following are questions about law.\n\nlaw0\n")
    assert "following" not in "".join(turns[1:]) and turns[1] == "A"
    plugins = load_plugins()
    none = with_examples(TaskIndex(plugins).load(task), 0, plugins.registry)
    assert none.few_shot is not None and none.few_shot.number == 0
    task.write_text(task.read_text().replace("n: 2", "n: 0"))
    assert prompts(task)[0] == "The following are questions about law.\n\nt0\nA. u\nB. v\nAnswer:"


def test_where_chooses_among_the_examples_and_drawn_ones_keep_to_the_subject(tmp_path: Path) -> None:
    one = prompts(mmlu(tmp_path, "{file: dev.jsonl, where: {answer: 0}}"))[0]
    assert "law0" in one and "law2" in one and "law1" not in one
    drawn = prompts(mmlu(tmp_path, more="seed: 4"))
    assert all(("law" in text) != ("high" in text) for text in drawn)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("n: 2", "n: 4"), r"asks for 4 examples; apart from the doc '0' the data hold 3 with its subject \('law'\)"),
        (("same: subject", "same: topic"), "lacks the field 'topic', which its examples share"),
        (("pool: dev.jsonl", "pool: {file: dev.jsonl, where: {subject: law}}"), r"the data hold 0 with its subject"),
    ],
)
def test_too_few_examples_of_any_subject_show_at_once(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    task = mmlu(tmp_path)
    task.write_text(task.read_text().replace(*change))
    with pytest.raises(DataError, match=message):
        prompts(task)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("pool: dev.jsonl", "pool: deb.jsonl"), "Did you mean 'dev.jsonl'?"),
        (("pool: dev.jsonl", "pool: {file: dev.jsonl, wher: {a: 1}}"), "wher"),
        (("same: subject", "samee: subject"), "Did you mean 'same'?"),
        (("{{ subject |", "{{ subject ||"), "the template is faulty"),
    ],
)
def test_faults_of_the_section_have_their_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    task = mmlu(tmp_path)
    task.write_text(task.read_text().replace(*change))
    with pytest.raises(TaskError, match=r"mmlu.yaml:1\d") as caught:
        prompts(task)
    assert message in str(caught.value)


def test_a_source_of_neither_splits_nor_files_takes_a_mapping_alone(tmp_path: Path) -> None:
    task = mmlu(tmp_path)
    away = f'source: url\n  url: "https://x.invalid/a.jsonl"\n  sha256: "{"0" * 64}"'
    task.write_text(task.read_text().replace("source: file\n  file: test.jsonl", away))
    with pytest.raises(TaskError, match="has neither splits nor files"):
        prompts(task)
