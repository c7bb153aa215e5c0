"""Faults of a plugin's own code: an errored sample that names file and line, never a traceback, never a silent exit."""

from __future__ import annotations

import logging
import re

import pytest

import creval
from creval.engine.run import rescore
from creval.errors import ScoringError
from creval.runs.jsonl import read_lines

MODEL = "hosted_vllm/parrot"
PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        kinds = {"type": "object", "properties": {"how": {"type": "string"}}}
        for kind in ("scorer", "parser", "aggregation", "baseline", "protocol"):
            more = {"parameters": kinds, "positional": "how"} | ({"produces": ("bad",)} if kind == "scorer" else {})
            registry.add(kind, "bad", f"creval_bad_parts:{kind.capitalize()}", **more)
"""
PARTS = """
    from creval.types.components import Parsed, Score

    def misbehave(how):
        if how == "exit":
            raise SystemExit(3)
        if how == "raise":
            raise KeyError("gone")
        return {"text": "words", "none": None, "number": 7, "score_of_text": [Score({"bad": "high"})]}[how]

    class Part:
        def __init__(self, how): self.how = how

    class Scorer(Part):
        def score(self, items, context): return misbehave(self.how)

    class Parser(Part):
        def parse(self, text): return misbehave(self.how)

    class Baseline(Part):
        def reply(self, turn): return misbehave(self.how)

    class Protocol(Part):
        async def run(self, session): misbehave(self.how)

    class Aggregation(Part):
        def value(self, clusters): return misbehave(self.how)
        def standard_error(self, clusters): return None
"""


@pytest.fixture
def run(install, make_task, server, options, tmp_path):
    """Run a task of two docs in which some words of its file are replaced."""
    install("bad", PLUGIN, PARTS)

    def go(*replaced: tuple[str, str], model: str = MODEL):
        task = make_task(docs=2)
        text = (tmp_path / "parrot.yaml").read_text("utf-8")
        for old, new in replaced:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "parrot.yaml").write_text(text, "utf-8")
        return creval.run([task], model, options(base_url=server.url if model == MODEL else None))

    return go


def reasons(result) -> list[str]:
    records = list(read_lines(result.folder / "scores/parrot.jsonl"))
    assert [record["status"] for record in records] == ["errored"] * 2
    return [record["reason"] for record in records]


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("exit", "SystemExit: 3"),
        ("raise", "KeyError: 'gone'"),
        ("text", "returned a str, not a list of scores"),
        ("none", "returned a NoneType, not a list of scores"),
        ("number", "returned a int, not a list of scores"),
        ("score_of_text", "returned 'bad' as a str, not a number"),
    ],
)
def test_a_scorer(run, how, what):
    for reason in reasons(run(("score: exact_match", f"score: {{bad: {how}}}"), ("from: exact_match", "from: bad"))):
        assert what in reason and re.search(r"\(creval_bad_parts\.py:\d+\)", reason)


@pytest.mark.parametrize(
    ("how", "what"), [("exit", "SystemExit: 3"), ("raise", "KeyError"), ("text", "returned a str")]
)
def test_a_parser(run, how, what):
    for reason in reasons(run(("score:", f"parse: {{bad: {how}}}\nscore:"))):
        assert what in reason and re.search(r"\(creval_bad_parts\.py:\d+\)", reason)


@pytest.mark.parametrize(
    ("how", "what"), [("exit", "SystemExit: 3"), ("raise", "KeyError"), ("number", "returned a int")]
)
def test_a_baseline(run, how, what):
    result = run(("score:", f"baselines: {{floor: {{bad: {how}}}}}\nscore:"), model="baseline/floor")
    for reason in reasons(result):
        assert what in reason and re.search(r"\(creval_bad_parts\.py:\d+\)", reason)


@pytest.mark.parametrize(("how", "what"), [("exit", "SystemExit: 3"), ("raise", "KeyError: 'gone'")])
def test_a_protocol(run, how, what):
    for reason in reasons(run(("score:", f"protocol: {{bad: {how}}}\nscore:"))):
        assert what in reason and re.search(r"\(creval_bad_parts\.py:\d+\)", reason)


@pytest.mark.parametrize("how", ["exit", "raise", "text"])
def test_an_aggregation_ends_in_one_message_and_the_samples_stay(run, tmp_path, how):
    with pytest.raises(ScoringError, match=r"the aggregation 'bad' failed|finite number"):
        run(("aggregate: mean", f"aggregate: {{bad: {how}}}"))
    assert len(list(read_lines(tmp_path / "run" / "scores" / "parrot.jsonl"))) == 2


def test_a_pattern_that_takes_too_long_is_the_tasks_fault(run, monkeypatch):
    monkeypatch.setattr("creval.parsing.pattern.TIME_LIMIT", 0.05)
    slow = "(.*a){20}$"
    result = run(("Say {{ word }}", f"Say {'a' * 3000}!"), ("score:", f"parse: {{regex: '{slow}'}}\nscore:"))
    assert all("took longer than 0.05 s" in reason for reason in reasons(result))


def test_the_traceback_of_a_fault_goes_to_the_log_that_debug_prints(run, caplog):
    with caplog.at_level(logging.DEBUG, logger="creval.parts"):
        run(("score: exact_match", "score: {bad: raise}"), ("from: exact_match", "from: bad"))
    kinds = {type(record.exc_info[1]) for record in caplog.records if record.name == "creval.parts"}
    assert kinds == {KeyError}


GREEDY = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("aggregation", "doubled", "creval_greedy_parts:Doubled")
"""
DOUBLED = """
    class Doubled:
        def value(self, clusters):
            for values in clusters:
                values *= 2
            return float(sum(map(sum, clusters)))

        def standard_error(self, clusters): return None
"""


def test_an_aggregation_that_writes_into_its_values_changes_no_other_metric(install, make_task, server, options):
    """The docs come in the order of their ids, so that no value would have to move."""
    install("greedy", GREEDY, DOUBLED)
    more = [
        "  - {name: twice, from: exact_match, aggregate: doubled, failed: zero, ci: none}",
        "  - {name: after, from: exact_match, aggregate: mean, failed: zero}",
    ]
    task = make_task(docs=8, extra="\n".join(more) + "\n")
    folder = creval.run([task], MODEL, options(base_url=server.url)).folder
    for _ in range(2):
        values = {each["name"]: each["value"] for each in creval.open_run(folder).result("parrot")["metrics"]}
        assert values == {"right": 0.75, "twice": 12, "after": 0.75}
        rescore(folder)
