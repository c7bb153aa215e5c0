"""In a notebook: progress in the cell, what results show of themselves, and what Tab offers, by a real kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.util import run_sync

import creval
from creval.engine.progress.progress_counts import in_notebook
from creval.engine.run_options import RunOptions

CELLS = (
    "import creval\nresult = creval.run(['rat'], 'baseline/floor', creval.RunOptions(limit=20, output='runs/floor'))",
    "result",
    "metrics = result['rat']\nmetrics",
    "result['rat']['rat']",
    "creval.open_run('runs/floor')",
    "best = creval.run(['rat'], 'baseline/ceiling', creval.RunOptions(limit=20, output='runs/best'), progress=False)",
    "creval.compare([result, best])",
    "creval.compare([result, best]).to_pandas().loc[0, 'verdict']",
    "%config IPCompleter.use_jedi = False",  # which reads the sources of all modules first
)


class Watched(NotebookClient):  # type: ignore[misc]
    """Keeps every message of the kernel: of an output that is written anew a notebook holds the last state alone."""

    seen: list[Any]

    def process_message(self, message: Any, *given: Any) -> Any:
        self.seen.append(message)
        return super().process_message(message, *given)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Watched, list[Any]]]:
    """An executed notebook whose kernel still runs, and the outputs of its cells."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "home").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "home"))
        node = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        client = Watched(node, timeout=240, resources={"metadata": {"path": str(folder)}})
        client.seen = []
        with client.setup_kernel():
            for number, cell in enumerate(node.cells):
                client.execute_cell(cell, number)
            yield client, [cell.outputs for cell in node.cells]


def shown(outputs: Any, kind: str = "text/plain") -> str:
    (output,) = outputs
    text = output["data"][kind]
    return text if isinstance(text, str) else "".join(text)


def test_a_run_shows_one_output_that_is_written_anew(notebook: Any) -> None:
    client, outputs = notebook
    assert shown(outputs[0]) == "done: 20 samples"
    assert shown(outputs[0], "text/html") == "<div>done: 20 samples</div>"
    kinds = [message["msg_type"] for message in client.seen if "display" in message["msg_type"]]
    assert kinds.count("display_data") == 1 and kinds.count("update_display_data") > 3
    updates = [m["content"]["data"] for m in client.seen if m["msg_type"] == "update_display_data"]
    assert any("generate: 20 of 20 done" in data["text/plain"] for data in updates)
    assert any('<progress max="20" value="0"></progress>' in data["text/html"] for data in updates)
    assert outputs[5] == [], "no progress where it is not wanted"


def test_results_show_themselves_shortly_and_as_tables(notebook: Any) -> None:
    _, outputs = notebook
    assert shown(outputs[1]) == "RunResult('runs/floor': baseline/floor, done, rat)"
    table = shown(outputs[1], "text/html")
    assert table.count("<tr>") == 3 and "baseline/floor, done (floor)" in table and "95 % interval" in table
    assert "rat_lenient" in table and ">condition<" not in table
    assert shown(outputs[2]).startswith("Metrics(rat: 0.")
    assert shown(outputs[2], "text/html").count("<tr>") == 3
    assert shown(outputs[3]).startswith("Metric(rat: 0.") and shown(outputs[3]).endswith(", n 20)")
    assert shown(outputs[4]) == "Run('runs/floor': baseline/floor, done, rat)"
    assert shown(outputs[4], "text/html") == table
    assert shown(outputs[6]) == "Compared(baseline/floor, baseline/ceiling; rat: better, rat_lenient: better)"
    assert "first: baseline/floor; second: baseline/ceiling" in shown(outputs[6], "text/html")
    assert shown(outputs[7]) == "'better'"


@run_sync
async def completions(client: Watched, typed: str) -> list[str]:
    """What the kernel offers where Tab is pressed."""
    reply = await client.kc.complete(typed, len(typed), reply=True, timeout=60)
    matches: list[str] = reply["content"]["matches"]
    return matches


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("result[", {"'rat'"}),
        ("metrics[", {"'rat'", "'rat_lenient'"}),
        ("creval.", {".compare", ".open_run", ".run", ".Run"}),
        ("best.", {".metrics", ".to_pandas", ".tasks"}),
    ],
)
def test_tab_offers_tasks_metrics_and_names(notebook: Any, typed: str, offered: set[str]) -> None:
    client, _ = notebook
    assert offered <= set(completions(client, typed))


def test_outside_a_notebook_nothing_is_shown_unless_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not in_notebook()
    options = RunOptions(limit=3, output="quiet")  # type: ignore[arg-type]
    creval.run(["rat"], "baseline/floor", options)
    assert capsys.readouterr().err == ""

    class Told:
        def on_finish(self, results: Any) -> None:
            reported.append(results["status"])

    reported: list[str] = []
    options = RunOptions(limit=3, output=Path("loud"))
    creval.run(["rat"], "baseline/floor", options, Told(), progress=True)  # type: ignore[arg-type]
    assert "generate: 3 of 3 done" in capsys.readouterr().err and reported == ["done"]


def test_metrics_are_plain_data_and_a_name_that_is_none_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = creval.run(["rat"], "baseline/ceiling", RunOptions(limit=3))
    metrics = result["rat"]
    assert metrics == result.metrics("association/rat") == creval.open_run(result.folder)["rat"]
    assert json.loads(json.dumps(metrics)) == metrics and isinstance(metrics["rat"], dict)
    with pytest.raises(creval.CrevalError, match="unknown metric 'rot'\nDid you mean 'rat'"):
        metrics["rot"]
    with pytest.raises(creval.CrevalError, match="unknown task 'rot'"):
        creval.open_run(result.folder)["rot"]
