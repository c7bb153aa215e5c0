"""The page of runs: what is in it, what must not, and how it works in a real browser."""

from __future__ import annotations

import base64
import csv
import gzip
import json
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.browser import screen, until
from support.chat_server import Answer, ChatServer

from creval import RunOptions, run
from creval.cli.main import invoke
from creval.errors import PluginError, RunError
from creval.report.baselines import Baselines
from creval.runs.reader import open_runs
from creval_page.write_page import differences, page_data, page_text, printed_numbers, same_model, write_page

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = "</script><script>alert(1)</script><!-- <b>\u2028"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Floor and ceiling of rat over all docs."""
    folder = tmp_path_factory.mktemp("page")
    options = {which: RunOptions(output=folder / which, offline=True) for which in ("floor", "ceiling")}
    return [run(["rat"], f"baseline/{which}", options[which]).folder for which in ("floor", "ceiling")]


class Parts(HTMLParser):
    """Every element with its attributes, and the text of each."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = dict(attrs).get("id") or tag

    def handle_data(self, data: str) -> None:
        self.texts[self._open] = self.texts.get(self._open, "") + data


def pieces(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [reported for piece in data["pieces"] for reported in json.loads(gzip.decompress(base64.b64decode(piece)))]


def test_the_page_holds_all_and_names_no_other_place(runs: list[Path], tmp_path: Path) -> None:
    page = write_page(runs, tmp_path / "page.html").read_text(encoding="utf-8")
    parts = Parts(page)
    for tag, attributes in parts.tags:
        for name in ("src", "href", "action", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
    assert "@import" not in page and "url(" not in page and "fetch(" not in page
    data = json.loads(parts.texts["data"])
    assert [one["model"] for one in data["runs"]] == ["baseline/floor", "baseline/ceiling"]
    (row,) = [r for r in data["metrics"] if r["metric"] == "rat" and r["run"] == 1]
    assert (row["value"], row["floor"], row["ceiling"], row["counts"]["scored"]) == (1.0, 0.0, 1.0, 30)
    assert data["samples"]["total"] == len(data["samples"]["rows"]) == len(pieces(data)) == 60
    reported = pieces(data)[0]
    assert reported["turns"][0]["text"].startswith("What single word") and reported["doc_fields"]["stems"]


def test_published_numbers_are_in_the_table_and_say_where_they_differ(runs: list[Path], tmp_path: Path) -> None:
    data = page_data(open_runs(runs), Baselines())
    row = next(r for r in data["metrics"] if r["metric"] == "rat")
    assert row["published_equal"] == ["wording", "data", "settings"] and row["published_remarks"] == []
    assert row["differs"] == [] and ["gpt-5-mini", 0.97, None, "arXiv:2605.13450, Table 3"] in row["published"]
    few = run(["rat"], "baseline/ceiling", RunOptions(output=tmp_path / "few", limit=3, repeats=2, offline=True)).folder
    row = next(r for r in page_data(open_runs([few]), Baselines())["metrics"] if r["metric"] == "rat")
    assert row["differs"] == ["3 of 30 docs", "2 tries a doc instead of 1"]
    task = {"docs": 30, "dataset_docs": 30, "repeats": 1, "generation_overrides": {"max_tokens": 5}}
    assert differences(task, {"name": "drat[embedded/minilm]"}) == [
        "made with embedded/minilm",
        "other generation settings: max_tokens",
    ]


def test_the_published_table_is_the_one_that_validity_ships() -> None:
    table = ROOT / "plugins/validity/creval_validity/data/tests.csv"
    with table.open(encoding="utf-8", newline="") as file:
        known = {
            (name, row["model"]): float(row[name]) / (100 if name == "rat" else 1)
            for row in csv.DictReader(file)
            for name in ("dat", "cdat_n", "drat", "pace", "rat")
            if row[name]
        }
    ours = [each for each in printed_numbers("association") if ", Table 3" in each.source]
    assert {(each.metric, each.model): each.value for each in ours} == pytest.approx(known)


@pytest.mark.parametrize(
    ("ours", "printed", "same"),
    [
        ("openai/gpt-5.4-mini", "gpt-5-4-mini", True),
        ("openrouter/qwen/qwen3-8b:free", "qwen3-8b", True),
        ("openai/gpt-5", "gpt-5-4", False),
        ("baseline/floor", "gpt-5", False),
    ],
)
def test_models_are_the_same_by_their_own_name(ours: str, printed: str, same: bool) -> None:
    assert same_model(ours, printed) is same


@pytest.mark.parametrize("end", ["none,paper,wording", "1,paper,", "1,paper,wording colour", "1,paper"])
def test_a_damaged_table_of_a_plugin_is_reported_with_its_line(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "published.csv").write_text(f"task,metric,model,value,source,equal\nrat,rat,m,{end}\n")
    plugins = type("Loaded", (), {"task_folders": (("mine", tmp_path),)})()
    monkeypatch.setattr("creval_page.write_page.load_plugins", lambda: plugins)
    with pytest.raises(PluginError, match=r"published\.csv:2"):
        printed_numbers("mine")


def test_hostile_texts_stay_texts(runs: list[Path], tmp_path: Path) -> None:
    data = page_data(open_runs(runs), Baselines())
    data["runs"][0]["name"] = data["tasks"][0]["title"] = HOSTILE
    data["tasks"][0]["task"] = HOSTILE
    parts = Parts(page_text(data))
    assert [tag for tag, _ in parts.tags].count("script") == 2
    assert json.loads(parts.texts["data"])["tasks"][0]["title"] == HOSTILE


def test_of_many_samples_the_same_docs_of_each_run_stay(runs: list[Path]) -> None:
    data = page_data(open_runs(runs), Baselines(), most=20)
    rows = data["samples"]["rows"]
    assert data["samples"]["total"] == 60 and len(rows) == len(pieces(data)) == 20
    docs = [{row[3] for row in rows if row[0] == number} for number in (0, 1)]
    assert docs[0] == docs[1] and len(docs[0]) == 10
    rat = next(each for each in data["distributions"] if each["score"] == "rat")
    assert rat["values"] == [0.0, 1.0] and rat["counts"] == {0: [30, 0], 1: [0, 30]}


def test_an_unfinished_run_has_no_page(runs: list[Path], tmp_path: Path) -> None:
    shutil.copytree(runs[0], tmp_path / "cut")
    manifest = tmp_path / "cut" / "run.json"
    manifest.write_text(manifest.read_text().replace('"status": "done"', '"status": "interrupted"'))
    with pytest.raises(RunError, match="did not finish"):
        write_page([tmp_path / "cut"], tmp_path / "page.html")


def test_texts_kept_by_reference_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "a licensed sentence that is on no page"
    (tmp_path / "words.jsonl").write_text(json.dumps({"id": "a", "word": secret, "target": "x"}) + "\n")
    (tmp_path / "kept.yaml").write_text(
        "schema: 1\ntask: kept\nversion: 1.0.0\ntitle: Kept\nstore: reference\nprotocol: chat\n"
        "dataset: {source: file, file: words.jsonl, id: id}\nprompt: [{role: user, content: 'Say {{ word }}.'}]\n"
        "parse: [text]\nscore: exact_match\n"
        "metrics: [{name: m, from: exact_match, aggregate: mean, failed: zero, primary: true}]\n"
    )
    with ChatServer(answer="You said it.") as server:
        options = RunOptions(output=tmp_path / "run", base_url=server.url)
        done = run([str(tmp_path / "kept.yaml")], "m/x", options)
    data = page_data(open_runs([done.folder], as_stored=True), Baselines())
    reported = pieces(data)[0]
    assert reported["by_reference"] and "text" not in reported["turns"][0] and reported["turns"][0]["characters"]
    page = write_page([done.folder], tmp_path / "page.html").read_text(encoding="utf-8")
    assert secret not in page and secret not in json.dumps(pieces(data))
    capsys.readouterr()
    assert invoke(["sample", str(done.folder), "a"]) == 0
    shown = capsys.readouterr().out
    assert secret not in shown and "by reference" in shown
    assert not (done.folder / "tasks" / "words.jsonl").exists()


# --- in a browser -------------------------------------------------------------------------------------


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    chromium.get("about:blank")
    for log in ("browser", "performance"):
        chromium.get_log(log)  # what other tests left
    yield chromium
    chromium.get("about:blank")


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver.common.by import By

    for key in keys:
        browser.find_element(By.TAG_NAME, "body").send_keys(key)


@pytest.mark.browser
def test_the_page_is_read_by_keyboard_search_and_side_by_side(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    page = write_page(runs, tmp_path / "page.html")
    browser.get(page.as_uri())
    assert until(browser, "document.querySelectorAll('.item').length") < 60
    assert browser.execute_script("return document.querySelectorAll('.metric .track').length") >= 4
    press(browser, "j")
    assert "cottage" in until(browser, "document.querySelector('.sample .turn pre')?.textContent")
    assert len(browser.execute_script("return [...document.querySelectorAll('.columns > div')].map(() => 1)")) == 2
    press(browser, "s")
    until(browser, "document.querySelectorAll('.columns > div').length === 1")
    press(browser, "j", "j")
    until(browser, "document.querySelector('[aria-selected=true]').getAttribute('aria-posinset') === '3'")
    press(browser, "/")
    assert browser.execute_script("return document.activeElement.id") == "query"
    browser.switch_to.active_element.send_keys("swiss")  # in the prompt alone, which the list does not show
    until(browser, "document.getElementById('count').textContent === '2 samples'")
    browser.execute_script(
        "const run = document.getElementById('by-run'); run.value = '1'; run.dispatchEvent(new Event('change'))"
    )
    until(browser, "document.getElementById('count').textContent === '1 sample'")
    press(browser, "\ue00c")
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    assert all(url.startswith(("file:", "data:", "blob:", "chrome:")) for url in asked), asked


@pytest.mark.browser
def test_a_swept_setting_and_numbered_tasks_are_curves_with_intervals(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "words.jsonl").write_text("".join(f'{{"id": "w{i}", "target": "w{i % 3}"}}\n' for i in range(6)))
    tasks = []
    for state in range(3):
        text = f"""\
            schema: 1
            task: steps_state{state}
            version: 1.0.0
            title: State {state}
            dataset: {{source: file, file: words.jsonl, id: id}}
            prompt: [{{role: user, content: Say it}}]
            conditions: {{temperature: [0, 0.7, 1.5]}}
            score: exact_match
            metrics: [{{name: right, from: exact_match, aggregate: mean, failed: zero, binary: true, range: [0, 1]}}]
        """
        (tmp_path / f"{state}.yaml").write_text(text.replace("\n            ", "\n").lstrip())
        tasks.append(str(tmp_path / f"{state}.yaml"))
    made = []
    for model in ("one", "two"):
        with ChatServer(lambda request: Answer("w1")) as server:
            options = RunOptions(output=tmp_path / model, base_url=server.url)
            made.append(run(tasks, f"hosted_vllm/{model}", options).folder)
    browser.get(write_page(made, tmp_path / "page.html").as_uri())
    labels = "[...document.querySelectorAll('.curve svg')].map((each) => each.getAttribute('aria-label'))"
    assert until(browser, labels) == ["right over state", *["right over temperature"] * 3]
    for part, number in (("circle", 24), ("line.span", 24), ("path.line", 8)):  # 4 curves, 2 runs, 3 places
        assert browser.execute_script(f"return document.querySelectorAll('.curve {part}').length") == number
    shown = browser.execute_script("return document.querySelector('.curve circle title').textContent")
    assert shown.startswith("hosted_vllm/one, state 0: 0.333; 95 % interval ")
    assert "steps by state" in browser.execute_script("return document.getElementById('results').textContent")
    colours = "[...document.querySelectorAll('.curve circle')].map((each) => getComputedStyle(each).fill)"
    assert len(set(browser.execute_script(f"return {colours}"))) == 2
    leveled = """
        const rows = data.metrics.filter((row) => row.task === "steps_state0" && row.condition !== null);
        const found = conditionCurves(rows.map((row, place) => ({ ...row, condition: `level=${place % 3}` })));
        const ticks = [...found.nodes[0].querySelectorAll("text")].map((each) => each.textContent);
        return [found.label, found.nodes[0].querySelectorAll("line.span").length, ticks.slice(-4)];
    """
    assert browser.execute_script(leveled) == ["level", 6, ["0", "1", "2", "level"]]
    orders = "[...document.getElementById('order').options].map((each) => each.textContent)"
    assert not [words for words in browser.execute_script(f"return {orders}") if "exact_match" in words]
    browser.execute_script(
        "const task = document.getElementById('by-task'); task.value = 'steps_state1';"
        "task.dispatchEvent(new Event('change'))"
    )
    assert "exact_match, lowest first" in browser.execute_script(f"return {orders}")
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_nothing_runs_over_the_edge(browser: Any, runs: list[Path], tmp_path: Path, width: int) -> None:
    page = write_page(runs, tmp_path / "page.html")
    with screen(browser, width):
        browser.get(page.as_uri())
        until(browser, "document.querySelectorAll('.item').length")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        press(browser, "j")
        until(browser, "document.querySelector('.sample')")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        hidden = browser.execute_script("return getComputedStyle(document.getElementById('list-pane')).display")
        assert hidden == ("none" if width < 800 else "flex")


@pytest.mark.browser
def test_ten_thousand_samples_draw_few_nodes(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    data = page_data(open_runs(runs), Baselines())
    reported = pieces(data)
    rows, kept = [], []
    for number in range(10_000):
        rows.append(
            [*data["samples"]["rows"][number % 60][:1], f"doc{number}", *data["samples"]["rows"][number % 60][2:]]
        )
        kept.append({**reported[number % 60], "key": f"doc{number}"})
    packs = [kept[start : start + 50] for start in range(0, len(kept), 50)]
    data["pieces"] = [base64.b64encode(gzip.compress(json.dumps(pack).encode())).decode() for pack in packs]
    data["samples"] |= {"rows": rows, "total": 53_120}
    page = tmp_path / "many.html"
    page.write_text(page_text(data), encoding="utf-8")
    browser.get(page.as_uri())
    until(browser, "document.querySelectorAll('.item').length")
    assert "10,000 of 53,120" in browser.execute_script("return document.getElementById('samples-note').textContent")
    browser.execute_script("document.getElementById('list').scrollTop = 9990 * 92")
    until(browser, "[...document.querySelectorAll('.key')].some((node) => node.textContent === 'doc9995')")
    assert browser.execute_script("return document.querySelectorAll('.item').length") < 60
    browser.execute_script(
        "const query = document.getElementById('query'); query.value = 'swiss'; query.dispatchEvent(new Event('input'))"
    )
    until(browser, r"/^33[34] samples$/.test(document.getElementById('count').textContent)")
