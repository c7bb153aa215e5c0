"""Tables of models for papers: which metrics, which layout, what is best, and that they fit."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from creval.api import RunResult
from creval.cli.report_layout import lay_out
from creval.errors import UnknownNameError
from creval.format import fold_name
from creval.report.baselines import Baselines
from creval.report.metric_choice import MetricChoice, chosen
from creval.report.output_files import latex_text, markdown_text
from creval.report.result_tables import print_results, run_notes
from creval_compare.model_table import model_table, print_models
from creval_compare.runs_table import print_runs

STATUSES = ("scored", "unparsed", "truncated", "refused", "errored", "skipped")


def metric(name: str, value: float | None, **changes: Any) -> dict[str, Any]:
    ends = {"ci_low": None, "ci_high": None} if value is None else {"ci_low": value - 0.1, "ci_high": value + 0.1}
    return {
        "name": name,
        "condition": None,
        "value": value,
        **ends,
        "standard_error": 0.05,
        "n": 20,
        "primary": True,
        "higher_is_better": True,
        "no_interval": None,
        "cluster": "doc",
        "counts": dict.fromkeys(STATUSES, 0) | {"scored": 20},
        **changes,
    }


def run(folder: str, model: str, tasks: dict[str, list[dict[str, Any]]], **changes: Any) -> RunResult:
    parts = [
        {"task": name, "qualified": f"own/{name}", "metrics": metrics, "hash": name, "dataset": "d", **changes}
        for name, metrics in tasks.items()
    ]
    return RunResult(Path(folder), {"model": model, "status": "done", "tasks": parts})


def texts(table: Any) -> list[list[str]]:
    return [["–" if value is None else str(value) for value in row] for row in table.rows]


def test_primary_metrics_are_shown_unless_others_are_asked_for() -> None:
    metrics = [metric("a", 0.5), metric("b[x]", 0.5, primary=False), metric("a", 0.4, condition="t=1")]
    bare = [metric("only", 0.5, primary=False)]
    results = [run("r", "m/a", {"one": metrics, "two": bare})]

    def names(**choice: Any) -> list[tuple[str, str | None]]:
        (shown,), _ = chosen(results, MetricChoice(**choice))
        return [(each["name"], each["condition"]) for task in shown.results["tasks"] for each in task["metrics"]]

    assert names() == [("a", None), ("a", "t=1"), ("only", None)]
    assert names(overall=True) == [("a", None), ("only", None)]
    assert names(every=True) == [("a", None), ("b[x]", None), ("a", "t=1"), ("only", None)]
    assert names(metrics=["b"]) == names(metrics=["b[x]"]) == [("b[x]", None)]
    assert names(tasks=["own/two"]) == [("only", None)]
    assert chosen(results, MetricChoice())[1] == 1
    for choice in ({"tasks": ["ones"]}, {"metrics": ["onli"]}):
        with pytest.raises(UnknownNameError, match="Did you mean"):
            chosen(results, MetricChoice(**choice))


def test_a_row_per_model_a_column_per_task_and_the_best_in_bold() -> None:
    results = [
        run("r1", "m/a", {"one": [metric("score", 0.5)]}),
        run("r2", "m/a", {"two": [metric("loss", -0.25, higher_is_better=False)]}),
        run("r3", "m/b", {"one": [metric("score", 0.7)], "two": [metric("loss", 0.25, higher_is_better=False)]}),
        run("r4", "baseline/ceiling", {"one": [metric("score", 1.0)]}),
    ]
    table = model_table(results, Baselines(), error="none")
    assert table.columns == ["model", "one score ↑", "two loss ↓"]
    assert texts(table) == [
        ["m/a", "0.500", "-0.250"],
        ["m/b", "0.700", "0.250"],
        ["baseline/ceiling", "1.000", "–"],
        ["n", "20", "20"],
    ]
    bold = [[bool(value and value.bold) for value in row[1:]] for row in table.rows]
    assert bold == [[False, True], [True, False], [False, False], [False, False]]


def test_a_second_run_of_the_same_has_a_row_of_its_own() -> None:
    results = [run(name, "m/a", {"one": [metric("one", 0.5)]}) for name in ("monday", "friday")]
    assert [row[0] for row in model_table(results, Baselines()).rows[:2]] == ["m/a (monday)", "m/a (friday)"]


def test_tasks_of_one_name_from_two_plugins_have_a_column_each() -> None:
    results = [run(name, f"m/{name}", {"rat": [metric("rat", 0.5)]}) for name in "ab"]
    results[1].results["tasks"][0]["qualified"] = "other/rat"
    table = model_table(results, Baselines())
    assert table.columns == ["model", "own/rat rat ↑", "other/rat rat ↑"]


def test_latex_has_real_minus_signs_bold_and_groups() -> None:
    results = [run(name, f"m/{name}", {"t_1": [metric("t_1", value)]}) for name, value in (("a", -0.5), ("b", 0.5))]
    table = model_table(results, Baselines(), letters=lambda column, entrants: ["a", "ab"])
    assert table.grouped
    latex = latex_text(table.columns, table.rows)
    stack = r"\begin{tabular}[t]{@{}l@{}}"
    assert rf"m/a & {stack}$-$0.500$^{{a}}$\\ {{\footnotesize [$-$0.600, $-$0.400]}}\end{{tabular}} \\" in latex
    assert rf"m/b & {stack}\textbf{{0.500}}$^{{ab}}$\\ {{\footnotesize [0.400, 0.600]}}\end{{tabular}} \\" in latex
    assert r"model & t\_1 $\uparrow$ \\" in latex and r"\toprule" in latex
    assert latex_text(["x"], [["gpt-5-mini"], ["1-2"], [-3], ["-.5 to -1e-9"]]).splitlines()[4:8] == [
        *("gpt-5-mini \\\\", "1-2 \\\\", "$-$3 \\\\", "$-$.5 to $-$1e-9 \\\\"),
    ]
    assert r"**0.500** <sup>ab</sup> \[0.400, 0.600\]" in markdown_text(table.columns, table.rows)


def test_latex_sets_long_names_on_several_lines_for_two_columns() -> None:
    latex = latex_text(
        ["model", "averylongname[embedded/x]", "task metric_of_it"], [["[x]", 1, 2], ["m" * 20 + "/" + "n" * 20, 3, 4]]
    )
    head, first, second = latex.splitlines()[2], latex.splitlines()[4], latex.splitlines()[5]
    # a bracket at the beginning of a line would be an argument of the line break before it
    assert head.count(r"\begin{tabular}[t]{@{}l@{}}") == 2 and r"averylongname\\ {}[embedded/x]" in head
    assert r"task metric\_\\ of\_it" in head
    assert first == r"{}[x] & 1 & 2 \\"
    assert rf"{'m' * 20}/\\ {'n' * 20}" in second


def test_floor_and_ceiling_are_not_said_twice() -> None:
    class Known(Baselines):
        def value_of(self, task: Any, metric: Any, which: str) -> float | None:
            return {"floor": 0.25, "ceiling": 1.0}[which]

    model, floor = (
        run(name, name, {"one": [metric("one", value)]}) for name, value in (("m/a", 0.5), ("baseline/floor", 0.25))
    )
    assert [row[0] for row in model_table([model], Known()).rows] == ["m/a", "floor", "ceiling", "n"]
    assert [row[0] for row in model_table([model, floor], Known()).rows] == ["m/a", "baseline/floor", "ceiling", "n"]
    other = run("f", "baseline/floor", {"one": [metric("one", 0.3)]})
    assert [row[0] for row in model_table([model, other], Known()).rows][1:3] == ["baseline/floor", "floor"]


def test_the_error_is_as_chosen() -> None:
    results = [run(name, f"m/{name}", {"one": [metric("one", 0.5)]}) for name in "ab"]
    assert texts(model_table(results, Baselines(), error="se"))[0][1] == "0.500 ± 0.050"
    assert texts(model_table(results, Baselines()))[0][1] == "0.500 [0.400, 0.600]"


def printed(results: list[RunResult], width: int) -> list[str]:
    out = io.StringIO()
    print_models(model_table(results, Baselines()), Console(file=out, width=width, force_terminal=False))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 100, 240])
def test_a_sweep_of_27_runs_over_seven_tasks_fits(width: int) -> None:
    names = [f"openrouter/some-provider/a-model-with-a-long-name-{i:02}-instruct-2026" for i in range(27)]
    tasks = [f"task_with_name_{i}" for i in range(7)]
    results = [
        run(f"r{i}", name, {task: [metric(f"metric_{task}[embedded/minilm]", i / 27) for _ in "1"] for task in tasks})
        for i, name in enumerate(names)
    ]
    lines = printed(results, width)
    assert max(map(len, lines)) <= min(width, 100)
    text = "".join("\n".join(lines).split())
    assert all(f"name-{i:02}-" in text for i in range(27)) and text.count("[0.863,1.063]") == 7
    assert not any(line.startswith("model  ") for line in lines), "no blocks"


@pytest.mark.parametrize("runs", [2, 3])
def test_two_and_three_runs_side_by_side_fit_in_100_columns(runs: int, capsys: pytest.CaptureFixture[str]) -> None:
    class Known(Baselines):
        def value_of(self, task: Any, metric: Any, which: str) -> float | None:
            return 71.31

    long = "drat[embedded/minilm]"
    tasks = {"kumo_easy": [metric("relative_action_count", -0.5), metric(long, 71.31)]}
    tasks["connections_own"] = [metric(long, 71.31, condition=f"temperature=1.{i}") for i in range(2)]
    results = [run(f"r{i}", f"openrouter/provider/model-with-a-long-name-{i}", tasks) for i in range(runs)]
    for baselines, show in ((Baselines(), print_runs), (Known(), print_runs), (Known(), print_results)):
        show(results, baselines)
        table = [line for line in capsys.readouterr().out.splitlines() if "95 % interval)" not in line]
        assert max(len(line.rstrip()) for line in table if "floor, ceiling:" not in line) <= 100


def test_tasks_that_differ_in_the_same_way_share_a_note() -> None:
    tasks = {name: [metric(name, 0.5)] for name in ("one", "two")}
    results = [run(f"r{i}", f"m/{i}", tasks, generation_overrides={"top_p": i / 2}) for i in range(2)]
    notes = [line for line in run_notes(results) if "cannot be compared" in line]
    assert notes == ["numbers of own/one, own/two cannot be compared: these runs differ in generation settings"]


def test_what_holds_of_all_runs_is_reported_once() -> None:
    own = {"generation_overrides": {"temperature": 0.5}}
    results = [run(f"r{i}", f"m/{i}", {"one": [metric("one", 0.5)]}, **own) for i in range(4)]
    assert run_notes(results) == ["--generation temperature=0.5"]
    results[0] = run("r0", "m/0", {"one": [metric("one", 0.5)]})
    assert "m/1, m/2, m/3: --generation temperature=0.5" in run_notes(results)


def test_names_fold_at_their_separators_and_lose_nothing() -> None:
    assert fold_name("drat[embedded/minilm]", 12) == "drat\n[embedded/\nminilm]"
    assert fold_name("openrouter/openai/gpt-5-mini", 18) == "openrouter/openai/\ngpt-5-mini"
    assert fold_name("abcdefghij", 4) == "abcdefghij"


@pytest.mark.parametrize("form", ["latex", "markdown"])
@pytest.mark.parametrize("layout", ["each", "runs", "models"])
def test_a_file_says_below_the_table_what_the_screen_says(layout: str, form: str, capsys: Any) -> None:
    results = [run(name, f"m/{name}", {"one": [metric("one", 0.5)]}) for name in "ab"[: 1 if layout == "each" else 2]]
    for each in results:
        each.results["tasks"][0]["generation_overrides"] = {"temperature": 0.7}
    found = lay_out(results, Baselines(), layout, groups=False)  # type: ignore[arg-type]
    found.print()
    screen = " ".join(capsys.readouterr().out.split())
    text = found.text(form)
    assert "--generation temperature=0.7" in screen
    assert "temperature=0.7" in text.partition("bottomrule" if form == "latex" else "\n\n")[2]
    if layout == "models":
        assert "best model" in screen
        assert "best model" in text


def test_notes_of_latex_are_escaped() -> None:
    assert latex_text(["a"], [["1"]], ["95 % of a_b"]).endswith(
        "\\end{tabular}\n\\par\\smallskip{\\footnotesize 95 \\% of a\\_b\\par}\n"
    )
