"""Shipped tasks that send temperature and top_p, on models that take only one of them."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, HttpError

import creval
from creval.engine.run_options import RunOptions
from creval.models.answers.flags import DEFAULT_LEFT_OUT
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex


def refuse(request: Any) -> HttpError | None:
    if "temperature" in request.body and "top_p" in request.body:
        return HttpError(400, {"message": "`temperature` and `top_p` cannot both be specified for this model."})
    return None


TASKS = {
    "dat": "dat",
    "cdat": "cdat",
    "neocoder_state0": "neocoder_own_state0",
    "macgyver": "macgyver_own",
    "bookmia": "bookmia_own",
    "hypogen": "hypogen_own",
}
"""Tasks that send both settings, as their papers state them, and those of the same settings over data of ours."""
RESOURCES = {"embedding": "embedded/minilm", "entailment": "cosine/0.85"}


@functools.cache
def shipped() -> TaskIndex:
    """The tasks of all plugins, looked through once."""
    return TaskIndex(load_plugins())


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("model", ["claude-opus-4-1", "anthropic/claude-sonnet-4.5"])
def test_tasks_that_send_both_run_on_models_that_take_one(
    name: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = shipped()
    task, played = index.load(name), index.load(TASKS[name])
    both = ("temperature", "top_p")
    sets = [{**task.generation, **each.settings} for each in task.conditions]
    assert sets == [{**played.generation, **each.settings} for each in played.conditions]
    kept = [{each: one[each] for each in both if one[each] != 1} or {"temperature": 1} for one in sets]
    assert all(len(each) == 1 for each in kept)
    resources = {each: spec for each, spec in RESOURCES.items() if each in played.resources}
    with ChatServer(refuse, answer="word") as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        roles = {role: f"hosted_vllm/{role}" for role in played.roles}
        given = RunOptions(base_url=server.url, limit=1, resources=resources, roles=roles, max_retries=0)
        given = replace(given, allow_code_execution=True, output=tmp_path / "run", cache_folder=tmp_path / "cache")
        done = creval.run([TASKS[name]], f"chat/{model}", given)
    (result,) = done.results["tasks"]
    assert result["flags"][DEFAULT_LEFT_OUT] >= 1 and result["counts"]["errored"] == 0
    sent = [request.body for request in server.requests if request.body["model"] == model]
    assert sent and all({each: body[each] for each in both if each in body} in kept for body in sent)
