"""The page of 27 runs: short names, dense rows by value, scales that fit, what changed between two runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import screen, until

from creval import RunOptions, run
from creval.report.baselines import Baselines
from creval.runs.reader import open_runs
from creval_page.short_names import short_names
from creval_page.write_page import page_data, page_text

RUNS = 27
LONG = "share_of_" + "very_long_names_that_no_phone_can_hold_in_one_line_" * 3 + "answers"


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["openai/gpt-5"], ["gpt-5"]),
        (["openrouter/qwen/qwen3-8b-it", "openrouter/qwen/qwen3-14b-it"], ["qwen3-8b", "qwen3-14b"]),
        (["p/lab-a-chat", "p/lab-b-chat", "baseline/floor"], ["lab-a", "lab-b", "floor"]),
        (["openai/gpt-5", "azure/gpt-5"], ["openai", "azure"]),
        (["m/x · one", "m/x · two"], ["x · one", "x · two"]),
        (["m/gpt", "m/gpt-mini"], ["gpt", "gpt-mini"]),
        (["m/a", "m/a"], ["m/a", "m/a"]),
    ],
)
def test_names_lose_what_they_share(names: list[str], short: list[str]) -> None:
    assert short_names(names) == short


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 27 copies of one run of six docs, of which model number n solves n / 5; its second metric is zeros."""
    folder = tmp_path_factory.mktemp("many")
    first = run(["rat"], "baseline/ceiling", RunOptions(output=folder / "first", limit=6, offline=True)).folder
    return write_many(first, folder)


def write_many(first: Path, folder: Path) -> Path:
    copies = [_copy(first, folder / f"m{number:02d}", number) for number in range(RUNS)]
    file = folder / "page.html"
    file.write_text(page_text(page_data(open_runs(copies), Baselines())), encoding="utf-8")
    return file


def _copy(first: Path, folder: Path, number: int) -> Path:
    shutil.copytree(first, folder)
    for name in ("run.json", "results.json"):
        file = folder / name
        file.write_text(file.read_text().replace("baseline/ceiling", f"vllm/laboratory/tuned-model-{number:02d}-chat"))
    right = number // 5
    results = json.loads((folder / "results.json").read_text())
    metrics = results["tasks"][0]["metrics"]
    metrics[0].update(value=right / 6, ci_low=0.0, ci_high=1.0)
    metrics[1].update(name=LONG, value=0.0, ci_low=None, ci_high=None, no_interval="all are alike")
    (folder / "results.json").write_text(json.dumps(results))
    lines = [json.loads(line) for line in (folder / "scores" / "rat.jsonl").read_text().splitlines()]
    for place, line in enumerate(lines):
        line["scores"] = {"rat": float(place < right), "rat_lenient": 0.0}
    (folder / "scores" / "rat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    chromium.get_log("browser")
    yield chromium
    faults = [line for line in chromium.get_log("browser") if line["level"] == "SEVERE"]
    chromium.get("about:blank")
    assert not faults


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_model_takes_one_line_and_nothing_runs_over(browser: Any, page: Path, width: int) -> None:
    with screen(browser, width):
        browser.get(page.as_uri())
        until(browser, "document.querySelectorAll('.item').length")
        for script in ("0", "document.querySelectorAll('details').forEach((each) => { each.open = true; })"):
            browser.execute_script(script)
            assert until(browser, "document.documentElement.scrollWidth") <= width
        heads = "[...document.querySelectorAll('h3, summary, .plot h4, .legend')]"
        cut = f"{heads}.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML)"
        assert browser.execute_script(f"return {cut}") == []
        rows = browser.execute_script("""
            const box = (node) => node.getBoundingClientRect();
            const all = (name) => [...document.querySelector('.rows.dense').querySelectorAll(name)];
            return all('.name').map((name, index) => ['.value', '.interval', '.statuses'].map((cell) => [
                box(name).top - box(all(cell)[index]).bottom, box(all(cell)[index]).top - box(name).bottom]).flat());
        """)
        assert len(rows) == RUNS and all(apart < 0 for row in rows for apart in row)  # they overlap in height
        high = browser.execute_script("return document.querySelector('.rows.dense').offsetHeight")
        assert high < (RUNS + 3) * (40 if width < 600 else 24)


def test_models_are_in_the_order_of_their_values_under_short_names(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    names = until(browser, "[...document.querySelector('.rows').querySelectorAll('.name')].map((n) => n.textContent)")
    assert names == [
        f"model-{number:02d}" for number in sorted(range(RUNS), key=lambda number: (-(number // 5), number))
    ]
    title = browser.execute_script("return document.querySelector('.rows .name').title")
    assert title.startswith("vllm/laboratory/tuned-model-25-chat: 0.833; 95 % interval 0.000 to 1.000")
    assert "n = 6; 6 scored" in title
    assert browser.execute_script("return document.getElementById('subtitle').innerText") == "27 runs"
    browser.execute_script("document.querySelector('#subtitle summary').click()")
    assert "tuned-model-26-chat" in browser.execute_script("return document.getElementById('subtitle').innerText")
    marks = browser.execute_script("return document.querySelector('.task .legend').textContent")
    assert "95 % interval" in marks and "scored" in marks and "ceiling" not in marks


def test_scales_begin_at_zero_and_histograms_have_axes(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    scale = "[...document.querySelectorAll('.rows')[1].querySelectorAll('.scale span')].map((n) => n.textContent)"
    assert until(browser, scale) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    browser.execute_script("document.querySelectorAll('.task > details').forEach((each) => { each.open = true; })")
    texts = "[...document.querySelector('.histogram svg').querySelectorAll('text')].map((n) => n.textContent)"
    until(browser, "document.querySelector('.histogram svg')")
    assert browser.execute_script(f"return {texts}") == ["0", "3", "6", "6", "0", "1"]  # counts, one bar, two values
    none = {"low": None, "high": None, "floor": None, "ceiling": None, "published": []}
    for values, ends in SCALES:
        rows = [{"value": value, **none} for value in values]
        found = browser.execute_script("const s = scaleOf(arguments[0]); return [s.low, s.high];", rows)
        assert found == pytest.approx(ends), values


SCALES = [
    ([0, 0], [0, 1]),
    ([0.3, 0.3], [0, 0.309]),
    ([-2, -2], [-2.06, 0]),
    ([70, 80], [69.7, 80.3]),
    ([0.5, 0.9], [0, 0.927]),
]
"""Values, and the ends of the scale that fits them."""


def test_what_changed_between_two_runs_is_a_filter(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    until(browser, "document.querySelectorAll('.item').length")
    choose(browser, "flip-from", "1")
    choose(browser, "flip-to", "26")
    until(browser, "document.getElementById('count').textContent === '5 samples'")
    shown = browser.execute_script("return [...document.querySelectorAll('.item .number')].map((n) => n.textContent)")
    assert shown == ["0.000 → 1.000"] * 5
    browser.execute_script("document.activeElement.blur()")
    press(browser, "j")
    until(browser, "document.querySelectorAll('.columns > div').length === 2")
    choose(browser, "flip-kind", "worse")
    until(browser, "document.getElementById('count').textContent === '0 samples'")


def test_the_list_shows_what_was_asked_right_and_read(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    item = until(browser, "document.querySelector('.item')?.textContent")
    for words in ("What single word", "read pin", "right pin", "model-00 · pin"):
        assert words in item
    right = "[...document.querySelectorAll('.item .answers span + span')]"
    assert browser.execute_script(f"return {right}.some((each) => each.scrollWidth > each.clientWidth)") is False
    orders = "[...document.getElementById('order').options].map((each) => each.textContent)"
    names = ["rat", "rat_lenient"]
    first = [f"{name}, {which} first" for name in names for which in ("lowest", "highest")]
    assert browser.execute_script(f"return {orders}")[:5] == ["as they ended", *first]
    press(browser, "j")
    assert "pin" in until(browser, "document.querySelector('.sample .right')?.textContent")
    press(browser, "a")
    until(browser, "!document.querySelector('.sample .right')")
    assert "right" not in browser.execute_script("return document.querySelector('.item .answers').textContent")
    folded = "[...document.querySelectorAll('.sample summary')].find((each) => /right answer/.test(each.textContent))"
    browser.execute_script(f"{folded}.click()")
    until(browser, "document.querySelector('.sample .right')")
    # what was asked for last is shown
    browser.execute_script("document.querySelectorAll('.item')[1].click(); document.getElementById('side').click();")
    assert until(browser, "document.querySelectorAll('#detail .columns > *').length > 1")


def test_what_hovering_shows_is_there_without_a_mouse(browser: Any, page: Path) -> None:
    with screen(browser, 390):
        browser.get(page.as_uri())
        until(browser, "document.querySelectorAll('.item').length")
        browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        until(browser, "document.querySelector('.histogram [data-told]')")
        hidden = browser.execute_script("""
            const hovered = [...document.querySelectorAll("[title]"),
                             ...[...document.querySelectorAll("svg title")].map((each) => each.parentNode)];
            const keys = [...document.querySelectorAll("#keys dt")].map((each) => each.textContent).join(" ");
            const parts = (node) => node.dataset.told.split("; "), known = new Map();
            const saidIn = (figure) => {
                if (!known.has(figure)) known.set(figure, new Set(marksOf(figure).flatMap(parts)));
                return known.get(figure);
            };
            return hovered.filter((node) => {
                if (node.closest("button")) return !keys.includes(node.title);
                if (node.closest(".item")) return false; // a sample, which opens by Enter and by tap
                const figure = node.closest("[data-marks]");
                return !figure || !parts(node).every((part) => saidIn(figure).has(part));
            }).map((node) => node.outerHTML);
        """)
        assert hidden == []
        figures = "document.querySelectorAll('.rows, .histogram svg').length"
        stops = "document.querySelectorAll('#results [tabindex=\"0\"]').length"
        assert browser.execute_script(f"return {figures} - {stops}") == 0  # one stop of the tab key for each
        words = "return document.getElementById('told').hidden ? null : document.querySelector('#told p').textContent"
        assert browser.execute_script(words) is None
        browser.execute_script("document.querySelector('.rows [data-told]').focus()")
        assert browser.execute_script(words).startswith("vllm/laboratory/tuned-model-25-chat: 0.833; 95 % interval")
        focused = browser.switch_to.active_element
        focused.send_keys("\ue015")  # the key for down
        assert "(arXiv:2605.13450, Table 3)" in browser.execute_script(words)  # a model of the paper, on the same scale
        browser.switch_to.active_element.send_keys("\ue010")  # the key for the end
        assert browser.execute_script(
            "return marksOf(document.querySelector('.rows')).at(-1) === document.activeElement"
        )
        browser.switch_to.active_element.send_keys("\ue00c")
        assert browser.execute_script(words) is None
        click(browser, browser.find_elements("css selector", ".rows .interval")[3])
        third = browser.execute_script(words)
        assert third.startswith("vllm/laboratory/tuned-model-21-chat: 0.667")
        click(browser, browser.find_element("css selector", "#told [aria-label='Next mark']"))
        assert browser.execute_script(words) not in (None, third)
        box = browser.execute_script("return document.getElementById('told').getBoundingClientRect().toJSON()")
        assert box["left"] >= 0 and box["right"] <= 390 and box["bottom"] <= 845
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        click(browser, browser.find_element("css selector", "#told [aria-label='Close']"))
        assert browser.execute_script(words) is None
        shown = browser.execute_script("return document.querySelector('.item').title").splitlines()
        press(browser, "j")
        sample = " ".join(until(browser, "document.querySelector('.sample')?.textContent").split())
        assert [line.partition(": ")[0] for line in shown[2:6]] == ["input", "right answer", "answer as read", "output"]
        for line in (*shown[:1], *shown[2:6]):
            assert all(part in sample for part in line.split(": ", 1)[line in shown[2:6] :]), line
        assert shown[1] in sample


def test_the_right_answer_of_a_persons_run_is_behind_a_click(browser: Any, page: Path, tmp_path: Path) -> None:
    shutil.copytree(page.parent / "m00", tmp_path / "played")
    for name in ("run.json", "results.json"):
        file = tmp_path / "played" / name
        file.write_text(file.read_text().replace("vllm/laboratory/tuned-model-00-chat", "person/ada"))
    (tmp_path / "page.html").write_text(page_text(page_data(open_runs([tmp_path / "played"]), Baselines())), "utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    assert "read pin" in until(browser, "document.querySelector('.item .answers')?.textContent")
    assert "right" not in browser.execute_script("return document.querySelector('#list').textContent")
    press(browser, "j")
    fold = "[...document.querySelectorAll('.sample summary')].find((each) => /right answer/.test(each.textContent))"
    until(browser, fold)
    assert not browser.execute_script("return document.querySelector('.sample .right')")
    browser.execute_script(f"{fold}.click()")
    assert until(browser, "document.querySelector('.sample .right')?.textContent") == "pin"


def choose(browser: Any, select: str, value: str) -> None:
    browser.execute_script(
        "const node = document.getElementById(arguments[0]); node.value = arguments[1];"
        "node.dispatchEvent(new Event('change'));", select, value,
    )  # fmt: skip


def click(browser: Any, node: Any) -> None:
    """Click a node at once, wherever the page is being scrolled."""
    browser.execute_script("arguments[0].click()", node)


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        browser.find_element("css selector", "body").send_keys(key)
