"""Who answers behind a router: a warning where none is pinned, and who it was in results, report and page."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.chat_server import Answer, ChatServer, Received
from support.commands import write_spelling

from creval.api import RunOptions, RunResult, run
from creval.cli.main import invoke
from creval.engine.planning.check_plans import pinned_providers, provider_advice
from creval.report.baselines import Baselines
from creval.report.result_tables import served_words
from creval.runs.reader import open_runs
from creval_page.write_page import page_data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_spelling(tmp_path, {f"word{i}": "ok" for i in range(6)})
    return tmp_path


def routed(request: Received) -> Answer:
    return Answer("ok", extra={"provider": "Fireworks" if "word5" in request.prompt else "DeepInfra"})


def test_who_answered_is_in_results_report_and_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(routed) as server:
        done = run([str(folder / "spelling.yaml")], "m/x", RunOptions(base_url=server.url, output=folder / "run"))
    assert done.results["tasks"][0]["served_by"] == {"DeepInfra": 5, "Fireworks": 1}
    assert served_words(done) == "DeepInfra 5, Fireworks 1 (of 6 calls)"
    assert invoke(["report", str(folder / "run")]) == 0
    assert "m/x was served by DeepInfra 5, Fireworks 1" in capsys.readouterr().out
    (shown,) = page_data(open_runs([folder / "run"]), Baselines())["runs"]
    assert shown["served"] == {"DeepInfra": 5, "Fireworks": 1} and shown["unpinned"] is None


def test_a_model_that_answers_itself_names_nobody() -> None:
    results = {"model": "embedded/smollm2", "tasks": [{"served_by": {"embedded": 3}}, {}]}
    assert served_words(RunResult(Path(), results)) == ""


@pytest.mark.parametrize(
    ("generation", "pinned"),
    [
        ({}, []),
        ({"extra": {"provider": {"order": ["deepinfra"]}}}, []),  # others may still be fallen back on
        (
            {"extra": {"provider": {"order": ["deepinfra", "together"], "allow_fallbacks": False}}},
            ["deepinfra", "together"],
        ),
        ({"extra": {"provider": {"only": ["azure"]}}}, ["azure"]),
        ({"extra": {"provider": "azure"}}, []),
    ],
)
def test_a_provider_is_pinned_where_no_other_may_answer(generation: dict[str, object], pinned: list[str]) -> None:
    options = RunOptions(generation=generation)
    assert pinned_providers(options.generation) == pinned_providers(generation) == pinned
    said = provider_advice("openrouter/qwen/qwen3-8b", options)
    assert (said is None) is bool(pinned) and provider_advice("openai/gpt-5", options) is None


def test_an_unpinned_router_is_reported_before_the_first_call(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-none-of-yours-0123456789")
    with ChatServer(routed) as server, caplog.at_level(logging.WARNING, "creval"):
        options = RunOptions(base_url=server.url, output=folder / "run", limit=1)
        run([str(folder / "spelling.yaml")], "openrouter/a/b", options)
    assert "no provider is pinned" in caplog.text
    (shown,) = page_data(open_runs([folder / "run"]), Baselines())["runs"]
    assert "allow_fallbacks: false" in shown["unpinned"]
