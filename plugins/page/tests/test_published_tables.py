"""Every number of the plugins' tables of published numbers, against the texts of the papers that print them."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_create.analysis.commands.distinctiveness import PRINTED
from creval_page.write_page import Printed, printed_numbers, remarks, same_model

PLUGINS = ("association", "create", "kumo", "neocoder", "openended")
FIVE = ("MedicalEnv", "ChemicalEnv", "MusicEnv", "EducationEnv", "FantasyEnv")
SHIFTED = 120.0
"""Table 3 gives CDAT-A as 100 more than Eq. 3; no other column is above this."""


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
            assert re.search(r", (Table|Figure) \d+|, Results", each.source), each


def test_numbers_made_with_prompts_of_our_own_never_agree() -> None:
    """The papers do not print the prompt of DRAT, those that make solutions, and the query and focus of the jury."""
    numbers = [*printed_numbers("association"), *printed_numbers("openended")]
    own = [each for each in numbers if each.task == "drat" or each.task.startswith(("macgyver", "hypogen", "bookmia"))]
    words = {"GPT": "_released", "Vicuna": "_released_vicuna", "Llama": "_released_llama"}
    as_asked = [each for each in own if each.task.endswith(words.get(re.split("[ -]", each.model)[0], "none"))]
    assert {re.split("[ -]", each.model)[0] for each in as_asked} == set(words)
    assert as_asked and all("300 problems" in each.remark for each in as_asked)
    assert all("another wording" in each.remark for each in own if each not in as_asked)
    judged = [each for each in own if "_jury" in each.task and not each.metric.startswith("semantic_entropy")]
    assert judged and all("judge" in each.equal and "focus and queries" in each.remark for each in judged)
    others = [each for each in numbers if each.task in ("dat", "cdat", "rat", "pace")]
    assert others and not any(each.remark for each in others)


def test_create_is_table_1(reference_data: Path) -> None:
    """It was made with the released discount, so it is next to that task alone."""
    text = paper(reference_data, "000")
    lines = text[text.index("Table 1. Model performance") : text.index("Figure 3. Alternative")].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if " _(" in line]
    columns = ("creative_utility@0.7", "creative_utility@0.9", "strength", "distance", "paths")
    printed = [
        ("create_published_released", metric, cells[0], float(cells[place].split()[0]))
        for cells in rows
        for place, metric in enumerate(columns, 1)
    ]
    ours = Counter(key for key in shipped("create", "create_published_released") if key[1] != "factuality")
    assert len(rows) == 17 and ours == Counter(printed)


NAMES_15 = {
    "GPT-5-mini": "GPT-5-mini (med)",
    "Claude-haiku-4-5": "Claude-Haiku-4.5 (med)",
    "Qwen3-32B": "Qwen/Qwen3-32B (16k)",
    "Olmo-3.1-32B-Think": "Olmo-3.1-32B-Think (16k)",
}
"""What the models of Table 15 are in Table 1, by their original rows."""


def cells_of(text: str, begin: str, end: str) -> list[list[str]]:
    lines = text[text.index(begin) : text.index(end, text.index(begin))].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if " _(" in line]


def test_create_is_tables_8_and_15(reference_data: Path) -> None:
    text = paper(reference_data, "000")
    columns = ("creative_utility@0.7", "creative_utility@0.9", "strength", "distance", "paths", "factuality")
    rows = cells_of(text, "Table 8. Performance", "F. Case Study")
    printed = [
        ("create_published_unfiltered", metric, cells[0], float(cells[place].split()[0]))
        for cells in rows
        for place, metric in enumerate(columns, 1)
    ]
    assert len(rows) == 7 and shipped("create", "create_published_unfiltered") == Counter(printed)
    factuality = {key[2]: key[3] for key in shipped("create", "create_published_released") if key[1] == "factuality"}
    assert factuality == {cells[0]: float(cells[6].split()[0]) for cells in rows}
    printed = [
        (
            f"create_published_released_{cells[1]}",
            metric,
            NAMES_15.get(cells[0], cells[0]),
            float(cells[place].split()[0]),
        )
        for cells in cells_of(text, "Table 15. Utility", "Table 16. Number")
        if cells[1] != "original"
        for place, metric in enumerate(columns[1:5], 2)
    ]
    strategies = {key[0] for key in printed}
    assert len(strategies) == 4 and shipped("create", *strategies) == Counter(printed)


def test_table_2_of_create_is_what_is_printed_below_distinctiveness(reference_data: Path) -> None:
    text = paper(reference_data, "000")
    start = text.index("Table 2. Average and maximum distinctiveness")
    lines = text[start : text.index("responses produced by each model.", start)].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]
    printed, model = [], ""
    for name, variation, *numbers in cells:
        model = name or model
        printed.append((model, f"{variation} (arXiv:2603.09970, Table 2)", *map(float, numbers), None, None))
    assert len(printed) == 10 and [tuple(row) for row in PRINTED] == printed


def test_table_17_of_create(reference_data: Path) -> None:
    text = paper(reference_data, "000")
    assert "| RAT | 212 | accuracy | 0.48 (0.5) | 0.86 (0.35) |" in text
    assert "| originality | 0.81 (0.06) | 0.80 (0.09) |" in text
    assert "| originality | 0.84 (0.01) | 0.82 (0.03) |" in text
    printed = {"rat_create": ("rat", 0.48, 0.86), "aut": ("aut_originality", 0.81, 0.8), "dat_create": ("dat", 84, 82)}
    models = ("GPT-4.1-mini", "GPT-5-mini")
    assert shipped("association", *printed) == Counter(
        (task, metric, model, value)
        for task, (metric, *values) in printed.items()
        for model, value in zip(models, values, strict=True)
    )


def test_cdat_is_the_column_before_cdat_a_of_table_3(reference_data: Path) -> None:
    """The extraction lost the dashes of empty cells, so that CDAT-N is found by its neighbour."""
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
        ("macgyver_released", 3, 14, ("feasibility", "safety", "effectiveness")),
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
    jury = task.replace("macgyver", "macgyver_jury") if "released" in task else f"{task}_jury"
    printed = []
    for name, numbers in rows:
        model = re.sub(r"^GPT([ -])40", r"GPT\g<1>4o", name)
        entropy, *judged = (float(number) for number in numbers.split())
        printed += [(which, "semantic_entropy", model, entropy) for which in (task, jury)]
        metrics = (*criteria, "overall")
        printed += [(jury, metric, model, value) for metric, value in zip(metrics, judged, strict=True)]
    ours = shipped("openended", task, jury)
    assert len(rows) == models
    assert Counter({row: n for row, n in ours.items() if not row[1].endswith("_unfiltered")}) == Counter(printed)


@pytest.mark.parametrize(("name", "models"), [("vicuna", 3), ("llama", 5)])
def test_words_for_local_models_have_their_rows_of_table_3(name: str, models: int) -> None:
    for task, metrics in (("macgyver_released", 1), ("macgyver_jury_released", 5)):
        theirs = {row[1:] for row in shipped("openended", task) if row[2].lower().startswith(name)}
        assert len(theirs) == models * metrics
        assert {row[1:] for row in shipped("openended", f"{task}_{name}")} == theirs


def test_the_unfiltered_stories_are_table_18(reference_data: Path) -> None:
    text = paper(reference_data, "004")
    end = text.index("Table 18: Performance of various LLMs")
    rows = re.findall(r"^(?:GPT|Llama|Qwen).*?((?: \d\.\d\d){5})$", text[end - 500 : end], re.MULTILINE)
    models = ("GPT-4o", "Llama 3.1 8B Instruct", "Qwen3 32B (Thinking)", "Qwen3 32B (Non-think)")
    names = ("semantic_entropy", "coherence", "realism", "plot_completion", "overall")
    printed = [
        (task, f"{name}_unfiltered", model, float(value))
        for model, numbers in zip(models, rows, strict=True)
        for name, value in zip(names, numbers.split(), strict=True)
        for task in ("bookmia", "bookmia_jury")
        if task == "bookmia_jury" or name == "semantic_entropy"
    ]
    ours = shipped("openended", "bookmia", "bookmia_jury")
    assert Counter({row: n for row, n in ours.items() if row[1].endswith("_unfiltered")}) == Counter(printed)


def test_neocoder_is_table_3_next_to_both_readings(reference_data: Path) -> None:
    """The copy of the paper lost the table; the notes that were taken of it hold it."""
    notes = reference_data.parent / "design" / "neocoder.md"
    if not notes.is_file():
        pytest.skip("the text of arXiv:2407.09007 with its tables is not there")
    text = notes.read_text(encoding="utf-8").partition("**Table 3, GPT-4, in %**")[2]
    rows = re.findall(r"^\| (\d) \|((?: [\d.]+ \|){5})$", text, re.MULTILINE)[:6]
    columns = ("pass@1", "constraint_following", "convergent", "divergent", "neogauge")
    printed = [
        (f"neocoder_{kind}state{state}", metric, "GPT-4", round(float(value) / 100, 4))
        for state, values in rows
        for metric, value in zip(columns, values.strip(" |").split(" | "), strict=True)
        for kind in ("released_", "")
    ]
    ours = [each for each in printed_numbers("neocoder") if ", Table 3" in each.source]
    assert Counter((each.task, each.metric, each.model, each.value) for each in ours) == Counter(printed)
    agreeing = {(each.task, each.metric) for each in printed_numbers("neocoder") if not each.remark}
    assert agreeing == {(f"neocoder_released_state{state}", "pass@1") for state in range(6)}


def test_neocoder_is_table_5_as_the_analysis_has_it() -> None:
    from creval_neocoder.analysis.table5 import MODELS, TABLE_5

    ours = {(each.task, each.metric, each.model): each for each in printed_numbers("neocoder")}
    for strategy, table in TABLE_5.items():
        for metric, pairs in table.items():
            for state, pair in enumerate(pairs):
                new = ours.pop((f"neocoder_{strategy}_state{state}", metric, MODELS[strategy]))
                assert new.value == pytest.approx(pair.new / 100) and ", Table 5" in new.source and new.remark
                old = ours[f"neocoder_state{state}", metric, MODELS[strategy]]
                assert old.value == pytest.approx(pair.old / 100, abs=1.01e-4)  # the paper prints it several times
    assert all(", Table 3" in each.source or ", old, " in each.source for each in ours.values())


def test_kumo_is_what_the_authors_runs_behind_figure_4_give(reference_data: Path) -> None:
    """The figure is a picture; the text names two means over all hundred domains."""
    folder = reference_data / "kumo"
    if not (folder / "model_runs_compact.jsonl.gz").is_file():
        pytest.skip(f"no KUMO data in {folder}")

    def lines(name: str) -> Any:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)

    golden = {(e["domain"], e["difficulty"], e["seed"]): e["n_tests"] + 2 for e in lines("golden_trajectories")}
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for run in lines("model_runs_compact"):
        failed = {"easy": 7, "hard": 17}[run["difficulty"]]
        for seed, tries in run["per_seed"] if f"{run['domain']}" in FIVE else ():
            best = golden[run["domain"], run["difficulty"], seed]
            for tests, _, success, unread, _ in tries:
                key = (f"kumo_published_{run['difficulty']}", run["model"])
                found[key[0], "success_rate", key[1]].append(bool(success))
                found[key[0], "parse_error_rate", key[1]].append(bool(unread))
                found[key[0], "relative_action_count", key[1]].append(
                    ((tests + 2 if success else failed) - best) / best
                )
    whole = {key: round(sum(values) / len(values), 4) for key, values in found.items() if len(values) == 1250}
    ours = {(each.task, each.metric, each.model): each.value for each in printed_numbers("kumo")}
    text = " ".join(paper(reference_data, "002").split())
    assert "a higher success rate (0.86) compared to the best reasoning-scaled model (DeepSeek-R1, at 0.83)" in text
    named = {
        ("kumo_published_all", "success_rate", f"DeepSeek-{model}"): v for model, v in (("V3", 0.86), ("R1", 0.83))
    }
    hundred = {key: value for key, value in ours.items() if key[0] == "kumo_published_all" and key not in named}
    assert ours == whole | named | hundred and len(whole) == 3 * (23 + 22)
    assert hundred == {key: pytest.approx(value, abs=5e-5) for key, value in of_all_domains(reference_data).items()}
    sent_otherwise = re.compile("claude|gemma|o1-")
    rows = [each for each in printed_numbers("kumo") if each.task != "kumo_published_all"]
    assert all(("message of the user" in each.remark) == bool(sent_otherwise.search(each.model)) for each in rows)
    assert sum(not each.remark for each in rows) > 100, "the task asks in the authors' wording"


def of_all_domains(reference_data: Path) -> dict[tuple[str, str, str], float]:
    """Mean success over the easy games of all domains that the authors published, of 13 models of Figure 3."""
    shares: dict[str, list[float]] = defaultdict(list)
    with gzip.open(reference_data / "kumo" / "model_runs_compact.jsonl.gz", "rt") as lines:
        for run in map(json.loads, lines):
            if run["difficulty"] == "easy":
                tries = [bool(each[2]) for _, several in run["per_seed"][:50] for each in several]
                shares[run["model"]].append(sum(tries) / len(tries))
    means = {model: sum(each) / len(each) for model, each in shares.items() if len(each) > 5}
    assert round(means.pop("deepseek-v3"), 2) == 0.86 and round(means.pop("deepseek-r1"), 2) == 0.83
    return {("kumo_published_all", "success_rate", model): value for model, value in means.items()}


def test_a_remark_is_that_of_the_own_model_or_what_is_said_of_any() -> None:
    numbers = [
        Printed("t", "m", "gpt-4o", 1.0, None, "P, Table 1", "with a lens"),
        Printed("t", "m", "gpt-4o-mini", 2.0, None, "P, Table 1"),
    ]
    assert remarks(numbers, "openai/gpt-4o") == ["with a lens"]
    assert remarks(numbers, "openai/gpt-4o-mini") == []
    assert remarks(numbers, "other/model") == ["with a lens"]
    drawn = {each.task for each in printed_numbers("openended") if "another draw of 300 problems" in each.remark}
    assert drawn == {"hypogen", "hypogen_jury", "bookmia", "bookmia_jury"}


def test_models_are_found_by_their_plain_name_and_efforts_are_kept_apart() -> None:
    def named(plugin: str, metric: str, ours: str) -> list[Printed]:
        return [each for each in printed_numbers(plugin) if each.metric == metric and same_model(ours, each.model)]

    asked_once = [
        each.value
        for each in named("create", "creative_utility@0.9", "openai/gpt-4.1-mini")
        if each.task == "create_published_released"
    ]
    assert asked_once == [7.16]
    assert not named("create", "creative_utility@0.9", "openai/gpt-5-mini")  # printed by effort alone
    assert {each.task for each in named("openended", "overall", "openai/gpt-4o")} == {
        "macgyver_jury",
        "macgyver_jury_released",
        "hypogen_jury",
        "bookmia_jury",
    }
