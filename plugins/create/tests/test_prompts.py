"""The prompts as they reach target and judge, against the text of the paper."""

from __future__ import annotations

import re
from typing import Any

import pytest

from creval.plugin import Message
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.templates.rendering import render

BENNY = {"entity_a": "Morton Gould", "rel_b": "discography", "entity_b": "Benny Carter discography"}
SLOTS = {"query": "{ query }", "entity_a": "[entity a]", "rel_b": "[rel b]", "entity_b": "[entity b]"}
GLYPHS = {
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "`answer`": "<answer>",
    "wrapped in answer tags": "wrapped in <answer> tags",
}
BEGINS = {"E.1": "Prompt E.1: Base prompt", "E.2": "Prompt E.2: Verbalized", "E.3": "Prompt E.3: One round"}


@pytest.fixture(scope="module")
def task() -> Any:
    return TaskIndex(load_plugins()).load("create")


def shown(task: Any, prompt: str, **fields: Any) -> str:
    (message,) = render(task.find_prompt(prompt), fields, task.file)
    assert isinstance(message, Message) and message.role == "user"
    return message.content


def plain(text: str) -> str:
    """A text without what type-setting and its extraction change: white space, kinds of quotation marks."""
    for printed, sent in GLYPHS.items():
        text = text.replace(printed, sent)
    return re.sub(r"[\s`]+", "", text).replace("-(a)", "(a)").replace("-(b)", "(b)")  # E.2 has no dash there


def base(task: Any, strategy: str = "base", wording: str = "paper", **fields: Any) -> str:
    return shown(task, "prompt", strategy=strategy, wording=wording, **{**SLOTS, **fields})


def test_e_1_is_the_printed_base_prompt(task: Any, paper: str) -> None:
    assert plain(base(task)) in plain(paper[paper.index(BEGINS["E.1"]) :])


def test_e_2_is_the_printed_prompt_with_its_example_templated(task: Any, paper: str) -> None:
    printed = plain(paper[paper.index(BEGINS["E.2"]) : paper.index(BEGINS["E.3"])])
    assert plain(base(task, "verbalized", **BENNY)) in printed


def test_e_3_is_the_printed_further_round(task: Any, paper: str) -> None:
    printed = plain(paper[paper.index(BEGINS["E.3"]) :]).replace('{query}"', "{query}")  # a stray closing mark
    assert plain(shown(task, "again", strategy="base", wording="paper", **SLOTS)) in printed


def test_the_line_on_creativity_is_the_only_difference_and_precedes_the_output_requirements(task: Any) -> None:
    line = "- Be creative in the type of relationships explored and generated.\n"
    before, after = base(task, "creative").split(line)
    assert before + after == base(task)
    assert after.strip().startswith("Output requirements (strict):")
    assert before.rstrip().endswith("to maximize coverage.")


def test_the_other_wordings_differ_in_the_lines_that_are_known(task: Any) -> None:
    def lines(wording: str) -> set[str]:
        return set(base(task, wording=wording).splitlines()) - set(base(task).splitlines())

    head = "Coverage & diversity:"
    assert {line[:40] for line in lines("run")} == {head, "- Each integer key maps to a list of tri"}
    assert {line[:40] for line in lines("released")} == {head, "- Don’t worry too much if the connection"}


def test_d_1_and_d_2_are_the_printed_prompts_of_the_judge(task: Any, paper: str) -> None:
    printed = re.sub(r"\\[{}]|\$|\\text|\\mid|\\", "", paper)
    for prompt, begins in (("strength", "Prompt D.1"), ("factuality", "Prompt D.2")):
        sent = shown(task, prompt, path="{ path }")
        rest = plain(printed[printed.index(f"{begins}: ") :])
        for line in filter(None, map(plain, sent.splitlines())):
            if line[0] != "{":
                assert line in rest, line


def test_what_a_judge_reads_is_a_python_list_of_tuples_in_lower_case(task: Any) -> None:
    from creval_create.paths.triples import judged_form

    path = (("Sandra Day O'Connor", "Born in", "El Paso"), ("El Paso", "said", 'a "b"'))
    form = judged_form(path)
    assert form == """[("sandra day o'connor", 'born in', 'el paso'), ('el paso', 'said', 'a "b"')]"""
    assert shown(task, "factuality", path=form).endswith(f"Input:\n\nPath: {form}")
    assert shown(task, "strength", path=form).endswith(f"==== INPUT ====\nPath: {form}")


def test_a_path_reaches_the_judge_as_it_is() -> None:
    """A name that looks like a template is text."""
    task = TaskIndex(load_plugins()).load("create")
    assert "{{ query }}" in shown(task, "strength", path="[('{{ query }}', 'r', 'b')]")


def test_the_judges_settings_are_those_of_the_authors(task: Any) -> None:
    assert task.role_models == {"judge": "openrouter/openai/gpt-oss-120b"}
    assert task.role_settings["judge"] == {"temperature": 0, "max_tokens": 4096}
    assert (task.generation["temperature"], task.generation["max_tokens"]) == (0.7, 4096)
