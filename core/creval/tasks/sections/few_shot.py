"""`few_shot:`: examples put before the question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from creval.tasks.components import FoundComponent
from creval.tasks.model import FewShot, PromptMessage
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_paths import find_data_file, strays
from creval.tasks.yaml.nodes import Node, plain

__all__ = ["read_few_shot"]

_PATH = ("few_shot",)
_USER = "user"


def read_few_shot(reading: Reading, source: FoundComponent, base: Path) -> FewShot | None:
    """Read the section; `source` and `base` are those of the task's own data."""
    node = reading.section("few_shot")
    if node is None or not reading.sound(_PATH):
        return None
    given = plain(node)
    split, file, answer = node.get("split"), node.get("file"), node.get("answer")
    if split is not None and file is not None:
        reading.add(file.place, "examples come from a split or from a file, not both", _PATH, "Keep one of them.")
    if split is not None and "split" not in source.component.parameters.get("properties", {}):
        message = f"the source {source.ref.name!r} has no splits"
        reading.add(split.place, message, (*_PATH, "split"), "Name a file with examples: file: examples.jsonl")
    if file is not None and strays(base / str(file.value), [base]):
        what = f"the file {file.value!r} is outside of the task's folder"
        reading.add(file.place, what, (*_PATH, "file"), "Put it into that folder.")
    elif file is not None and find_data_file(str(file.value), [base]) is None:
        reading.add(file.place, f"there is no data file {file.value!r}", (*_PATH, "file"), f"Looked in {base}.")
    _check_prompt(reading, node)
    few_shot = FewShot(
        number=given["n"],
        seed=given.get("seed"),
        split=given.get("split"),
        file=given.get("file"),
        turns=given.get("as", "turns") == "turns",
    )
    return few_shot if answer is None else _with_answer(reading, few_shot, answer)


def _with_answer(reading: Reading, few_shot: FewShot, node: Node) -> FewShot:
    """Take over the template of an example's answer with its place; a fault of its syntax joins the problems."""
    from creval.tasks.templates.rendering import syntax_problem

    line = node.place.text_line or node.place.line
    problem = syntax_problem(
        PromptMessage("assistant", node.value, line, node.place.file), node.place.file, (*_PATH, "answer")
    )
    if problem is not None:
        reading.problems.append(problem)
    return replace(few_shot, answer=node.value, line=line, file_of_answer=node.place.file)


def _check_prompt(reading: Reading, node: Node) -> None:
    """The examples take the form of the prompt's last message of the user: there has to be one."""
    prompt = reading.section("prompt")
    if prompt is None or not reading.sound(("prompt",)):
        if prompt is None:
            reading.add(node.place, "examples take the form of `prompt`, which the task lacks", _PATH)
        return
    if not any(member.value["role"].value == _USER for member in prompt.value):
        reading.add(node.place, "examples take the form of the prompt's last message of the user; it has none", _PATH)
