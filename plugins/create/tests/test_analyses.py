"""The analyses on runs of floor, ceiling and two scripted models, and on hand-made sets."""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from create_support import invoked, judge_of, path_in, rows, serve
from support.chat_server import ChatServer, Received
from support.commands import creval

from creval.plugin import DataError, RunError, UnknownNameError
from creval_create.analysis.commands.breakdowns import CreatePaths, CreateRelations, CreateStrategies
from creval_create.analysis.commands.curves import CreateFactuality, CreatePatience
from creval_create.analysis.commands.distances import CreateDistances
from creval_create.analysis.commands.distinctiveness import _COLUMNS, CreateDistinctiveness, _rows
from creval_create.analysis.commands.distribution import CreateDistribution
from creval_create.analysis.commands.resample import CreateResample
from creval_create.analysis.commands.table import CreateTable
from creval_create.analysis.numbers import summary
from creval_create.analysis.population import Member, Population, nearest_of
from creval_create.analysis.sets import JudgedSet
from creval_create.queries.own import judged_paths
from creval_create.utility.bounds import most
from creval_create.utility.rules import Rules

EVERYTHING = "{strength_of: valid, also: [shared, released]}"
ALL = f"include: create/create\ntask: create\nscore: [create_counts, {{create: {EVERYTHING}}}]\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, minilm: Any) -> Path:
    """Runs of one judge: floor, ceiling, two scripted models (one with all verdicts), strategies, three repeats."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "all.yaml").write_text(ALL)
    with serve() as server:
        judge = ("--role", "judge=hosted_vllm/judge", "--seed", "1")
        for name, arguments in {
            "floor": ("--tasks", "create", "--model", "baseline/floor", "--limit", "4"),
            "ceiling": ("--tasks", "create", "--model", "baseline/ceiling", "--limit", "4"),
            "one": ("--tasks", "./all.yaml", "--model", "hosted_vllm/one", "--limit", "4"),
            "five": ("--tasks", "create_strategies", "--model", "hosted_vllm/two", "--limit", "12"),
            "thrice": ("--tasks", "create", "--model", "hosted_vllm/three", "--repeats", "3", "--limit", "4"),
        }.items():
            given = (*arguments, *judge, "--output", name)
            assert invoked(folder, minilm, *given, HOSTED_VLLM_API_BASE=server.url) == 0
    return folder


def table(output: Any) -> list[dict[str, Any]]:
    return [dict(zip(output.columns, row, strict=True)) for row in output.rows]


def of(made: Path, *names: str) -> list[str]:
    return [str(made / name) for name in names]


def results(folder: Path, task: str = "create") -> Mapping[str, float]:
    tasks = json.loads((folder / "results.json").read_text())["tasks"]
    (found,) = [each for each in tasks if each["task"] == task]
    return {metric["name"].partition("[")[0]: metric["value"] for metric in found["metrics"]}


def test_table_1_agrees_with_the_results_of_the_runs(made: Path) -> None:
    found = table(CreateTable().run(of(made, "floor", "ceiling", "one")))
    strict = {row["model"]: row for row in found if row["validity"] == "strict"}
    for name, model in (("floor", "baseline/floor"), ("ceiling", "baseline/ceiling"), ("one", "hosted_vllm/one")):
        stored, row = results(made / name), strict[model]
        assert row["s 0.9 mean"] == pytest.approx(stored["creative_utility@0.9"], abs=1e-4)
        assert row["s 0.7 mean"] == pytest.approx(stored["creative_utility@0.7"], abs=1e-4)
        assert row["paths mean"] == pytest.approx(stored["paths"])
        assert row["strength mean"] == pytest.approx(stored["strength"])
        assert row["factuality"] == pytest.approx(stored["factuality"])
        assert row["queries"] == 4
    values = [row["scores"]["creative_utility@0.9"] for row in rows(made / "one", "scores")]
    assert strict["hosted_vllm/one"]["s 0.9 SD"] == pytest.approx(statistics.stdev(values), abs=1e-4)
    assert {row["validity"] for row in found if row["model"] == "hosted_vllm/one"} == {"strict", "shared", "released"}


def test_what_was_not_judged_is_reported_and_never_guessed(made: Path) -> None:
    with pytest.raises(DataError, match="strength_of: valid"):
        CreateFactuality().run(of(made, "five"))
    with pytest.raises(DataError, match="strength_of: valid"):
        CreateTable().run(of(made, "five"), unfiltered=True)
    output = CreateTable().run(of(made, "five", "one"), unfiltered=True)
    assert {row[0] for row in output.rows} == {"hosted_vllm/one"}
    assert any("hosted_vllm/two" in note and "strength_of: valid" in note for note in output.notes)


def test_patience_and_factuality_meet_the_main_number(made: Path) -> None:
    by_patience = {row["patience"]: row["utility"] for row in table(CreatePatience().run(of(made, "one")))}
    by_share = {row["threshold"]: row["utility"] for row in table(CreateFactuality().run(of(made, "one")))}
    main = results(made / "one")["creative_utility@0.9"]
    assert len(by_patience) == len(by_share) == 11
    assert by_patience[0.9] == by_share[1.0] == pytest.approx(main, abs=1e-4)
    lenient = table(CreateTable().run(of(made, "one"), unfiltered=True))[0]
    assert by_share[0.0] == pytest.approx(lenient["s 0.9 mean"]) and by_share[0.0] > by_share[1.0]
    assert list(by_patience.values()) == sorted(by_patience.values())


def test_missing_verdicts_are_asked_for_on_demand_and_kept_in_the_run(tmp_path: Path, minilm: Any) -> None:
    """A run is judged by its own rule; what the others need comes from the same answers, once, and makes no other run
    necessary: the numbers are those of a run that judged everything."""
    turned = [[["Pierre Curie", "spouse", "Marie Curie"], ["Irène Joliot-Curie", "mother", "Marie Curie"],
               ["Irène Joliot-Curie", "award received", "Nobel Prize in Chemistry"]]]  # fmt: skip
    plain = [made.path for made in judged_paths() if made.query == "pierre_curie" and made.kind == "ceiling"][:5]
    said = json.dumps({str(i): path for i, path in enumerate([*plain, *turned], 1)})
    query = {"id": "pierre_curie", "query": "q", "entity_a": "Pierre Curie", "rel_b": "award received"}
    (tmp_path / "one.jsonl").write_text(json.dumps({**query, "entity_b": "Nobel Prize in Chemistry"}))
    (tmp_path / "all.yaml").write_text(ALL)

    def answer(request: Received) -> str:
        return judge_of(request) if "\nPath: [" in request.prompt else said

    with ChatServer(answer=answer) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOSTED_VLLM_API_BASE", server.url)
        for name, task in (("few", "create"), ("whole", "./all.yaml")):
            data = f"create={tmp_path / 'one.jsonl'}"
            given = ("--tasks", task, "--model", "hosted_vllm/x", "--data", data, "--output", name)
            assert invoked(tmp_path, minilm, *given, "--role", "judge=hosted_vllm/judge") == 0
        few, whole = [str(tmp_path / "few")], [str(tmp_path / "whole")]
        strict_only = table(CreateTable().run(few))
        assert {row["validity"] for row in strict_only} == {"strict"}
        before = len(server.requests)
        filtered = CreateTable().run(few, judge_missing=True)
        asked = server.requests[before:]
        assert 1 <= len(asked) <= 2 and all("irène" in path_in(request.prompt)[1][0] for request in asked)
        assert f"{len(asked)} calls to judges" in filtered.notes[0]
        assert table(filtered) == [pytest.approx(row, abs=1e-4) for row in table(CreateTable().run(whole))]
        lenient = CreateTable().run(few, judge_missing=True, unfiltered=True)
        assert table(lenient) == [
            pytest.approx(row, abs=1e-4) for row in table(CreateTable().run(whole, unfiltered=True))
        ]
        before = len(server.requests)
        for analysis in (CreateFactuality(), CreatePatience()):
            found = table(analysis.run(few, judge_missing=True, validity="shared"))
            assert found == [pytest.approx(row, abs=1e-4) for row in table(analysis.run(whole, validity="shared"))]
        assert len(server.requests) == before, "a verdict was paid twice"


def test_files_and_figures(made: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for analysis, name in (
        (CreatePatience(), "create-patience"),
        (CreateFactuality(), "create-factuality"),
        (CreateDistribution(), "create-distribution"),
        (CreateResample(), "create-resample"),
    ):
        run = "thrice" if name == "create-resample" else "one"
        output = analysis.run(of(made, run), output=str(tmp_path))
        assert [Path(file).name for file in output.files] == [f"{name}.{end}" for end in ("csv", "json", "png", "svg")]
        assert all(Path(file).stat().st_size for file in output.files)
        assert len(json.loads((tmp_path / f"{name}.json").read_text())["rows"]) == len(output.rows)
    output = CreatePatience().run(of(made, "one"), output=str(tmp_path / "plain"), no_plots=True)
    assert [Path(file).suffix for file in output.files] == [".csv", ".json"]


def test_distribution(made: Path) -> None:
    (row,) = table(CreateDistribution().run(of(made, "ceiling")))
    values = [row["scores"]["creative_utility@0.9"] for row in rows(made / "ceiling", "scores")]
    assert (row["q0"], row["q100"]) == (pytest.approx(min(values), abs=1e-4), pytest.approx(max(values), abs=1e-4))
    assert row["queries"] == 4


def test_strategies_are_paired_with_their_base(made: Path) -> None:
    found = {row["strategy"]: row for row in table(CreateStrategies().run(of(made, "five")))}
    assert set(found) == {"creative", "verbalized", "iterate", "resample"}
    assert all(4 <= row["queries"] <= 12 for row in found.values()), "each task draws its own queries"
    assert found["creative"]["difference"] == pytest.approx(0) and found["resample"]["paths ratio"] == pytest.approx(1)
    assert found["iterate"]["paths ratio"] >= 1
    for row in found.values():
        assert row["difference"] == pytest.approx(row["s"] - row["s base"])
    with pytest.raises(DataError, match="no strategy in addition"):
        CreateStrategies().run(of(made, "ceiling"))


def test_relations_paths_and_resample(made: Path) -> None:
    relations = table(CreateRelations().run(of(made, "one")))
    assert sum(row["queries"] for row in relations) == 4
    listed = table(CreatePaths().run(of(made, "one"), count=1))
    assert {row["query"] for row in listed} <= {row["doc_id"] for row in rows(made / "one", "scores")}
    assert all(1 <= row["strength"] <= 5 for row in listed)
    curve = table(CreateResample().run(of(made, "thrice")))
    assert [row["k"] for row in curve] == [1, 2, 3]
    assert curve[0]["utility"] == pytest.approx(results(made / "thrice")["creative_utility@0.9"], abs=1e-4)
    assert curve[2]["utility"] == pytest.approx(curve[0]["utility"]), "three equal answers are one"
    with pytest.raises(DataError, match="--repeats 3"):
        CreateResample().run(of(made, "one"))


def test_distinctiveness_of_models_that_say_the_same_is_nothing(made: Path) -> None:
    found = {row["model"]: row for row in table(CreateDistinctiveness().run(of(made, "one", "thrice", "ceiling")))}
    assert found["hosted_vllm/one"]["max nu"] == pytest.approx(0, abs=1e-6)
    assert found["baseline/ceiling"]["max nu"] > 0.3, "it says paths that the others do not"
    assert found["baseline/ceiling"]["avg strength"] >= 3
    alone = CreateDistinctiveness().run(of(made, "ceiling"), own="others", queries=2, seed=3)
    again = CreateDistinctiveness().run(of(made, "ceiling"), own="others", queries=2, seed=3)
    assert alone.rows == again.rows and len({path["query"] for path in alone.data["paths"]}) <= 2
    with pytest.raises(DataError, match="no population"):
        CreateDistinctiveness().run(of(made, "ceiling"))


def test_the_paths_of_one_query_with_their_nearest(made: Path) -> None:
    """Table 7: path, strength, nearest path of the population and distance, the most distinctive first."""
    runs = of(made, "one", "ceiling")
    everything = CreateDistinctiveness().run(runs)
    queries = [each["query"] for each in everything.data["paths"] if each["distance"] is not None]
    query = max(queries, key=queries.count)
    found = table(CreateDistinctiveness().run(runs, query=query))
    expected = [each for each in everything.data["paths"] if each["query"] == query]
    assert len(found) == len(expected) > 1
    assert sorted(row["distance"] for row in found) == sorted(each["distance"] for each in expected)
    assert [row["distance"] for row in found] == sorted((row["distance"] for row in found), reverse=True)
    for row in found:
        assert row["strength"] >= 3 and row["path"].startswith("(") and row["nearest path"].startswith("(")
    with pytest.raises(UnknownNameError, match="unknown query 'nobody'"):
        CreateDistinctiveness().run(runs, query="nobody")


def test_distances_before_and_after(made: Path, tmp_path: Path) -> None:
    """Figure 6, against the distances that the run keeps and Eq. 9 written out."""
    output = CreateDistances().run(of(made, "ceiling"), output=str(tmp_path))
    (row,) = table(output)
    pairs = []
    for score in rows(made / "ceiling", "scores"):
        kept = set(score["details"]["order"])
        embedded = score["details"]["embedded"]
        for i, line in enumerate(score["details"]["distances"]):
            pairs += [x for j, x in enumerate(line) if {embedded[i], embedded[j]} <= kept]
    assert row["pairs"] == len(pairs) > 10
    assert row["mean x"] == pytest.approx(statistics.fmean(pairs))
    assert row["median x"] == pytest.approx(statistics.median(pairs))
    g = [0.5 - 0.5 * np.cos(np.pi * (x / 0.7) ** 2) if x <= 0.7 else 1.0 for x in pairs]
    assert row["mean g(x)"] == pytest.approx(statistics.fmean(g))
    assert row["x above 0.7"] == pytest.approx(sum(x > 0.7 for x in pairs) / len(pairs))
    assert [Path(file).suffix for file in output.files] == [".csv", ".json", ".png", ".svg"]
    with pytest.raises(DataError, match="two paths"):
        CreateDistances().run(of(made, "floor"))


def test_figure_3_is_drawn(made: Path, tmp_path: Path) -> None:
    output = CreateStrategies().run(of(made, "five"), output=str(tmp_path))
    assert [Path(file).suffix for file in output.files] == [".csv", ".json", ".png", ".svg"]


class Angles:
    """Vectors in the plane at stated angles, by the entity that a path ends with."""

    name, dimension = "angles@1", 2

    def __init__(self, **angles: float) -> None:
        self._angles = angles

    def has(self, text: str) -> bool:
        return True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        radians = np.radians([self._angles[text.rpartition(" ")[2]] for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_the_nearest_path_by_hand() -> None:
    def member(model: str, name: str) -> Member:
        return Member(model, "create", "q", (("A", "r", name), (name, "s", "Z")), 4)

    members = [member("one", "x"), member("one", "y"), member("two", "z"), member("three", "x")]
    found = nearest_of(members, Angles(x=0, y=5, z=60), "run", 0.1)
    assert [near.path[0][2] for near in found if near.path] == ["x", "x", "y", "x"]
    assert found[0].distance == pytest.approx(0) and found[2].distance == pytest.approx(
        0.5 * (1 - np.cos(np.pi * ((1 - np.cos(np.radians(55))) / 0.7) ** 2))
    )
    assert [near.models for near in found] == [1, 1, 0, 1]
    within = nearest_of(members[:2], Angles(x=0, y=60), "others", 0.1)
    assert [near.path[0][2] for near in within if near.path] == ["y", "x"]
    (single,) = nearest_of(members[:1], Angles(x=0), "run", 0.1)
    assert single.distance is None and single.path is None


def test_the_filter_of_table_2_by_hand() -> None:
    """Kept are paths of strength 3 and more, not, as the caption says, above 3; only factual ones count at all."""

    def one(model: str, doc: str, *paths: tuple[str, int, bool]) -> JudgedSet:
        kept = [
            {
                "triples": [["A", "r", end], [end, "s", "Z"]],
                "refused": {},
                "factual": [true, True],
                "class_sizes": [n, 2],
            }
            for end, n, true in paths
        ]
        return JudgedSet(model, "create", doc, 0, {}, {"paths": kept}, None, 1)

    sizes = {5: 10, 4: 99, 3: 499, 2: 4999}
    sets = [
        one("one", "q1", ("x", sizes[3], True), ("y", sizes[2], True), ("z", sizes[5], False)),
        one("one", "q2", ("x", sizes[2], True)),
        one("two", "q1", ("y", sizes[4], True)),
        one("two", "q2", ("x", sizes[5], True), ("y", sizes[3], True)),
    ]
    population = Population.of(sets)
    found = population.nearest(population.drawn(300, 0), Angles(x=0, y=90, z=0), "run", 0.1)
    rows = {row[0]: dict(zip(_COLUMNS, row, strict=True)) for row in _rows(population.runs, found, 3)}
    # of "one" the single path x of q1, of which "two" has none; of "two" y in q1 (weak in "one"), x and y in q2
    assert (rows["one"]["num"], rows["one"]["paths"], rows["one"]["avg strength"]) == (1, 1, 3)
    assert (rows["one"]["avg nu"], rows["one"]["found by one model"]) == (pytest.approx(1), 1)
    assert (rows["two"]["num"], rows["two"]["paths"], rows["two"]["avg strength"]) == (2, 3, 4)
    assert (rows["two"]["avg nu"], rows["two"]["max nu"]) == (pytest.approx((0 + 0.5) / 2), pytest.approx((0 + 1) / 2))
    assert rows["two"]["found by one model"] == 1
    stricter = {row[0]: dict(zip(_COLUMNS, row, strict=True)) for row in _rows(population.runs, found, 4)}
    assert (stricter["one"]["paths"], stricter["two"]["paths"], stricter["two"]["avg strength"]) == (0, 2, 4.5)


def test_doubled_mixed_and_damaged_runs_are_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="named twice"):
        CreateTable().run(of(made, "one", "one"))
    shutil.copytree(made / "one", tmp_path / "copy")
    with pytest.raises(DataError, match="two runs hold 'create' of the model 'hosted_vllm/one'"):
        CreateTable().run([str(made / "one"), str(tmp_path / "copy")])
    done = creval(
        tmp_path, "--tasks", "create", "--model", "baseline/floor", "--limit", "2", "--output", "shipped",
        "--role", "judge=create/shipped", "--offline",
    )  # fmt: skip
    assert done.returncode == 0
    with pytest.raises(DataError, match="different resources"):
        CreateTable().run([str(made / "one"), str(tmp_path / "shipped")])
    file = tmp_path / "copy" / "scores" / "create.jsonl"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    with pytest.raises(RunError, match="lost"):
        CreateTable().run([str(tmp_path / "copy")])


def test_the_command_line(made: Path) -> None:
    done = creval(made, "analyse", "create-table", "one", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["columns"][:3] == ["model", "task", "validity"]


@pytest.mark.parametrize(
    ("values", "high"),
    [
        ([0.0, 0.0, 5.0], 5.0),
        ([50.0, 50.0, 41.0], 50.0),
        ([0.1, 14.0, 0.0, 0.2], 50.0),
        ([0.0, 3.0], None),
        ([1.0, 1.0, 0.2], 1.0),
    ],
)
def test_the_interval_of_a_mean_stays_within_the_possible(values: list[float], high: float | None) -> None:
    found = summary(values, high=high)
    assert found.low is not None and found.high is not None and found.mean is not None
    assert 0 <= found.low < found.mean < found.high
    assert high is None or found.high <= high


def test_what_a_set_of_paths_can_be_worth() -> None:
    assert [most(each) for each in (0.0, 0.5, 0.9, 1.0)] == [5, 10, 50, None]
    assert [Rules.of("released").most(each) for each in (0.5, 0.9, 1.0)] == [15, 55, None]
    assert summary([]) == (None, None, None, None, 0)
    assert summary([2.0, None]) == (2.0, None, None, None, 1)
