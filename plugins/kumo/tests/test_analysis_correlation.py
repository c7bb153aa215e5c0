"""Correlation with other benchmarks: statistics, the table, and the names of models."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from support.run_folders import write_run

from creval.errors import DataError, UsageError
from creval_kumo.analysis.benchmark_table import match_models, read_benchmarks
from creval_kumo.analysis.commands.correlation import CorrelationAnalysis
from creval_kumo.analysis.correlation import correlate


def values(numbers: list[float]) -> dict[str, float]:
    return {f"m{index}": number for index, number in enumerate(numbers)}


def test_four_models_by_hand() -> None:
    """(1,2) (2,1) (3,4) (4,3): r = 3/5."""
    found = correlate(values([1, 2, 3, 4]), values([2, 1, 4, 3]))
    assert found.r == pytest.approx(0.6, abs=1e-12)
    assert found.p == pytest.approx(0.4, abs=1e-9)  # t = .75 sqrt 2 with two degrees of freedom


NUMBERS = st.floats(-1e3, 1e3).map(lambda x: round(x, 4))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=4, max_size=12))
def test_r_p_and_interval_are_scipys(points: list[tuple[float, float]]) -> None:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    found = correlate(values(xs), values(ys))
    if len(set(xs)) == 1 or len(set(ys)) == 1:
        assert found.r is None and found.reason
        return
    expected = pearsonr(xs, ys)
    assert found.r == pytest.approx(expected.statistic, abs=1e-6)
    if abs(expected.statistic) < 0.9999:
        assert found.p == pytest.approx(expected.pvalue, rel=1e-4, abs=1e-9)
        interval = expected.confidence_interval(0.95)
        assert (found.low, found.high) == (
            pytest.approx(interval.low, abs=1e-5),
            pytest.approx(interval.high, abs=1e-5),
        )


def test_only_models_with_both_numbers_count_and_three_are_needed() -> None:
    found = correlate({"a": 1, "b": 2, "c": 3, "x": 9}, {"a": 3, "b": 2, "c": 1, "y": 0})
    assert (found.n, found.r, found.low) == (3, pytest.approx(-1.0), None)
    few = correlate({"a": 1, "b": 2}, {"a": 1, "b": 2})
    assert few.r is None and "3 are needed" in (few.reason or "")


def test_a_table_is_read_with_its_gaps(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("\ufeffmodel,MMLU-Pro,LiveBench\n gpt-4o ,72.6,\n\nqwen,58,31.5\n", encoding="utf-8")
    table = read_benchmarks(path)
    assert table.models == ("gpt-4o", "qwen")
    assert table.scores == {"MMLU-Pro": {"gpt-4o": 72.6, "qwen": 58.0}, "LiveBench": {"qwen": 31.5}}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", ":1"),
        ("name,A\nx,1\n", ":1"),
        ("model\nx\n", ":1"),
        ("model,A,A\nx,1,2\n", ":1"),
        ("model,A\nx,1,2\n", ":2"),
        ("model,A\nx,1\nx,2\n", ":3"),
        ("model,A\n,1\n", ":2"),
        ("model,A\nx,1\ny,high\n", ":3, A"),
        ("model,A\nx,nan\n", ":2, A"),
        ("model,A\nx,inf\n", ":2, A"),
    ],
)
def test_a_malformed_table_is_refused_with_its_line(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "b.csv"
    path.write_text(text)
    with pytest.raises(DataError) as refused:
        read_benchmarks(path)
    assert (refused.value.where or "").endswith(where)


def test_models_match_by_alias_then_name_then_last_part() -> None:
    ours = ["openai/gpt-4o", "qwen", "openrouter/meta/llama", "x/twin", "y/twin"]
    theirs = ["GPT-4o", "qwen", "LLaMA 70B", "twin"]
    found = match_models(ours, theirs, ["openrouter/meta/llama=LLaMA 70B"])
    assert found == {"openrouter/meta/llama": "LLaMA 70B", "qwen": "qwen", "openai/gpt-4o": "GPT-4o"}
    for alias in ("nobody=qwen", "qwen=nobody", "qwen"):
        with pytest.raises(UsageError, match="no pair"):
            match_models(ours, theirs, [alias])


def run_folder(path: Path, model: str, success: float, count: float) -> str:
    """The results of a run, as far as the analysis reads them."""
    metrics = [
        {"name": "success_rate", "condition": None, "value": success},
        {"name": "success_rate", "condition": "t=1", "value": 0.0},
        {"name": "relative_action_count", "condition": None, "value": count},
        {"name": "tests", "condition": None, "value": 3.0},
    ]
    return str(write_run(path, model, [{"task": "kumo_easy", "metrics": metrics}]))


def test_the_command_correlates_both_measures_with_every_benchmark(tmp_path: Path) -> None:
    measures = [("a/m1", 0.9, 0.1), ("a/m2", 0.7, 0.4), ("a/m3", 0.5, 0.5), ("a/m4", 0.4, 0.9), ("a/m5", 0.1, 1.0)]
    runs = [run_folder(tmp_path / f"r{i}", *one) for i, one in enumerate(measures)]
    table = tmp_path / "b.csv"
    table.write_text("model,MMLU-Pro,Few\nm1,80,1\nm2,75,2\nm3,60,\nm4,55,\nother,1,3\n")
    output = CorrelationAnalysis().run(runs, csv=str(table), alias=(), output=str(tmp_path / "out"))
    found = {(row[0], row[2]): row for row in output.rows}
    up, down = found["MMLU-Pro", "success_rate"], found["MMLU-Pro", "relative_action_count"]
    assert up[3] == down[3] == 4
    assert up[4] == pytest.approx(pearsonr([0.9, 0.7, 0.5, 0.4], [80, 75, 60, 55]).statistic)
    assert down[4] == pytest.approx(pearsonr([0.1, 0.4, 0.5, 0.9], [80, 75, 60, 55]).statistic)
    assert found["Few", "success_rate"][4] is None
    assert any("3 are needed" in note for note in output.notes)
    assert any("a/m5" in note for note in output.notes)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "correlation.csv", "correlation.json", "correlation.png", "correlation.svg",
    }  # fmt: skip


def test_two_runs_of_one_model_are_ambiguous(tmp_path: Path) -> None:
    runs = [run_folder(tmp_path / name, "a/m1", 0.5, 0.5) for name in ("one", "two")]
    table = tmp_path / "b.csv"
    table.write_text("model,A\nm1,1\n")
    with pytest.raises(DataError, match="two values"):
        CorrelationAnalysis().run(runs, csv=str(table))


def test_runs_and_table_are_both_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--csv"):
        CorrelationAnalysis().run([], csv=str(tmp_path))
    with pytest.raises(UsageError, match="--csv"):
        CorrelationAnalysis().run([str(tmp_path)], csv=None)
