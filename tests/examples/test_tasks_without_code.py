"""Each example task is shown whole on the page that explains it, valid, and runs with its floor and ceiling."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from creval.data.data_options import DataOptions
from creval.engine.run_options import RunOptions
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.check_tasks import check_all
from creval_testing.task_examples import run_examples

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "tasks"
FILES = sorted(FOLDER.glob("*.yaml"))
PAGES = ("task-without-code", "turns", "code-tasks", "text-scores", "text-rules")
PAGE = "".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES)
EXPECTED = {
    "questions": {"numeric": (0.0, 1.0)},
    "readings": {"numeric@strict": (None, 1.0), "numeric@flexible": (0.0, 1.0), "near": (0.0, 1.0)},
    "choices": {"exact_match": (None, 1.0), "group_accuracy": (None, 1.0), "consistency": (None, 1.0)},
    "likeliest": {"acc": (None, 1.0), "acc_norm": (None, 1.0)},
    "first_token": {"first_token": (None, 1.0), "first_token_probability": (None, 1.0)},
    "perplexity": {"bits_per_byte": (8.0, 0.0), "byte_perplexity": (256.0, 1.0), "word_perplexity": (None, 1.0)},
    "few_shot": {"numeric": (0.0, 1.0)},
    "judged": {"originality": (1.0, 5.0)},
    "jury": {"originality": (1.0, 5.0), "originality_of_a": (1.0, 5.0)},
    "pairwise": {"wins": (0.0, 0.5), "wins_agrees": (1.0, 1.0)},
    "best_of_n": {"numeric": (0.0, 1.0)},
    "best_of_n_majority": {"numeric": (0.0, 1.0)},
    "conversations": {"rating": (1.0, 5.0), "rating@1": (1.0, 5.0), "rating@2": (1.0, 5.0)},
    "revised": {"second_look": (0.0, 1.0), "first_look": (0.0, 1.0)},
    "programs": {"pass@1": (0.0, 1.0), "pass@5": (0.0, 1.0)},
    "programs_asserts": {"pass@1": (0.0, 1.0), "tests_passed": (0.0, 1.0)},
    "programs_cpp": {"pass@1": (0.0, 1.0), "pass@5": (0.0, 1.0)},
    "passages": {"token_f1": (0.0, 1.0), "exact_match": (0.0, 1.0)},
    "passages_summaries": {"rougeL": (0.0, 1.0), "chrf": (None, 100.0), "bleu": (None, 100.0)},
    "instructions": {"prompt_strict": (0.0, 1.0), "rule_strict": (None, 1.0), "rule_loose": (None, 1.0)},
    "instructions_one_rule_for_all": {"prompt_strict": (0.0, None)},
    "mode_collapse": {"distinct": (0.1, None), "set_distance": (0.0, None)},
}
"""By task and metric: what floor and ceiling reach (None: between the two)."""


def tasks() -> list[str]:
    index = TaskIndex(load_plugins())
    return [str(name) for file in FILES for name in index.choose([f"{file}", *_variants(file)])]


def _variants(file: Path) -> list[str]:
    known = {"best_of_n": ["majority"], "programs": ["asserts", "cpp"]}
    known |= {"passages": ["summaries"], "instructions": ["one_rule_for_all"]}
    return [f"{file}:{variant}" for variant in known.get(file.stem, [])]


def short(task: str) -> str:
    return task.rpartition("/")[2].replace(".yaml:", "_").removesuffix(".yaml")


def test_every_example_is_shown_whole() -> None:
    assert [file.name for file in FILES if f"`{file.name}`:\n\n```yaml\n{file.read_text()}```\n" not in PAGE] == []


def test_every_example_is_valid() -> None:
    assert check_all(FILES, load_plugins(), DataOptions(offline=True)) == []


@pytest.mark.parametrize("task", tasks(), ids=short)
def test_its_stated_answers_end_as_stated(task: str) -> None:
    plugins = load_plugins()
    outcomes = asyncio.run(
        run_examples(TaskIndex(plugins).load(task), RunOptions(offline=True, allow_code_execution=True), plugins)
    )
    assert (
        len(outcomes) >= (2 if short(task).startswith(("programs_", "instructions_")) else 3)
        or short(task) == "few_shot"
    )
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []


@pytest.mark.parametrize("task", tasks(), ids=short)
def test_it_runs_with_its_floor_and_ceiling(task: str, run_task: Any) -> None:
    expected = EXPECTED[short(task)]
    values = []
    for player in ("floor", "ceiling"):
        judge = _judge(short(task), player)
        jurors = ("a", "b", "c") if short(task) == "jury" else ("judge",)
        roles = {"roles": dict.fromkeys(jurors, judge)} if judge else {}
        done = run_task(task, f"baseline/{player}", allow_code_execution="programs" in task, **roles)
        found = done.metrics(short(task))
        values.append({name.partition("[")[0]: metric["value"] for name, metric in found.items()})
    floor, ceiling = values
    for name, (low, high) in expected.items():
        assert low is None or floor[name] == pytest.approx(low, abs=1e-6), name
        assert high is None or ceiling[name] == pytest.approx(high, abs=1e-6), name
        better, worse = (ceiling, floor) if found[name].get("higher_is_better", True) else (floor, ceiling)
        assert worse[name] <= better[name], name


def _judge(task: str, player: str) -> Any:
    if task in ("judged", "jury", "conversations"):
        return lambda doc: "1" if player == "floor" else "5"
    if task == "pairwise":
        return lambda doc: ["second", "first"] if player == "floor" else ["tie", "tie"]
    return None
