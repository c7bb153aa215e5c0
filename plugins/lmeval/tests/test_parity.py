"""The same tasks, model and server by lm-eval 0.4.13 and by creval: equal numbers, document by document."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.lmeval_data import TASKS
from support.lmeval_parity import Both, differences, run_both
from support.lmeval_server import GeneratingServer

lm_eval = pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
EVERY = [task for tasks in TASKS.values() for task in tasks]


@pytest.fixture(scope="module")
def both(home: Path, server: GeneratingServer) -> Both:
    return run_both(EVERY, server, home / "run")


@pytest.mark.parametrize("task", EVERY)
def test_numbers_equal_those_of_lm_eval(task: str, both: Both) -> None:
    aggregates, documents, compared = differences(both, task)
    assert compared > 6
    assert aggregates <= 1e-9
    assert documents <= 1e-9


def test_texts_longer_than_the_model_reads_are_cut_and_windowed_as_by_lm_eval(home: Path) -> None:
    """`max_length` of lm-eval's model is what the server reports of its own; a page is read in windows of it."""
    with GeneratingServer(longest=40) as short:
        both = run_both(["wikitext", "hellaswag"], short, home / "long")
        sizes = [len(body["prompt"][0]) for body in short.of("/v1/completions")]
    assert max(sizes) == 39 and sizes.count(39) > 12
    for task in ("wikitext", "hellaswag"):
        assert max(differences(both, task)[:2]) <= 1e-9
