"""Scorers: judges, faults, what they give; resources and the names of metrics; observers among the plugins."""

from __future__ import annotations

import importlib
import re

import pytest
from support.chat_server import ChatServer, HttpError, Received
from support.parrot import parrot

import creval
from creval.engine.run import rescore, resume
from creval.engine.run_options import Rescoring
from creval.errors import PluginError
from creval.runs.jsonl import read_lines

MODEL = "hosted_vllm/parrot"

PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        number = {"type": "object", "properties": {"number": {"type": "integer"}}, "additionalProperties": False}
        add = registry.add
        add("scorer", "judged", "creval_odd_parts:Judged", produces=("judged",), waits=True, roles=("judge",))
        asks = {"waits": True, "roles": ("judge",)}
        add("scorer", "spread", "creval_odd_parts:Spread", produces=("spread",), unit="doc", **asks)
        add("scorer", "undeclared", "creval_odd_parts:Undeclared", produces=("undeclared",), **asks)
        add("scorer", "hasty", "creval_odd_parts:Spread", produces=("hasty",), unit="doc")
        add("scorer", "near", "creval_odd_parts:Near", produces=("near",), uses=("embedding",))
        inner = {"type": "object", "properties": {"of": {"x-component": "scorer"}}, "additionalProperties": False}
        add("scorer", "shell", "creval_odd_parts:Shell", produces=("near",), parameters=inner)
        add("scorer", "plain", "creval_odd_parts:Plain", produces=("plain",))
        add("scorer", "odd", "creval_odd_parts:Odd", produces=("odd", "had"))
        add("embedding", "one", "creval_odd_parts:embedding")
        add("embedding", "two", "creval_odd_parts:embedding", equals=("twin=one/a",))
        add("provider", "loud", "creval_odd_parts:make")

    seen = []

    @hookimpl
    def creval_run_started(manifest, folder):
        seen.append(("started", manifest["command"], folder.name))

    @hookimpl
    def creval_sample_finished(score):
        seen.append(score.key.doc)
        if score.key.doc == "d3":
            raise RuntimeError("tracker is down")

    @hookimpl
    def creval_run_finished(results, folder):
        seen.append("finished")
"""
PARTS = """
    import asyncio
    import numpy as np
    from creval.models.provider_traits import ProviderTraits
    from creval.types.components import Score
    from creval.types.messages import Completion, Message, Reply

    class Judged:
        async def score(self, items, context):
            async def one(item):
                first = await context.ask("judge", [Message("user", f"Rate {item.value}")], item.key, max_tokens=1)
                again = await context.ask("judge", [Message("user", f"Rate {item.value}")], item.key, 1, max_tokens=1)
                return Score({"judged": float(len(first.text + again.text))})
            return await asyncio.gather(*map(one, items))

    class Spread:
        async def score(self, items, context):
            assert len({(item.key.doc, item.key.condition) for item in items}) == 1
            said = "; ".join(item.value for item in items)
            reply = await context.ask("judge", [Message("user", f"How many ideas? {said}")], items[0].key)
            return [Score({"spread": float(len(items))}, {"said": reply.text}) for _ in items]

    class Undeclared(Spread):
        whole_docs = True

    class Plain:
        def score(self, items, context):
            return [Score({"plain": 1.0}) for _ in items]

    class Near:
        def score(self, items, context):
            vectors = context.resource("embedding").embed([item.value for item in items])
            return [Score({"near": float(vector[0])}) for vector in vectors]

    class Shell(Near):
        def __init__(self, of): pass

    class Odd:
        def score(self, items, context):
            if any(item.doc["word"] == "word1" for item in items):
                raise KeyError("no such word")
            return [self.one(int(item.doc["word"][4:])) for item in items]

        def one(self, number):
            given = {2: Score({"odd": float("nan")}), 3: Score({"odd": 1.0}, details={"set": {1}})}
            given[4] = Score({"had": 6.0}, failure="fewer words than needed")
            given[5] = Score({}, failure="no vectors", errored=True)
            return given.get(number, Score({"odd": 1.0}))

    class Embedding:
        dimension = 2
        def __init__(self, name): self.name = name
        def has(self, text): return True
        def embed(self, texts): return np.ones((len(texts), 2), dtype=np.float32)

    def embedding(model, options):
        return Embedding(f"{model}@rev7")

    class Loud:
        traits = ProviderTraits(remote=False, cacheable=False, free=True)
        calls = []
        def __init__(self, model): self.model = model
        async def generate(self, request):
            Loud.calls.append((self.model, request.origin.key.doc, request.origin.role, request.origin.call))
            return Reply((Completion(self.model),))
        async def close(self): pass

    def make(model, options):
        return Loud(model)
"""


@pytest.fixture
def plugin(install):
    """The plugin of this module, installed; the module of its parts."""
    install("odd", PLUGIN, PARTS)
    return importlib.import_module("creval_odd_parts")


def with_scorer(make_task, tmp_path, scorer, extra="", docs=8):
    task = make_task(docs=docs, extra=extra)
    text = (tmp_path / "parrot.yaml").read_text("utf-8")
    text = text.replace("score: exact_match", f"score: {scorer}").replace("from: exact_match", f"from: {scorer}")
    (tmp_path / "parrot.yaml").write_text(text, "utf-8")
    return task


def test_a_judge_is_asked_for_each_sample_and_never_again_on_resume(make_task, server, options, tmp_path, plugin):
    task = with_scorer(make_task, tmp_path, "judged")
    result = creval.run([task], MODEL, options(base_url=server.url, roles={"judge": "loud/four"}))
    assert result.metrics("parrot")["right"]["value"] == 8
    assert sorted(plugin.Loud.calls) == [("four", f"d{i}", "judge", call) for i in range(8) for call in (0, 1)]
    assert result.results["tasks"][0]["instruments"] == {"judge": "loud/four"}
    path = result.folder / "scores" / "parrot.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
    plugin.Loud.calls.clear()
    assert resume(result.folder).results == result.results
    assert plugin.Loud.calls == []


def test_a_scorer_of_whole_docs_may_ask_a_judge(make_task, server, options, tmp_path, plugin):
    task = with_scorer(make_task, tmp_path, "spread", docs=5)
    given = options(base_url=server.url, roles={"judge": "loud/four"}, repeats=6, concurrency=4)
    result = creval.run([task], MODEL, given)
    assert [row["scores"] for row in read_lines(result.folder / "scores/parrot.jsonl")] == [{"spread": 6.0}] * 30
    assert sorted(doc for _, doc, _, _ in plugin.Loud.calls) == [f"d{number}" for number in range(5)]


def test_a_set_that_asks_a_judge_is_resumed_whole_and_pays_nothing_twice(make_task, server, options, tmp_path, plugin):
    task = with_scorer(make_task, tmp_path, "spread", docs=5)
    result = creval.run([task], MODEL, options(base_url=server.url, roles={"judge": "loud/four"}, repeats=6))
    path = result.folder / "scores" / "parrot.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:8]))  # killed within the second doc
    plugin.Loud.calls.clear()
    assert resume(result.folder).results == result.results
    assert [row["scores"] for row in read_lines(path)] == [{"spread": 6.0}] * 30
    assert plugin.Loud.calls == []
    assert len(list(read_lines(result.folder / "calls/judge.jsonl"))) == 5


def test_a_set_that_is_not_declared_is_refused(make_task, server, options, tmp_path, plugin):
    task = with_scorer(make_task, tmp_path, "undeclared")
    with pytest.raises(PluginError, match="scores whole docs, but is registered without unit='doc'"):
        creval.run([task], MODEL, options(base_url=server.url, roles={"judge": "loud/four"}, repeats=6))
    assert not server.requests


def test_a_scorer_that_waits_and_does_not_say_so_is_refused_before_the_first_call(
    make_task, server, options, tmp_path, plugin
):
    task = with_scorer(make_task, tmp_path, "hasty")
    with pytest.raises(PluginError, match="has `async def score`, but is registered without waits=True"):
        creval.run([task], MODEL, options(base_url=server.url))
    assert not server.requests


def test_the_task_s_own_judge_and_another_one(make_task, server, options, tmp_path, plugin):
    task = with_scorer(make_task, tmp_path, "judged", "roles: {judge: loud/own}\n")
    own = creval.run([task], MODEL, options(base_url=server.url))
    assert {call[0] for call in plugin.Loud.calls} == {"own"}
    assert list(own.metrics("parrot")) == ["right"]
    given = options(base_url=server.url, roles={"judge": "loud/other"}, output=tmp_path / "other")
    assert list(creval.run([task], MODEL, given).metrics("parrot")) == ["right[loud/other]"]


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("scorer", ["near", "{shell: {of: near}}"])
def test_a_metric_made_with_another_resource_carries_its_name(make_task, server, options, tmp_path, scorer):
    extra = "  - {name: simple, from: plain, aggregate: mean, failed: zero}\nresources: {embedding: one/a}\n"
    task = with_scorer(make_task, tmp_path, "near", extra)
    text = (tmp_path / "parrot.yaml").read_text("utf-8").replace("score: near", f"score: [{scorer}, plain]")
    (tmp_path / "parrot.yaml").write_text(text, "utf-8")
    own = creval.run([task], MODEL, options(base_url=server.url))
    assert list(own.metrics("parrot")) == ["right", "simple"]
    assert own.results["tasks"][0]["instruments"] == {"embedding": "a@rev7"}
    other = rescore(own.folder, Rescoring({"embedding": "two/b"}))
    assert [metric["name"] for metric in other.results["tasks"][0]["metrics"]] == ["right[two/b]", "simple"]
    assert other.results["tasks"][0]["instruments"] == {"embedding": "b@rev7"}
    twin = rescore(own.folder, Rescoring({"embedding": "two/twin"}))  # measured to equal one/a
    assert [metric["name"] for metric in twin.results["tasks"][0]["metrics"]] == ["right", "simple"]
    assert twin.results["tasks"][0]["instruments"] == {"embedding": "twin@rev7"}
    back = resume(own.folder)
    assert [metric["name"] for metric in back.results["tasks"][0]["metrics"]] == ["right", "simple"]


@pytest.mark.usefixtures("plugin")
def test_whatever_a_scorer_does_only_its_sample_suffers(make_task, server, options, tmp_path):
    task = with_scorer(make_task, tmp_path, "odd")
    result = creval.run([task], MODEL, options(base_url=server.url))
    records = list(read_lines(result.folder / "scores/parrot.jsonl"))
    found = {record["doc_id"]: (record["status"], record.get("reason", "")) for record in records}
    kept = {record["doc_id"]: record["scores"] for record in records}
    assert (kept["d1"], kept["d4"], kept["d5"]) == ({}, {"had": 6.0}, {})
    assert found["d1"][0] == "errored"
    where = r"\(creval_odd_parts\.py:\d+\)"
    assert re.fullmatch(rf"the scorer 'odd' failed: KeyError: 'no such word' {where}", found["d1"][1])
    assert found["d2"] == ("errored", "the score 'odd' is not a finite number (nan)")
    assert found["d3"][0] == "errored"
    assert "cannot be stored" in found["d3"][1]
    assert found["d4"] == ("unparsed", "fewer words than needed")
    assert found["d5"] == ("errored", "no vectors")
    assert {found[doc] for doc in ("d0", "d6", "d7")} == {("scored", "")}
    metric = result.metrics("parrot")["right"]
    assert (metric["n"], metric["n_failed"], metric["value"]) == (4, 1, 0.75)
    errors = result.results["tasks"][0]["first_errors"]
    assert [error["doc"] for error in errors] == ["d1", "d2", "d3", "d5"]
    assert {(error["condition"], error["repeat"]) for error in errors} == {("default", 0)}
    assert all(error["reason"] for error in errors)


@pytest.mark.usefixtures("plugin")
def test_a_judge_that_fails_makes_an_errored_sample_that_is_scored_again(make_task, options, tmp_path):
    down = {"word2"}

    def script(request: Received) -> HttpError | None:
        return HttpError(500) if request.prompt.startswith("Rate") and parrot(request) in down else None

    task = with_scorer(make_task, tmp_path, "judged")
    with ChatServer(script, answer=parrot) as server:
        roles = {"judge": "hosted_vllm/judge"}
        import os

        os.environ["HOSTED_VLLM_API_BASE"] = server.url
        try:
            first = creval.run([task], MODEL, options(base_url=server.url, roles=roles, max_retries=0))
            assert first.results["tasks"][0]["counts"]["errored"] == 1
            down.clear()
            before = len(server.requests)
            again = resume(first.folder)
            assert [request.prompt for request in server.requests[before:]] == ["Rate word2"] * 2
        finally:
            del os.environ["HOSTED_VLLM_API_BASE"]
    assert again.results["tasks"][0]["counts"]["scored"] == 8


def test_a_plugin_that_watches_and_fails_is_left_out_with_a_word(make_task, server, options, plugin, caplog):
    import sys

    creval.run([make_task()], MODEL, options(base_url=server.url, command="creval --tasks parrot"))
    seen = sys.modules["creval_odd_plugin"].seen
    assert seen[0] == ("started", "creval --tasks parrot", "run")
    assert seen[-1] == "d3"
    assert [record.message for record in caplog.records if "tracker is down" in record.message]


def test_rows_and_data_frames(make_task, server, options):
    result = creval.run([make_task(conditions="conditions: {top_p: [0.5, 1]}")], MODEL, options(base_url=server.url))
    rows = result.to_rows()
    assert [row["condition"] for row in rows] == [None, "top_p=0.5", "top_p=1"]
    assert {row["model"] for row in rows} == {MODEL}
    assert rows[0]["scored"] == 16
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["value"]) == [0.75, 0.75, 0.75]
