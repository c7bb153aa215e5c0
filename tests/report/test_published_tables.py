"""Every number of the plugins' tables of published numbers, against the texts of the papers that print them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from creval.plugins.loader import load_plugins
from creval.report.page.published import Printed, printed_numbers, same_model
from creval.tasks.index import TaskIndex

PLUGINS = ("association", "create", "openended")
SHIFTED = 120.0
"""CDAT-A stands in Table 3 as 100 more than Eq. 3: above this no other column lies."""


def paper(reference_data: Path, number: str) -> str:
    """The text of a paper."""
    found = list((reference_data.parent / "papers").glob(f"{number}_*.txt"))
    if not found:
        pytest.skip(f"the text of arXiv: paper {number} is not there")
    return found[0].read_text(encoding="utf-8")


def shipped(plugin: str, *tasks: str) -> Counter[tuple[str, str, str, float]]:
    """The rows of a plugin, of some of its tasks."""
    numbers = [each for each in printed_numbers(plugin) if not tasks or each.task in tasks]
    return Counter((each.task, each.metric, each.model, each.value) for each in numbers)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_each_row_names_a_metric_of_a_task_within_its_range(plugin: str) -> None:
    index = TaskIndex(load_plugins())
    numbers = printed_numbers(plugin)
    assert max(Counter((each.task, each.metric, each.model) for each in numbers).values()) == 1
    for name in {each.task for each in numbers}:
        metrics = {metric.name: metric for metric in index.load(name).metrics}
        for each in (number for number in numbers if number.task == name):
            low, high = metrics[each.metric].range or (None, None)
            assert (low is None or each.value >= low) and (high is None or each.value <= high), each
            assert re.search(r", Table \d+", each.source), each


def test_create_is_table_1(reference_data: Path) -> None:
    """It was made with the released discount, so it stands beside that task alone."""
    text = paper(reference_data, "000")
    lines = text[text.index("Table 1. Model performance") : text.index("Figure 3. Alternative")].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if " _(" in line]
    columns = ("creative_utility@0.7", "creative_utility@0.9", "strength", "distance", "paths")
    printed = [
        ("create_published_released", metric, cells[0], float(cells[place].split()[0]))
        for cells in rows
        for place, metric in enumerate(columns, 1)
    ]
    assert len(rows) == 17 and shipped("create") == Counter(printed)


def test_cdat_is_the_column_before_cdat_a_of_table_3(reference_data: Path) -> None:
    """The extraction lost the dashes of empty cells, so that CDAT-N is told by its neighbour."""
    text = paper(reference_data, "003")
    table = text[text.index("\nModel DAT CDAT CDAT-N") : text.index("Appendix C Per-Model Benchmark")]
    found = re.findall(r"^(\S+) .*?([\d.]+)±\\pm([\d.]+) (1[2-9]\d\.\d\d)±", table, re.MULTILINE)
    assert len(found) == 53 and all(float(number) > SHIFTED for *_, number in found)
    printed = {model: (float(value), float(error)) for model, value, error, _ in found}
    ours = [each for each in printed_numbers("association") if each.task == "cdat"]
    assert {each.model: (each.value, each.standard_error) for each in ours} == printed


@pytest.mark.parametrize(
    ("task", "table", "models", "criteria"),
    [
        ("macgyver", 3, 14, ("feasibility", "safety", "effectiveness")),
        ("hypogen", 4, 4, ("feasibility", "relevance", "scientific_accuracy")),
        ("bookmia", 5, 4, ("coherence", "realism", "plot_completion")),
    ],
)
def test_openended_is_tables_3_to_5(
    reference_data: Path, task: str, table: int, models: int, criteria: tuple[str, ...]
) -> None:
    """The extraction reads the letter of GPT 4o as a nought."""
    text = paper(reference_data, "004")
    start = text.index(f"Table {table}: Performance of various LLMs")
    part = text[start : text.index("7 CONCLUSION" if table == 5 else f"Table {table + 1}:", start)]
    rows = re.findall(r"^(\w.*?)((?: \d\.\d\d){5})$", part, re.MULTILINE)
    printed = []
    for name, numbers in rows:
        model = re.sub(r"^GPT([ -])40", r"GPT\g<1>4o", name)
        entropy, *judged = (float(number) for number in numbers.split())
        printed += [(which, "semantic_entropy", model, entropy) for which in (task, f"{task}_jury")]
        metrics = (*criteria, "overall")
        printed += [(f"{task}_jury", metric, model, value) for metric, value in zip(metrics, judged, strict=True)]
    assert len(rows) == models and shipped("openended", task, f"{task}_jury") == Counter(printed)


def test_models_are_found_by_their_plain_name_and_efforts_are_kept_apart() -> None:
    def named(plugin: str, metric: str, ours: str) -> list[Printed]:
        return [each for each in printed_numbers(plugin) if each.metric == metric and same_model(ours, each.model)]

    assert [each.value for each in named("create", "creative_utility@0.9", "openai/gpt-4.1-mini")] == [7.16]
    assert not named("create", "creative_utility@0.9", "openai/gpt-5-mini")  # printed by effort alone
    assert {each.task for each in named("openended", "overall", "openai/gpt-4o")} == {
        "macgyver_jury",
        "hypogen_jury",
        "bookmia_jury",
    }
