"""`create-trace` with a scripted extractor: counts, raw and distinct, and what it cannot read."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from create_support import judge_of
from support.chat_server import Answer, ChatServer, Received
from support.commands import creval

from creval.plugin import DataError
from creval_create.analysis.commands.trace import CreateTrace

NAMED = {"relation": ["worked at", "Worked  at", "spouse"], "entities": ["joe", "ann", "JOE", "rome", ""]}
LINKED = {
    "triples": [["joe", "spouse", "ann"], ["Joe", "spouse", "Ann"], ["ann", "born in"], ["ann", "born in", "rome"]]
}


@pytest.fixture(scope="module")
def thinking(tmp_path_factory: pytest.TempPathFactory, minilm: Any) -> Path:
    """Runs of a model that shows its reasoning next to the answer, of one with think tags, and of one with neither."""
    folder = tmp_path_factory.mktemp("thinking")

    def script(request: Received) -> Answer | None:
        if "\nPath: [" in request.prompt:
            return None
        shown = {"beside": Answer("{}", reasoning="joe met ann"), "inside": Answer("<think>joe met ann</think>{}")}
        return shown.get(request.body["model"], Answer("{}"))

    with ChatServer(script, answer=judge_of) as server:
        for name in ("beside", "inside", "silent"):
            done = creval(
                folder, "--tasks", "create", "--model", f"hosted_vllm/{name}", "--limit", "2", "--output", name,
                "--role", "judge=hosted_vllm/judge", HOSTED_VLLM_API_BASE=server.url,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
    return folder


def analyse(thinking: Path, names: tuple[str, ...], answer: Any) -> tuple[list[dict[str, Any]], list[str]]:
    with ChatServer(answer=answer) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        runs = [str(thinking / name) for name in names]
        output = CreateTrace().run(runs, role=("extractor=hosted_vllm/small",))
        prompts = [request.prompt for request in server.requests]
    return [dict(zip(output.columns, row, strict=True)) for row in output.rows], prompts


def test_counts_are_raw_and_distinct(thinking: Path) -> None:
    def answer(request: Received) -> str:
        return json.dumps(LINKED if '"triples"' in request.prompt else NAMED)

    found, prompts = analyse(thinking, ("beside", "inside"), answer)
    assert [row["model"] for row in found] == ["hosted_vllm/beside", "hosted_vllm/inside"]
    for row in found:
        assert (row["traces"], row["unread"]) == (2, 0)
        assert [row[name] for name in ("relations", "entities", "triples")] == [3, 4, 3]
        assert [row[f"distinct {name}"] for name in ("relations", "entities", "triples")] == [2, 3, 2]
    assert all(prompt.endswith("joe met ann") for prompt in prompts)


def test_an_unreadable_extraction_is_asked_once_more_and_then_counted(thinking: Path) -> None:
    found, prompts = analyse(thinking, ("beside",), lambda request: "They talk about Joe.")
    (row,) = found
    assert (row["traces"], row["unread"], row["relations"]) == (0, 2, None)
    assert len(prompts) >= 4


def test_without_reasoning_there_is_nothing_to_extract(thinking: Path) -> None:
    with pytest.raises(DataError, match="no sample of the runs shows its reasoning"):
        CreateTrace().run([str(thinking / "silent")])


def test_the_prompt_is_the_printed_one(paper: str) -> None:
    sent = files("creval_create.analysis").joinpath("prompts", "entities.txt").read_text(encoding="utf-8")
    printed = paper[paper.index("You are given a search reasoning trace") : paper.index("{ trace }")]

    def plain(text: str) -> str:
        return re.sub(r"[\s`={}]+", "", text)

    assert plain(sent) == plain(printed)
