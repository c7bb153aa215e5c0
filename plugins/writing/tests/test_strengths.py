"""Bradley-Terry strengths: by hand, against choix's other fit, and in runs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.chat_server import Answer, ChatServer, Received

import creval
from creval.errors import DataError, TaskError, UsageError
from creval.plugin import SampleKey, ScoreRecord, Status
from creval.plugins.loader import load_plugins
from creval.scoring.clusters import Clusters
from creval.scoring.intervals import Scale
from creval.scoring.metric_estimate import estimate
from creval.tasks.index import TaskIndex
from creval_writing.aggregation import Strength
from creval_writing.bradley_terry import PRIOR, strengths, strengths_of
from creval_writing.ranking import Ranking

FILE = Path(__file__).parents[1] / "creval_writing" / "data" / "prompts.jsonl"
NAMES = ("wins_stock", "wins_plain", "wins_crafted")


def strength(rows: Any) -> float | None:
    made = Strength(NAMES)
    made.read(
        [
            ScoreRecord(
                SampleKey("vignettes", str(place), "default", 0),
                Status.SCORED,
                {name: share for name, share in zip(NAMES, row, strict=True) if share is not None},
            )
            for place, row in enumerate(rows)
        ]
    )
    return made.value([np.array([place], dtype=float) for place in range(len(rows))])


def test_two_writers_by_hand() -> None:
    """24 wins to 8, a tenth of a win more for each: the odds are 24.1 to 8.1."""
    found = strengths_of({("a", "b"): (24, 8)})
    assert found["a"] - found["b"] == pytest.approx(math.log(24.1 / 8.1), abs=1e-6)
    assert sum(found.values()) == pytest.approx(0, abs=1e-9)


def test_wins_are_those_that_the_strengths_expect() -> None:
    """At the maximum each writer has the wins that its chances add up to; choix's other fit, of a list, agrees."""
    import choix

    wins = np.array([[0, 30, 20, 3], [2, 0, 4, 1], [12, 9, 0, 2], [29, 11, 8, 0]], dtype=float)
    found = strengths(wins)
    meetings = wins + wins.T + 2 * PRIOR * (1 - np.eye(4))
    chances = 1 / (1 + np.exp(found[None, :] - found[:, None]))
    np.fill_diagonal(chances, 0)
    assert (meetings * chances).sum(axis=1) == pytest.approx((wins + PRIOR * (1 - np.eye(4))).sum(axis=1), abs=1e-4)
    tenths = [(i, j) for i in range(4) for j in range(4) if i != j for _ in range(int(10 * wins[i, j]) + 1)]
    assert found == pytest.approx(choix.mm_pairwise(4, tenths), abs=1e-5)


def test_the_strength_of_a_model_among_the_pool() -> None:
    assert strength([(0.5, 0.5, 0.5)] * 4) == pytest.approx(0, abs=1e-6)
    assert strength([(1, 0.5, 0)] * 4) == pytest.approx(0, abs=1e-6)  # as far from both ends
    better, best = strength([(1, 1, 0.5)] * 4), strength([(1, 1, 1)] * 4)
    assert better is not None and best is not None and 0 < better < best < 10
    assert strength([(0, 0, 0.5)] * 4) == pytest.approx(-better, abs=1e-6)
    assert strength([(1, 1, None)] * 4) is None
    assert strength([(1, 1, None), (1, 1, 0.5)]) is not None
    assert strength([]) is None


def test_an_interval_is_drawn_over_prompts() -> None:
    made = Strength(NAMES)
    shares = [(1, 0.5, 0), (1, 1, 0.5), (0.5, 0.5, 0), (1, 1, 1)] * 2
    records = [
        ScoreRecord(SampleKey("vignettes", str(place), "default", 0), Status.SCORED, dict(zip(NAMES, row, strict=True)))
        for place, row in enumerate(shares)
    ]
    made.read(records)
    clusters = Clusters.group([float(place) for place in range(8)], list(range(8)))
    found = estimate(made, clusters, "auto", 1, Scale(None, None))
    assert found.method == "cluster_bootstrap"
    assert found.value is not None and found.ci_low is not None and found.ci_high is not None
    assert found.ci_low < found.value < found.ci_high


def test_prompts_and_pool() -> None:
    docs = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    assert len(docs) == 32 and len({doc["id"] for doc in docs}) == 32 and len({doc["brief"] for doc in docs}) == 32
    assert all(40 <= len(doc[writer].split()) <= 80 for doc in docs for writer in ("plain", "crafted"))


DOCS = ("library", "neighbour", "will")


def prefers(request: Received) -> Answer:
    """Say that crafted pieces are better than plain ones, and these than set phrases."""
    first, second = request.prompt.split("First piece:\n")[1].split("\n\nSecond piece:\n")
    second = second.split("\n\nWhich would")[0]
    pieces = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    plain, crafted = ({piece[writer] for piece in pieces} for writer in ("plain", "crafted"))
    one, other = (2 * (text in crafted) + (text in plain) for text in (first, second))
    return Answer("tie" if one == other else "first" if one > other else "second")


def test_a_ranking_over_runs(tmp_path: Path, options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = []
    with ChatServer(prefers) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        for model in ("ceiling", "floor"):
            chosen = options(roles={"judge": "hosted_vllm/judge"}, docs=DOCS, output=tmp_path / model)
            folders.append(str(creval.run(["vignettes_pairs"], f"baseline/{model}", chosen).folder))
    output = Ranking().run(folders, resamples=20)
    rows = {row[0]: dict(zip(output.columns, row, strict=True)) for row in output.rows}
    won = {name: round(row["won"], 3) for name, row in rows.items()}
    assert list(won.items())[1:-1] == [("pool: crafted", 0.75), ("pool: plain", 0.5), ("pool: stock", 0.25)]
    assert (won["baseline/ceiling"], won["baseline/floor"]) == (0.833, 0.167)
    assert rows["baseline/floor"]["strength"] == pytest.approx(rows["pool: stock"]["strength"], abs=0.5)
    assert sum(row["strength"] for name, row in rows.items() if name.startswith("pool: ")) == pytest.approx(0, abs=1e-9)
    assert all(row["prompts"] == 3 and row["low"] == pytest.approx(row["high"], abs=1e-5) for row in rows.values())
    results = json.loads(Path(folders[0], "results.json").read_text())
    assert any(note.startswith("WARNING") and "wins_plain" in note for note in results["tasks"][0]["notes"])
    results["tasks"][0]["instruments"]["judge"] = "another"
    Path(folders[0], "results.json").write_text(json.dumps(results))
    with pytest.raises(UsageError, match="judged by different models"):
        Ranking().run(folders)
    with pytest.raises(DataError, match="no pairs"):
        Ranking().run(folders[:1], task="vignettes")


def test_a_score_that_the_task_has_not_is_named(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    strength = "{writing.strength: {scores: [wins_stok, wins_plain]}}"
    file.write_text(
        "schema: 1\ninclude: writing/vignettes_pairs\ntask: own\nversion: 1.0.0\n"
        f"metrics: [{{name: strength, from: wins_stock, aggregate: {strength}, failed: exclude}}]\n"
    )
    with pytest.raises(TaskError, match="no scorer of the task returns 'wins_stok'"):
        TaskIndex(load_plugins()).load(str(file))
