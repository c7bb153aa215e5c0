"""Trends: z-scores, construct means, the line, and dates that are missing."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from creval.errors import DataError, UsageError
from creval_validity.analyses.trend import DAYS_PER_YEAR, TrendRequest, analyse_trend
from creval_validity.analyses.trend_command import TrendAnalysis
from creval_validity.stats.line import fit_line
from creval_validity.tables.score_table import ScoreTable
from creval_validity.tables.shipped import shipped_table


def dated(days: list[int], scores: dict[str, list[float]]) -> ScoreTable:
    models = tuple(f"m{i}" for i in range(len(days)))
    start = date(2023, 3, 1)
    return ScoreTable(
        models,
        {name: np.array(values, dtype=float) for name, values in scores.items()},
        {},
        {model: start + timedelta(days=day) for model, day in zip(models, days, strict=True)},
    )


def test_a_line_by_hand_and_by_scipy() -> None:
    from scipy import stats

    x, y = np.array([0.0, 1, 2, 3, 5]), np.array([1.0, 3, 2, 5, 6])
    line, other = fit_line(x, y), stats.linregress(x, y)
    assert line.slope == pytest.approx(other.slope)
    assert line.intercept == pytest.approx(other.intercept)
    assert line.standard_error == pytest.approx(other.stderr)
    assert line.p == pytest.approx(other.pvalue)
    assert line.r == pytest.approx(other.rvalue)
    assert line.high - line.slope == pytest.approx(stats.t.ppf(0.975, 3) * other.stderr)


def test_the_slope_is_in_z_a_year() -> None:
    days = [0, 365, 731, 1096, 1461]
    table = dated(days, {"mazur_cw": [6.0, 6.5, 7.0, 7.5, 8.0]})
    trend = analyse_trend(table, TrendRequest(("mazur_cw",))).trends[0]
    z_step = 0.5 / np.std([6.0, 6.5, 7.0, 7.5, 8.0])
    assert trend.line.slope == pytest.approx(z_step, rel=1e-3)
    assert trend.points[-1].score == pytest.approx(2 * z_step)
    assert trend.line.at(1461 / DAYS_PER_YEAR) == pytest.approx(2 * z_step, abs=1e-2)


def test_constructs_average_what_a_model_has() -> None:
    nan = float("nan")
    table = dated([0, 100, 200, 300, 400], {"mazur_cw": [1, 2, 3, nan, 5], "eq_bench_cw": [nan, 9, 8, 7, 6]})
    loose = analyse_trend(table, TrendRequest(("mazur_cw", "eq_bench_cw"))).trends[0]
    assert loose.line.n == 5
    with pytest.raises(DataError, match="3 points are too few"):
        analyse_trend(table, TrendRequest(("mazur_cw", "eq_bench_cw"), gaps="exclude"))


def test_a_construct_without_dates_is_named() -> None:
    table = dated([0, 100, 200, 300], {"mazur_cw": [1, 2, 3, 5], "hivemind": [float("nan")] * 3 + [0.2]})
    result = analyse_trend(table, TrendRequest(("mazur_cw", "hivemind")))
    assert [trend.construct for trend in result.trends] == ["creative writing"]
    assert result.skipped[0][0] == "divergent thinking"


def test_the_shipped_tables_have_no_dates() -> None:
    with pytest.raises(DataError, match="none of the 54 models with a score has a date") as caught:
        analyse_trend(shipped_table(), TrendRequest(("arena_cw",)))
    assert "the paper prints no release dates" in str(caught.value)


def test_one_date_makes_no_trend() -> None:
    with pytest.raises(DataError, match="one date"):
        analyse_trend(dated([5] * 5, {"mazur_cw": [1, 2, 3, 4, 6]}), TrendRequest(("mazur_cw",)))
    with pytest.raises(UsageError, match="no benchmark"):
        TrendRequest(())


def test_the_command_joins_a_csv_of_dates_to_the_shipped_scores(tmp_path: Path) -> None:
    file = tmp_path / "dates.csv"
    dates = {"gpt-3-5-turbo": "2023-03-01", "gpt-4-turbo": "2024-04-09", "gpt-4.1": "2025-04-14", "gpt-5": "2025-08-07"}
    file.write_text("model,date\n" + "\n".join(f"openai/{m},{d}" for m, d in dates.items()) + "\n", encoding="utf-8")
    output = TrendAnalysis().run([], csv=[str(file)], benchmark=["arena_cw"], output=str(tmp_path / "o"))
    assert output.rows[0][:2] == ("creative writing", 4)
    assert float(output.rows[0][2]) > 0
    assert output.rows[0][-2:] == ("2023-03-01", "2025-08-07")
    assert "50 models with a score and no date" in output.notes[-1]
    names = sorted(Path(f).name for f in output.files)
    assert names == ["trend.csv", "trend.json", "trend.png", "trend.svg", "trend_models.csv"]
    models = (tmp_path / "o" / "trend_models.csv").read_text(encoding="utf-8").splitlines()
    assert models[1].startswith("creative writing,gpt-3-5-turbo,OpenAI,2023-03-01,-")
