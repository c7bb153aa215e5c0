"""A setting that the model refuses ends a run after one call; what is left out is reported in the results."""

from __future__ import annotations

from typing import Any

import pytest
from support.chat_server import ChatServer, HttpError

import creval
from creval.errors import CrevalError
from creval.models.answers.flags import DEFAULT_LEFT_OUT

BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


def refuse(request: Any) -> HttpError | None:
    if "temperature" in request.body and "top_p" in request.body:
        return HttpError(400, {"message": BOTH, "type": "invalid_request_error"})
    return None


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_run_makes_one_call_and_says_one_thing(make_task: Any, options: Any, concurrency: int) -> None:
    task = make_task(docs=30)
    given = {"temperature": 0.7, "top_p": 0.9}
    with ChatServer(refuse, answer="word", latency=0.02) as server:
        with pytest.raises(CrevalError) as caught:
            creval.run([task], "chat/m", options(base_url=server.url, generation=given, concurrency=concurrency))
        assert len(server.requests) == 1
    assert str(caught.value).count("--generation top_p=null") == 1


def test_the_results_of_a_run_say_what_was_left_out(make_task: Any, options: Any) -> None:
    task = make_task(docs=4)
    given = {"temperature": 0.7, "top_p": 1}
    with ChatServer(refuse, answer="word") as server:
        done = creval.run([task], "chat/claude-sonnet-4-5", options(base_url=server.url, generation=given))
    assert done.results["tasks"][0]["flags"] == {DEFAULT_LEFT_OUT: 4}
