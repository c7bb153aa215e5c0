"""A component that raised is not tried again before its code changes; a failed call is."""

from __future__ import annotations

import logging
import sys
from textwrap import dedent

import pytest
from support.chat_server import Answer, ChatServer, HttpError
from support.run_fixtures import parrot

import creval
from creval.engine.run import rescore, resume
from creval.plugins.component_code import code_of
from creval.plugins.distributions import installed_version
from creval.runs.jsonl import read_lines

MODEL = "hosted_vllm/parrot"
PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("scorer", "flaky", "creval_flaky_parts:Scorer", produces=("flaky",))
        registry.add("parser", "flaky", "creval_flaky_parts:Parser")
        registry.add("protocol", "flaky", "creval_flaky_parts:Protocol")
"""
PARTS = """
    from creval.types.components import Parsed, Score

    ERROR = {error}
    CALLED = []

    def called(result):
        CALLED.append(result)
        if ERROR is not None:
            raise ERROR
        return result

    class Scorer:
        def score(self, items, context): return called([Score({{"flaky": 1.0}}) for _ in items])

    class Parser:
        def parse(self, text): return called(Parsed(text))

    class Protocol:
        async def run(self, session):
            called("")
            session.answer("word0")
"""
PLACES = {
    "scorer": (("score: exact_match", "score: flaky"), ("from: exact_match", "from: flaky")),
    "parser": (("score:", "parse: flaky\nscore:"),),
    "protocol": (("score:", "protocol: flaky\nscore:"),),
}


@pytest.fixture
def begin(install, make_task, server, options, tmp_path):
    """Run a task of two docs with a component that raises; returns the run folder."""

    def go(kind: str, error: str):
        install("flaky", PLUGIN, PARTS.format(error=error))
        task = make_task(docs=2)
        text = (tmp_path / "parrot.yaml").read_text("utf-8")
        for old, new in PLACES[kind]:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "parrot.yaml").write_text(text, "utf-8")
        return creval.run([task], MODEL, options(base_url=server.url)).folder

    return go


def calls() -> int:
    return len(sys.modules["creval_flaky_parts"].CALLED)


def statuses(folder) -> list[str]:
    return [record["status"] for record in read_lines(folder / "scores/parrot.jsonl")]


@pytest.mark.parametrize("kind", PLACES)
def test_what_raised_is_tried_again_once_its_code_has_changed(begin, tmp_path, monkeypatch, caplog, kind):
    folder = begin(kind, 'KeyError("gone")')
    (fault,) = {str(record["faults"]) for record in read_lines(folder / "scores/parrot.jsonl")}
    assert f"{kind} flaky" in fault and "creval_flaky_parts" in fault and " sha256:" in fault
    before = calls()
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="creval"):
        resume(folder)
    assert calls() == before
    assert statuses(folder) == ["errored"] * 2
    (reported,) = [record.getMessage() for record in caplog.records if "stay errored" in record.getMessage()]
    assert f"the {kind} flaky raised on them" in reported and "\n" not in reported
    assert (f"creval score {folder}" in reported) == (kind != "protocol")
    (tmp_path / "site/creval_flaky_parts.py").write_text(dedent(PARTS.format(error="None")), "utf-8")
    monkeypatch.delitem(sys.modules, "creval_flaky_parts")
    resume(folder)
    assert statuses(folder) == ["scored"] * 2


def test_scoring_again_tries_anyway(begin):
    folder = begin("scorer", 'KeyError("gone")')
    before = calls()
    rescore(folder)
    assert calls() > before


@pytest.mark.parametrize("error", ['OSError("no route to host")', "MemoryError()"])
def test_a_fault_of_the_machine_is_tried_again(begin, error):
    folder = begin("scorer", error)
    assert not any("faults" in record for record in read_lines(folder / "scores/parrot.jsonl"))
    before = calls()
    resume(folder)
    assert calls() > before


def test_a_failed_call_is_tried_again(make_task, options):
    failing = [True]

    def script(request) -> Answer | HttpError | None:
        return HttpError(400, {"message": "not today"}) if failing and "word1" in str(request.body) else None

    with ChatServer(script, answer=parrot) as server:
        folder = creval.run([make_task(docs=4)], MODEL, options(base_url=server.url)).folder
        assert sorted(statuses(folder)) == ["errored", "scored", "scored", "scored"]
        failing.clear()
        resume(folder)
    assert statuses(folder) == ["scored"] * 4


def test_the_code_names_the_distribution(monkeypatch):
    import creval.scoring.matching

    assert code_of("creval.scoring.matching").startswith(f"creval {installed_version('creval')} sha256:")
    assert code_of("no_such_module") == ""
    file = creval.scoring.matching.__file__
    monkeypatch.setattr(creval.scoring.matching, "__file__", file + ".gone")
    assert code_of("creval.scoring.matching") == ""
