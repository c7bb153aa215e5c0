"""The parts of the plugin, each through a run."""

from __future__ import annotations

from creval_wordchain.analysis import ChainLengths

import creval


def test_a_chain_ends_where_it_breaks(run_task, scripted_model):
    said = {"moon": ["nut", "tea", "apple", "egg"], "river": ["rain", "x"], "lamp": ["lamp"]}
    result = run_task("wordchain", scripted_model(said))
    assert result.metrics("wordchain")["links"]["value"] == (4 + 1 + 0) / 3


def test_a_judge_rates_it(run_task, scripted_judge):
    result = run_task("wordchain_rated", "baseline/ceiling", judge=scripted_judge("4"))
    assert result.metrics("wordchain_rated")["surprise"]["value"] == 4.0


def test_the_analysis_and_the_log_of_runs(run_task):
    result = run_task("wordchain", "baseline/ceiling", limit=2)
    assert ChainLengths().run([str(result.folder)]).rows == [("baseline/ceiling", 2, 4.0, 4)]
    assert (result.folder.parent / "wordchain.log").read_text().startswith(result.folder.name)
    assert creval.open_run(result.folder).model == "baseline/ceiling"
