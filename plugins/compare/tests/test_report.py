"""`creval report` over several runs, in every format, each opened by its own reader; rows and frames of runs."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

import creval
from creval.api import load_result
from creval.errors import UnknownNameError
from creval_compare.runs_table import runs_legend


def test_several_runs_are_in_one_table(runs: Path, said: Any) -> None:
    code, out, _ = said("report", "weak", "strong", "faulty")
    assert code == 0
    head = next(line for line in out.splitlines() if "metric" in line)
    assert head.split() == ["task", "metric", "hosted_vllm/weak", "hosted_vllm/strong", "hosted_vllm/faulty"]
    (row,) = [line for line in out.splitlines() if line.startswith(" spelling   accuracy *")]
    assert "0.400 (0.191 to 0.639)" in row and "0.900 (0.683 to 0.988)" in row
    assert "hosted_vllm/faulty: spelling: 19 scored, 1 errored" in out
    assert "hosted_vllm/weak: spelling" not in out
    assert "value (95 % interval); * primary metric" in out


@pytest.mark.parametrize(
    ("low", "primary", "columns", "legend"),
    [
        (0.8, True, (), ["value (95 % interval); * primary metric"]),
        (None, True, (), ["* primary metric"]),
        (None, False, ("ceiling",), ["floor, ceiling: what baseline/floor and baseline/ceiling reached"]),
        (None, False, (), []),
    ],
)
def test_the_legend_of_several_runs_explains_only_what_the_table_has(
    low: float | None, primary: bool, columns: tuple[str, ...], legend: list[str]
) -> None:
    tasks = [{"task": "drat", "metrics": [{"primary": primary, "ci_low": low}]}]
    found = runs_legend([creval.RunResult(Path("runs/mine"), {"tasks": tasks})], columns, marks=True)
    assert [line.partition(" on the same")[0] for line in found] == legend


def test_equal_models_are_distinguished_by_their_folders_and_what_differs_is_reported(runs: Path, said: Any) -> None:
    _, out, _ = said("report", "strong", "part", "trials_strong", "--all")
    lines = out.splitlines()
    heads = "".join("".join(lines[: next(i for i, line in enumerate(lines) if "──" in line)]).split())
    assert all(f"({name})" in heads for name in ("strong", "part")) and "(trials_" in heads
    assert "numbers of local/spelling cannot be compared: these runs differ in docs" in out
    rows = [line for line in out.splitlines() if line.startswith(" hot ")]
    assert len(rows) == 6 and all(line.count("–") >= 2 for line in rows)


def test_a_table_each_is_as_for_one_run(runs: Path, said: Any) -> None:
    _, out, _ = said("report", "weak", "strong", "--layout", "each", "--all")
    assert out.count("20 scored") == 4 and "hosted_vllm/weak (weak)" in out
    assert "20 scored" in said("report", "weak")[1]


@pytest.mark.parametrize("names", [("strong",), ("weak", "strong"), ("strong", "part", "trials_weak")])
def test_every_format_is_read_by_its_own_reader(runs: Path, said: Any, names: tuple[str, ...]) -> None:
    import pandas
    from markdown_it import MarkdownIt
    from pylatexenc.latexwalker import LatexEnvironmentNode, LatexWalker

    printed = {form: said("report", *names, "--all", f"--{form}")[1] for form in ("json", "csv", "markdown", "latex")}
    rows = json.loads(printed["json"])
    frame = pandas.read_csv(io.StringIO(printed["csv"]))
    assert len(frame) == len(rows)
    for name in ("value", "ci_low", "n", "scored"):
        assert frame[name].tolist() == pytest.approx(
            [math.nan if row[name] is None else row[name] for row in rows], nan_ok=True
        )
    assert frame["run"].tolist() == [row["run"] for row in rows]
    lines = len(rows) if len(names) == 1 else len(frame.groupby(["task", "metric", "condition"], dropna=False))
    tokens = MarkdownIt().enable("table").parse(printed["markdown"])
    assert [token.type for token in tokens].count("tr_open") == lines + 1
    cells = [token.content for token in tokens if token.type == "inline"]
    assert cells[:2] == ["task", "metric"] and "spelling" in cells
    nodes = LatexWalker(printed["latex"]).get_latex_nodes()[0]
    (table,) = [node for node in nodes if isinstance(node, LatexEnvironmentNode)]
    assert table.environmentname == "tabular" and printed["latex"].count(r" \\") == lines + 1


def test_names_that_formats_would_take_for_their_own_are_escaped(runs: Path, said: Any) -> None:
    from markdown_it import MarkdownIt
    from pylatexenc.latex2text import LatexNodes2Text

    from creval.report.output_files import latex_text, markdown_text

    hostile = [
        "a|b *c* _d_ `e` [f](g) <h>",
        r"50 % & $x_1$ #2 {y} ~ ^ \begin{tabular} 1 – 2 < 3",
        "line\nbreak\x1b[31m",
    ]
    tokens = MarkdownIt().enable("table").parse(markdown_text(["x", "y"], [[text, 1.0] for text in hostile]))
    inline = [token for token in tokens if token.type == "inline"]
    assert len(inline) == 8 and all(
        child.type in ("text", "text_special") for token in inline for child in token.children
    )
    assert "".join(child.content for child in inline[2].children) == hostile[0]
    latex = latex_text(["n", "x"], [[1, hostile[1]]])
    said_line = LatexNodes2Text().latex_to_text(latex.splitlines()[4].removeprefix("1 & ").removesuffix(r" \\"))
    assert said_line.replace(" ", "").replace("ˆ", "^") == hostile[1].replace(" ", "")
    assert latex.count(r"\begin{tabular}") == 1


def test_frames_of_samples_and_metrics(runs: Path) -> None:
    run = creval.open_run(runs / "strong")
    samples = run.to_pandas()
    assert len(samples) == 20 and samples["exact_match"].mean() == pytest.approx(0.9)
    metrics = run.to_pandas(of="metrics").set_index("metric")
    assert metrics.loc["accuracy", "value"] == pytest.approx(0.9) and metrics.loc["accuracy", "scored"] == 20
    assert run.to_pandas(of="metrics").to_dict("records") == load_result(runs / "strong").to_pandas().to_dict("records")
    assert len(creval.open_run(runs / "trials_weak").to_pandas("hot", of="metrics")) == 6
    with pytest.raises(UnknownNameError, match="Did you mean 'metrics'"):
        run.to_pandas(of="metric")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="task"):
        run.to_pandas("speling")


def test_what_a_notebook_shows_is_short(runs: Path) -> None:
    assert repr(creval.open_run("strong")) == "Run('strong': hosted_vllm/strong, done, spelling)"
    assert repr(load_result(Path("strong"))) == "RunResult('strong': hosted_vllm/strong, done, spelling)"
    assert repr(creval.RunOptions(limit=5, roles={"judge": "a/b"})) == "RunOptions(limit=5, roles={'judge': 'a/b'})"
    assert repr(creval.RunOptions()) == "RunOptions()"
    assert {"to_pandas", "metric_rows", "samples"} <= set(dir(creval.open_run("strong")))
