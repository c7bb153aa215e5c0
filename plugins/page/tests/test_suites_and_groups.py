"""The page's numbers of suites and of groups: what stands above what, and that many groups fold and fit a phone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import headless_chromium, screen, until
from support.small_suite import write_small_suite

import creval
from creval import RunOptions
from creval.report.baselines import Baselines
from creval.runs.reader import open_runs
from creval_page.write_page import page_data, write_page

LONG = "jurisprudence_and_" * 5
SUBJECTS = [*(f"subject {number:02}" for number in range(56)), LONG]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from headless_chromium(tmp_path_factory)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs of a suite, one of whose tasks has groups."""
    folder = tmp_path_factory.mktemp("page")
    suite = write_small_suite(folder)
    rows = [{"id": f"b{n}", "target": "yes" if n % 3 else "no", "subject": SUBJECTS[n % 57]} for n in range(171)]
    (folder / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = folder / "b.yaml"
    task.write_text(task.read_text().replace("binary: true}", "binary: true, by: subject}"))
    models = ("baseline/floor", "baseline/ceiling")
    return [creval.run([suite], model, RunOptions(output=folder / model[9:])).folder for model in models]


def test_suites_and_groups_are_in_the_data(runs: list[Path]) -> None:
    data = page_data(open_runs(runs), Baselines())
    (suite,) = data["suites"]
    assert suite["title"] == "Both tasks" and suite["metrics"]["pooled"].endswith("by their number of values")
    assert [task["task"] for task in data["tasks"]] == ["a", "b"]
    macro = data["suite_metrics"][0]
    assert macro["of"] == [["a", "exact_match"], ["b", "exact_match"]] and macro["low"] < macro["value"] < macro["high"]
    groups = [row["group"] for row in data["metrics"] if row["task"] == "b" and row["run"] == 0 and row["group"]]
    assert {"metric": "exact_match", "by": "subject", "name": LONG, "mean": False} in groups
    assert [group["name"] for group in groups if group["mean"]] == ["macro mean", "weighted mean"]
    assert len(groups) == 59


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1360])
def test_a_suite_is_above_its_tasks_and_many_groups_fold(
    browser: Any, runs: list[Path], tmp_path: Path, width: int
) -> None:
    page = write_page(runs, tmp_path / "page.html")
    with screen(browser, width):
        browser.get(page.as_uri())
        until(browser, "document.querySelectorAll('.item').length")
        titles = "[...document.querySelectorAll('#results > .task > h2')].map((each) => each.textContent)"
        assert browser.execute_script(f"return {titles}")[0] == "Both tasks"
        suite = "document.querySelector('#results > .suite')"
        value = f"{suite}.querySelector('.metric .rows .value').textContent"
        assert browser.execute_script(f"return {value}") == "0.783"
        shown = browser.execute_script(f"return {suite}.querySelector('details[open]').textContent")
        assert "exact_match: 2 tasks" in shown and "a · floor" in shown
        groups = "document.querySelector('details.groups')"
        assert browser.execute_script(f"return {groups}.querySelector('summary').textContent") == (
            "exact_match by subject: 57 groups"
        )
        assert not browser.execute_script(f"return {groups}.open")
        browser.execute_script(f"{groups}.open = true")
        until(browser, f"{groups}.querySelectorAll('.name').length")
        names = browser.execute_script(
            f"return [...{groups}.querySelectorAll('.name')].map((each) => each.textContent)"
        )
        assert len(names) == 2 * 59 and names[:2] == ["macro mean · floor", "macro mean · ceiling"]
        assert names[4:6] == [f"{LONG} · floor", f"{LONG} · ceiling"]
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
