"""The paper's two validations of its judge: strength of 75 paths, factuality of 346 triples (Section 4.3, Figure 7)."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from create_support import serve
from support.commands import creval

from creval.plugin import DataError, UnknownNameError, open_run
from creval.plugins.loader import load_plugins
from creval_agreement.classes import by_class
from creval_agreement.two_raters import agreement

ROW = Mapping[str, Any]


def analyse(*runs: Path, **options: Any) -> Any:
    analysis = load_plugins().registry.get("analysis", "judge-agreement").load()()
    return analysis.run([str(run) for run in runs], **options)


def table(output: Any) -> dict[str, ROW]:
    """The rows of an output by what they compare."""
    return {row[4]: dict(zip(output.columns, row, strict=True)) for row in output.rows}


def write(file: Path, labels: Sequence[ROW]) -> Path:
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(labels[0]))
        writer.writeheader()
        writer.writerows(labels)
    return file


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, minilm: Any) -> Path:
    """A run of the hand-made paths with a scripted judge."""
    folder = tmp_path_factory.mktemp("judged")
    with serve() as server:
        target = ("--tasks", "create", "--model", "baseline/ceiling", "--limit", "8", "--output", "run")
        done = creval(folder, *target, "--role", "judge=hosted_vllm/judge", HOSTED_VLLM_API_BASE=server.url)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "run"


def paths_of(run: Path) -> Iterator[tuple[str, ROW]]:
    """Doc and stored path of every judged path."""
    for score in open_run(run).scores("create"):
        yield from ((score.key.doc, path) for path in score.details["paths"] if "factual" in path)


def test_figure_7_of_the_paper_from_its_supports() -> None:
    """Of 72 wrong triples 68 and of 274 right ones 212 are met: the only counts that give all printed numbers."""
    people = [0.0] * 72 + [1.0] * 274
    judge = [0.0] * 68 + [1.0] * 4 + [0.0] * 62 + [1.0] * 212
    wrong, right = by_class(people, judge)
    assert [round(x, 2) for x in (wrong.precision or 0, wrong.recall or 0, wrong.f1 or 0)] == [0.52, 0.94, 0.67]
    assert [round(x, 2) for x in (right.precision or 0, right.recall or 0, right.f1 or 0)] == [0.98, 0.77, 0.87]
    assert (wrong.n, right.n) == (72, 274)
    assert agreement(people, judge).balanced_accuracy == pytest.approx(0.859, abs=5e-4)
    assert by_class([1.0], [2.0])[0].precision is None
    assert by_class([1.0], [2.0])[1].recall is None


def test_labels_of_triples(judged: Path, tmp_path: Path) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    drawn = random.Random(1)
    labels, people, judge = [], [], []
    for doc, path in paths_of(judged):
        for place, true in enumerate(path["factual"], 1):
            said = int(true) if drawn.random() < 0.8 else 1 - int(true)
            labels.append({"doc": doc, "path": path["key"], "triple": place, "label": said})
            people.append(said)
            judge.append(int(true))
    drawn.shuffle(labels)
    found = table(analyse(judged, score="factuality", labels=str(write(tmp_path / "labels.csv", labels))))
    whole = found["people and judge"]
    assert (whole["of"], whole["n"]) == ("triple", len(labels))
    assert len(labels) > 100
    assert whole["balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(people, judge))
    assert whole["kappa"] == pytest.approx(metrics.cohen_kappa_score(people, judge))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(people, judge)
    for each in (0, 1):
        row = found[f"class {each}"]
        expected = (support[each], precision[each], recall[each], f1[each])
        assert tuple(row[name] for name in ("n", "precision", "recall", "F1")) == pytest.approx(expected)


def test_a_figure_of_agreement_over_triples(judged: Path, tmp_path: Path) -> None:
    creval_plot = pytest.importorskip("creval_plot")
    labels = [
        {
            "doc": doc,
            "path": path["key"],
            "triple": place,
            "annotator": name,
            "label": int(true) if name == "ann" else 1,
        }
        for doc, path in paths_of(judged)
        for place, true in enumerate(path["factual"], 1)
        for name in ("ann", "bob")
    ]

    figure = creval_plot.judges([judged], ["factuality"], labels=write(tmp_path / "labels.csv", labels))

    said = [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    assert [text.partition("\n")[2] for text in said] == [f"n={len(labels) // 2}"] * 3
    assert said[1].startswith("1.00")  # the judge and ann say the same of every triple


def test_labels_of_paths_by_two_annotators(judged: Path, tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    drawn = random.Random(2)
    labels, ann, bob, judge = [], [], [], []
    for doc, path in paths_of(judged):
        if "class_sizes" not in path:
            continue
        classes = [
            5 if s <= 10 else 4 if s < 100 else 3 if s < 500 else 2 if s < 5000 else 1 for s in path["class_sizes"]
        ]
        strength = min(classes[:-1] or classes)
        said = [min(5, max(1, strength + drawn.choice([-1, 0, 0, 1]))) for _ in "ab"]
        labels += [
            {"doc": doc, "path": f"1/{path['key']}", "annotator": name, "label": each}
            for name, each in zip(("ann", "bob"), said, strict=True)
        ]
        ann.append(said[0])
        bob.append(said[1])
        judge.append(strength)
    found = table(analyse(judged, score="strength", labels=str(write(tmp_path / "labels.csv", labels))))
    means = [(a + b) / 2 for a, b in zip(ann, bob, strict=True)]
    whole = found["people and judge"]
    assert (whole["of"], whole["n"]) == ("path", len(judge))
    assert whole["pearson"] == pytest.approx(stats.pearsonr(means, judge).statistic)
    assert found["ann and bob"]["pearson"] == pytest.approx(stats.pearsonr(ann, bob).statistic)
    assert found["ann and bob"]["n"] == len(judge)


def test_labels_by_text_and_labels_without_a_judged_part(judged: Path, tmp_path: Path) -> None:
    doc, path = next(paths_of(judged))
    text = repr([tuple(part.lower() for part in triple) for triple in path["triples"]])
    labels = [{"doc": doc, "path": text, "label": 1}, {"doc": doc, "path": "99", "label": 0}]
    output = analyse(judged, score="factuality", labels=str(write(tmp_path / "labels.csv", labels)))
    assert table(output)["people and judge"]["n"] == 1
    assert "some labels belong to no path" in output.notes[1]


@pytest.mark.parametrize(
    ("labels", "score", "error", "message"),
    [
        ({"doc": "@", "pth": 1, "label": 1}, "factuality", DataError, "'pth' is unknown.*\n.*mean 'path'"),
        (
            {"doc": "@", "path": 1, "tripel": 1, "label": 1},
            "factuality",
            DataError,
            "'tripel'.*\n.*mean 'triple'",
        ),
        ({"doc": "@", "triple": 1, "label": 1}, "factuality", DataError, "names \\d+ judged parts.*triple 1\n.*path"),
        ({"doc": "@", "path": 1, "label": 1}, "strenght", UnknownNameError, "'strenght'.*\n.*mean 'strength'"),
        ({"doc": "@", "path": 1, "label": "good"}, "strength", DataError, "not a label.*\n.*doc, path and label"),
    ],
)
def test_what_would_compare_other_things_is_refused(
    judged: Path, tmp_path: Path, labels: ROW, score: str, error: type[Exception], message: str
) -> None:
    doc, _ = next(paths_of(judged))
    file = write(tmp_path / "labels.csv", [{name: doc if value == "@" else value for name, value in labels.items()}])
    with pytest.raises(error, match=message):
        analyse(judged, score=score, labels=str(file))
