"""Twelve well-known benchmarks in YAML alone: valid, tested by their own gold answers and mutants, played and asked."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from support.completions_server import CompletionsServer

from creval.data.data_options import DataOptions
from creval.engine.run_options import RunOptions
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.types.sample import Status
from creval_testing.check_tasks import check_all
from creval_testing.task_examples import run_examples

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "ported"
PAGE = (ROOT / "docs" / "ported.md").read_text(encoding="utf-8")
FILES = sorted(FOLDER.glob("*.yaml"))
VARIANTS = {"arc": ["likelihood"]}
NAMES = [
    name for file in FILES for name in (file.stem, *(f"{file.stem}:{each}" for each in VARIANTS.get(file.stem, [])))
]
GOLD: dict[str, dict[str, float]] = {
    "gsm8k": {"numeric@strict": 1, "numeric@flexible": 1},
    "simpleqa": {"correct": 1, "attempted": 1, "correct_given_attempted": 1, "f_score": 1},
    "mmlu": {"exact_match": 1, "exact_match[macro by subject]": 1, "exact_match[subject=sailing]": 1},
    "hellaswag": {"acc": 1, "acc_norm": 1},
    "arc": {"exact_match": 1},
    "arc:likelihood": {"acc": 1, "acc_norm": 1},
    "wikitext": {"bits_per_byte": 0, "byte_perplexity": 1, "word_perplexity": 1},
    "humaneval": {"pass@1": 1, "pass@2": 1},
    "mt_bench": {"rating": 10, "rating@1": 10, "rating@2": 10},
    "ifeval": {"prompt_strict": 1, "instruction_strict": 1, "prompt_loose": 1, "instruction_loose": 1},
    "squad": {"exact_match": 1, "token_f1": 1},
    "mmmu": {"exact_match": 1, "exact_match[subfield=shapes]": 1},
    "alpaca_eval": {"wins": 0.5},  # the reference next to itself
}
"""By task and metric: what the right answers reach."""
SAID: dict[str, tuple[Any, dict[str, float]]] = {
    "gsm8k": (
        {"0": "6 * 7 = 42.\n#### 42", "1": "It is 110.", "2": "#### 50 of 1,200", "3": "#### 19", "4": "No idea."},
        {"numeric@strict": 0.4, "numeric@flexible": 0.4},
    ),
    "simpleqa": (
        {"0": "It is Ullmouth.", "1": "In 1801.", "2": "I do not know."},
        {"correct": 1 / 3, "attempted": 2 / 3, "correct_given_attempted": 1 / 2, "f_score": 0.4},
    ),
    "mmlu": (
        {"0": "B", "1": "A", "2": "(C)", "3": "C", "4": "The answer is B.", "5": "B", "6": "It depends."},
        {"exact_match": 4 / 7, "exact_match[subject=geometry]": 2 / 3, "exact_match[macro by subject]": 5 / 9},
    ),
    "arc": ({"cork": "B", "bees": "1", "shade": "A", "ice": "B or C"}, {"exact_match": 0.5}),
    "humaneval": (
        {"Made/0": ["```python\ndef doubled(numbers):\n    return [2 * n for n in numbers]\n```"], "Made/1": ["None."]},
        {"pass@1": 0.5, "pass@2": 0.5},
    ),
    "mt_bench": ("An hour.", {"rating": 4, "rating@1": 4, "rating[category=writing]": 4}),
    "ifeval": (
        {"1": "A harbour, a wall.", "2": 'Here:\n["WHEEL", "SADDLE"]', "3": "The lantern is out."},
        {"prompt_strict": 1 / 3, "instruction_strict": 0.2, "prompt_loose": 2 / 3, "instruction_loose": 0.6},
    ),
    "squad": (
        {"mill": "Anna Rook", "lamp": "iron", "gate": "autumn"},
        {"exact_match": 1 / 3, "token_f1": 5 / 9},
    ),
    "mmmu": (
        {"made_Statistics_1": "B", "made_Geometry_1": "(B)", "made_Statistics_2": "rising, C"},
        {"exact_match": 2 / 3, "exact_match[subfield=charts]": 1, "exact_match[subfield=shapes]": 0},
    ),
    "alpaca_eval": ("As you like.", {"wins": 0.25}),
}
"""By task: what a model says, and what comes out; the others ask for log-likelihoods."""
LM_EVAL = {
    "gsm8k": ["gsm8k/gsm8k.yaml"],
    "mmlu": ["mmlu/default/*yaml"],
    "hellaswag": ["hellaswag/hellaswag.yaml", "hellaswag/utils.py"],
    "arc": ["arc/arc_easy.yaml", "arc/arc_challenge_chat.yaml"],
    "wikitext": ["wikitext/wikitext.yaml", "wikitext/preprocess_wikitext.py"],
    "humaneval": ["humaneval/humaneval.yaml", "humaneval/humaneval_instruct.yaml", "humaneval/utils.py"],
    "ifeval": ["ifeval/ifeval.yaml", "ifeval/*.py"],
    "squad": ["squadv2/squadv2.yaml", "squadv2/task.py"],
    "mmmu": ["mmmu/*yaml", "mmmu/utils.py"],
}
"""The files of the same in lm-eval, under `lm_eval/tasks`."""


def path_of(name: str) -> str:
    stem, _, variant = name.partition(":")
    return f"{FOLDER / stem}.yaml" + (f":{variant}" if variant else "")


def roles_of(name: str, gold: bool) -> dict[str, Any]:
    """Who judges, and how."""
    if name == "simpleqa":
        right = {"Which village": "right", "In which year": "wrong", "Who painted": "silent"}
        return {
            "judge": lambda doc: "right" if gold else next(w for q, w in right.items() if doc["problem"].startswith(q))
        }
    if name == "mt_bench":
        return {"judge": "10" if gold else "So so. 4"}
    if name == "alpaca_eval":
        return (
            {"a": ["tie", "tie"], "b": ["tie", "tie"]} if gold else {"a": ["first", "first"], "b": ["second", "first"]}
        )
    return {}


def values_of(result: Any, name: str) -> dict[str, float]:
    found = result.metrics(f"ported_{name.replace(':', '_')}")
    # without the resources that a metric's name ends in
    return {re.sub(r"\[replay/[^\]]*\]|\[[ab]=.*?\]", "", each): metric["value"] for each, metric in found.items()}


def test_there_are_twelve() -> None:
    assert len(FILES) == 12
    assert set(GOLD) == set(NAMES)


def test_every_port_is_valid() -> None:
    assert check_all(FILES, load_plugins(), DataOptions(offline=True)) == []


@pytest.mark.parametrize("name", NAMES)
def test_its_gold_answers_and_mutants_end_as_stated(name: str) -> None:
    plugins = load_plugins()
    task = TaskIndex(plugins).load(path_of(name))
    options = RunOptions(offline=True, allow_code_execution=True)
    outcomes = asyncio.run(run_examples(task, options, plugins))
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []
    assert [each.example for each in outcomes].count("gold") == 1
    assert len(outcomes) >= 3
    ends = {example.status for example in task.examples}
    assert len(ends) > 1 or name == "wikitext", "a mutant that ends otherwise than scored"
    assert Status.SCORED in ends


@pytest.mark.parametrize("name", NAMES)
def test_gold_reaches_the_top(name: str, run_task: Any) -> None:
    roles = roles_of(name, gold=True)
    done = run_task(path_of(name), "baseline/ceiling", roles=roles, allow_code_execution=True)
    found = values_of(done, name)
    assert {each: found.get(each) for each in GOLD[name]} == pytest.approx(GOLD[name], abs=1e-9)
    assert done.error_share() == 0


@pytest.mark.parametrize("name", SAID)
def test_a_model_that_is_partly_right_gets_its_share(name: str, run_task: Any, scripted_model: Any) -> None:
    says, expected = SAID[name]
    roles = roles_of(name, gold=False)
    done = run_task(path_of(name), scripted_model(says), roles=roles, allow_code_execution=True)
    found = values_of(done, name)
    assert {each: found.get(each) for each in expected} == pytest.approx(expected, abs=1e-9)
    assert done.error_share() == 0


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(SAID)))
def test_a_server_is_asked_for_the_likelihoods_of_each_doc(name: str, run_task: Any) -> None:
    with CompletionsServer() as server:
        done = run_task(path_of(name), "chat/mock", base_url=server.url, offline=False)
        assert len(server.of("/v1/completions")) >= done.results["tasks"][0]["docs"]
    assert done.error_share() == 0
    for each, value in values_of(done, name).items():
        assert value > 1 if name == "wikitext" else 0 <= value <= 1, each


def rows() -> dict[str, list[str]]:
    """The page's table: by file, its cells."""
    found = re.findall(r"^\| \[(\w+)\.yaml\]\(\S+\) \|(.*)\|$", PAGE, re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in found}


def test_the_page_counts_the_lines_of_each() -> None:
    assert {name: int(cells[1]) for name, cells in rows().items()} == {
        file.stem: len(file.read_text(encoding="utf-8").splitlines()) for file in FILES
    }


def test_the_page_counts_those_of_lm_eval() -> None:
    spec = importlib.util.find_spec("lm_eval")
    if spec is None or spec.origin is None:
        pytest.skip("no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
    home = Path(spec.origin).parent / "tasks"
    counted = {
        name: sum(
            len(file.read_text(encoding="utf-8").splitlines()) for pattern in patterns for file in home.glob(pattern)
        )
        for name, patterns in LM_EVAL.items()
    }
    reported = {name: cells[2].partition(" ")[0].replace(",", "") for name, cells in rows().items()}
    assert {name: int(text) for name, text in reported.items() if text.isdecimal()} == counted


def test_the_file_for_the_original_data_is_valid(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for file in (*FOLDER.glob("gsm8k*"), None):
        text = block if file is None else file.read_text(encoding="utf-8")
        (tmp_path / (file.name if file is not None else "own.yaml")).write_text(text, encoding="utf-8")
    task = TaskIndex(load_plugins()).load(str(tmp_path / "own.yaml"))
    assert (task.dataset.source, task.dataset.parameters["dataset"]) == ("huggingface", "openai/gsm8k")
    assert task.few_shot is not None and task.few_shot.number == 5


def test_the_text_game_that_the_page_names_is_one_by_tool_calls(run_task: Any) -> None:
    assert "`kumo_tools` of [creval-kumo](kumo.md)" in PAGE
    done = run_task("kumo_tools", "baseline/ceiling", limit="2")
    assert done.metrics("kumo_tools")["success_rate"]["value"] == 1
    task = TaskIndex(load_plugins()).load("kumo_tools")
    assert task.protocol.name == "kumo.tools"


def test_no_text_of_the_originals_is_in_the_data() -> None:
    """All data are made up for these files, and few: no file has grown into a copy of a benchmark."""
    assert [file.name for file in FOLDER.glob("*.jsonl") if len(file.read_text().splitlines()) > 10] == []
