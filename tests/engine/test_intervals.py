"""Intervals of a whole run: the unit that the task names, and why there is none."""

from __future__ import annotations

import pytest
from scipy import stats

import creval
from creval.errors import UsageError

MODEL = "hosted_vllm/parrot"


def of(task, server, options, **more):
    return creval.run([task], MODEL, options(base_url=server.url, **more))


def test_one_doc_is_a_task_s_unit_only_where_it_does_not_say_trial(make_task, server, options):
    metric = of(make_task(docs=1, repeats=12), server, options).metrics("parrot")["right"]
    assert (metric["cluster"], metric["clusters"], metric["n"]) == ("doc", 1, 12)
    assert (metric["standard_error"], metric["ci_low"]) == (None, None)
    assert metric["no_interval"] == "there is one doc only"


def test_trials_are_independent_where_the_task_says_so(make_task, options):
    """12 trials at one doc, every other one right: 6 of 12 by Clopper-Pearson."""
    from support.chat_server import ChatServer

    asked = []

    def every_other(request):
        asked.append(request)
        return "word0" if len(asked) % 2 else "wrong"

    task = make_task(docs=1, repeats=12, extra="cluster: trial\n")
    with ChatServer(answer=every_other) as server:
        result = of(task, server, options)
    metric = result.metrics("parrot")["right"]
    assert (metric["cluster"], metric["clusters"], metric["value"]) == ("trial", 12, 0.5)
    assert metric["standard_error"] == pytest.approx(0.5 / 11**0.5)
    interval = stats.binomtest(6, 12).proportion_ci(0.95, "exact")
    assert (metric["method"], metric["ci_low"]) == ("clopper_pearson", pytest.approx(interval.low))


def test_a_0_1_metric_has_an_interval_where_all_are_right(make_task, server, options):
    """The scorer `exact_match` declares what it gives; the task says nothing."""
    metric = of(make_task(docs=3), server, options).metrics("parrot")["right"]
    assert (metric["value"], metric["method"], metric["ci_high"]) == (1.0, "clopper_pearson", 1.0)
    assert metric["ci_low"] == pytest.approx(0.025 ** (1 / 3))


def test_a_task_may_state_another_range_than_its_scorer(make_task, server, options, tmp_path):
    task = make_task(docs=3)
    path = tmp_path / "parrot.yaml"
    path.write_text(path.read_text().replace("primary: true", "primary: true, range: [0, 1]"))
    metric = of(task, server, options).metrics("parrot")["right"]
    assert (metric["value"], metric["ci_low"], metric["method"]) == (1.0, None, "none")
    assert metric["no_interval"] == "nothing varies between the docs"


def test_pass_at_k_of_trials_is_refused_before_the_first_call(make_task, server, options, tmp_path):
    task = make_task(docs=4, repeats=3, extra="cluster: trial\n")
    path = tmp_path / "parrot.yaml"
    path.write_text(path.read_text().replace("aggregate: mean", "aggregate: {pass@k: 2}"))
    with pytest.raises(UsageError, match="the trials of the task are independent"):
        of(task, server, options)
    assert server.requests == []
