"""Reading a run: lazily, typed, and strict about rows that are damaged, doubled, foreign or lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import creval
from creval.errors import RunError, UnknownNameError, UsageError
from creval.plugin import open_runs

ANSWERS = {"a": "yes", "b": "no", "c": "perhaps"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the engine: three docs, two repeats, one answer that cannot be read and one that is wrong."""
    base = tmp_path_factory.mktemp("made")
    lines = [json.dumps({"id": doc, "question": f"{doc}?", "target": "yes"}) for doc in ANSWERS]
    (base / "docs.jsonl").write_text("\n".join(lines) + "\n")
    (base / "toy.yaml").write_text(
        """
schema: 1
task: toy
version: 1.0.0
title: Yes or no
dataset: {source: file, file: docs.jsonl, id: id}
prompt:
  - {role: user, content: "{{ question }}"}
parse: [{choice: ["no", "yes"]}]
score: exact_match
metrics:
  - {name: exact_match, failed: zero}
repeats: 2
"""
    )
    answers = [
        {"task": "toy", "doc": doc, "repeat": repeat, "answers": [text]}
        for doc, text in ANSWERS.items()
        for repeat in range(2)
    ]
    (base / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    options = creval.RunOptions(output=base / "run")
    return creval.run([str(base / "toy.yaml")], f"replay/{base / 'answers.jsonl'}", options).folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may damage."""
    return Path(shutil.copytree(made, tmp_path / "run"))


def edit(folder: Path, part: str, change: Callable[[list[str]], None]) -> Path:
    path = folder / part / "toy.jsonl"
    lines = path.read_text().splitlines()
    change(lines)
    path.write_text("".join(line + "\n" for line in lines))
    return path


def changed(line: str, **fields: Any) -> str:
    return json.dumps({**json.loads(line), **fields})


def test_a_run_reports_what_it_is(made: Path) -> None:
    run = creval.open_run(made)
    assert run.model.startswith("replay/")
    assert (run.tasks, run.status) == (["toy"], "done")
    assert run.manifest["seed"] == 0
    assert run.results["status"] == "done"
    assert run.result("toy")["planned"] == 6


def test_samples_have_their_final_status(made: Path) -> None:
    run = creval.open_run(made)
    found = {(sample.key.doc, sample.status.value) for sample in run.samples()}
    assert found == {("a", "scored"), ("b", "scored"), ("c", "unparsed")}
    assert [sample.key.doc for sample in run.samples(task="toy", status="unparsed")] == ["c", "c"]
    assert all(sample.reason for sample in run.samples(status="unparsed"))
    assert {score.key.doc for score in run.scores(status="scored")} == {"a", "b"}


def test_samples_and_their_scores_together(made: Path) -> None:
    pairs = list(creval.open_run(made).scored())
    assert len(pairs) == 6
    assert all(sample.key == score.key for sample, score in pairs)
    assert {sample.answers[0]: score.scores.get("exact_match") for sample, score in pairs} == {
        "yes": 1.0,
        "no": 0.0,
        "perhaps": None,
    }


def test_one_row_a_sample(made: Path) -> None:
    run = creval.open_run(made)
    rows = run.to_rows("toy")
    assert len(rows) == 6
    assert rows[0].keys() >= {"model", "task", "qualified", "doc", "condition", "repeat", "status", "reason"}
    frame = run.to_pandas()
    qualified = run.manifest["tasks"][0]["qualified"]
    assert qualified.endswith("/toy") and {row["qualified"] for row in [*rows, *run.metric_rows()]} == {qualified}
    assert frame["exact_match"].sum() == 2
    assert frame["exact_match"].isna().sum() == 2


def test_names_that_are_none_have_the_nearest(made: Path) -> None:
    run = creval.open_run(made)
    with pytest.raises(UnknownNameError, match="'toy'"):
        next(run.samples(task="tory"))
    with pytest.raises(UnknownNameError, match="'unparsed'"):
        next(run.samples(status="unparsd"))


def test_nothing_is_read_before_it_is_asked_for(folder: Path) -> None:
    for part in ("samples", "scores"):
        edit(folder, part, lambda lines: lines.__setitem__(0, "{"))
    run = creval.open_run(folder)
    assert run.results["tasks"]
    with pytest.raises(RunError):
        next(run.scores())


@pytest.mark.parametrize("part", ["samples", "scores"])
@pytest.mark.parametrize(
    ("change", "said", "line"),
    [
        (lambda lines: lines.__setitem__(1, lines[1][:20]), "damaged", 2),
        (lambda lines: lines.__setitem__(1, lines[1] + lines[1]), "damaged", 2),
        (lambda lines: lines.__setitem__(1, "[1]"), "damaged", 2),
        (lambda lines: lines.__setitem__(2, changed(lines[2], status="fine")), "damaged", 3),
        (lambda lines: lines.__setitem__(2, changed(lines[2], repeat=True)), "damaged", 3),
        (lambda lines: lines.__setitem__(2, changed(lines[2], doc_id=7)), "damaged", 3),
        (lambda lines: lines.append(lines[0]), "a second row of doc 'a'", 7),
        (lambda lines: lines.__setitem__(3, changed(lines[3], task="other")), "does not have", 4),
        (lambda lines: lines.__setitem__(3, changed(lines[3], condition="hot")), "does not have", 4),
        (lambda lines: lines.__setitem__(3, changed(lines[3], repeat=2)), "does not have", 4),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    folder: Path, part: str, change: Callable[[list[str]], None], said: str, line: int
) -> None:
    path = edit(folder, part, change)
    run = creval.open_run(folder)
    with pytest.raises(RunError, match=said) as caught:
        list(run.scores() if part == "scores" else run.samples())
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.fix


@pytest.mark.parametrize("part", ["samples", "scores"])
def test_rows_that_are_lost_are_missed(folder: Path, part: str) -> None:
    path = edit(folder, part, lambda lines: lines.__delitem__(slice(2, 4)))
    run = creval.open_run(folder)
    with pytest.raises(RunError, match="2 of 6 rows are lost") as caught:
        list(run.scores() if part == "scores" else run.samples())
    assert caught.value.where == str(path)


@pytest.mark.parametrize("value", ["1", True, None, "NaN"])
def test_a_score_that_is_no_number_is_damage(folder: Path, value: Any) -> None:
    scores = {"exact_match": value}
    edit(folder, "scores", lambda lines: lines.__setitem__(0, changed(lines[0], scores=scores).replace('"NaN"', "NaN")))
    with pytest.raises(RunError, match=r"not a finite number|damaged"):
        list(creval.open_run(folder).scores())


def test_a_score_without_its_sample_is_refused(folder: Path) -> None:
    path = edit(folder, "scores", lambda lines: lines.__setitem__(5, changed(lines[5], doc_id="z")))
    with pytest.raises(RunError, match="doc 'z'") as caught:
        list(creval.open_run(folder).scored())
    assert caught.value.where == f"{path}:6"


def test_folders_that_are_no_runs(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no run"):
        creval.open_run(tmp_path)
    for number in range(4):
        below = tmp_path / "all" / f"r{number}"
        below.mkdir(parents=True)
        (below / "run.json").touch()
    with pytest.raises(RunError) as caught:
        creval.open_run(tmp_path / "all")
    assert str(caught.value.fix).endswith(f"{tmp_path}/all/r0, {tmp_path}/all/r1, {tmp_path}/all/r2 ...")
    for text in ("{", "[]", "{}", '{"roles": {"target": "m"}, "status": "done", "tasks": [{"task": "t"}]}'):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(RunError) as caught:
            creval.open_run(tmp_path)
        assert "run.json" in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"tasks": []}', '{"model": "m", "tasks": [1]}'])
def test_damaged_results_are_reported(folder: Path, text: str) -> None:
    (folder / "results.json").write_text(text)
    with pytest.raises(RunError) as caught:
        _ = creval.open_run(folder).results
    assert str(folder / "results.json") in str(caught.value)
    assert "creval score" in str(caught.value)


def test_a_resumed_run_can_be_looked_at_and_is_no_part_of_an_analysis(folder: Path) -> None:
    manifest = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**manifest, "status": "interrupted"}))
    (folder / "results.json").unlink()
    edit(folder, "samples", lambda lines: lines.__delitem__(slice(4, 6)))
    edit(folder, "scores", lambda lines: lines.__delitem__(slice(4, 6)))
    run = creval.open_run(folder)
    assert len(list(run.samples())) == 4
    with pytest.raises(RunError, match="no results"):
        _ = run.results
    with pytest.raises(RunError, match="did not finish"):
        open_runs([folder])


def test_a_run_is_named_once(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "link"
    other.symlink_to(folder)
    assert len(open_runs([folder])) == 1
    with pytest.raises(RunError, match="named twice"):
        open_runs([folder, str(folder)])
    with pytest.raises(RunError, match="named twice, also as"):
        open_runs([folder, other])
    with pytest.raises(UsageError, match="no run is named"):
        open_runs([])
