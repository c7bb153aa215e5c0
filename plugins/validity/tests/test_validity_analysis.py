"""`creval analyse validity` as functions: cells, pools, families, panels, and the files that it writes."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from creval.errors import CrevalError, DataError, UnknownNameError, UsageError
from creval_validity.analyses.validity import ValidityRequest, analyse_validity
from creval_validity.analyses.validity_command import ValidityAnalysis
from creval_validity.stats.bootstrap import Bootstrap
from creval_validity.stats.correlation import pearson
from creval_validity.stats.frontier import Frontier
from creval_validity.stats.multiple_testing import benjamini_hochberg
from creval_validity.tables.catalogue import names_of
from creval_validity.tables.score_table import ScoreTable
from creval_validity.tables.shipped import shipped_table

FAST: dict[str, Any] = {"bootstrap": 0, "no_plots": True}


def request(**changes: Any) -> ValidityRequest:
    given: dict[str, Any] = {"tests": ("dat", "rat"), "benchmarks": ("arena_cw", "noveltybench"), "bootstrap": None}
    return ValidityRequest(**{**given, **changes})


def test_cells_are_in_the_order_asked() -> None:
    result = analyse_validity(shipped_table(), request())
    assert [(c.test, c.benchmark) for c in result.cells] == [
        ("dat", "arena_cw"),
        ("dat", "noveltybench"),
        ("rat", "arena_cw"),
        ("rat", "noveltybench"),
    ]
    cell = result.cell("dat", "arena_cw")
    assert (cell.n, len(cell.models), cell.construct) == (39, 39, "creative writing")
    assert cell.validity is not None
    assert cell.specificity is not None
    assert (cell.validity.df, cell.specificity.df, cell.specificity.k) == (37, 35, 2)


def test_theorem_1_holds_in_every_cell() -> None:
    result = analyse_validity(shipped_table(), request(tests=names_of("test"), benchmarks=names_of("benchmark")))
    assert len(result.cells) == 42
    for cell in result.cells:
        assert cell.validity is not None
        assert cell.specificity is not None
        assert cell.coupling is not None
        assert cell.ceiling is not None
        frontier = Frontier(cell.coupling)
        assert frontier.lower(cell.validity.r) - 1e-9 <= cell.specificity.r <= cell.ceiling + 1e-9
        assert cell.headroom == pytest.approx(cell.ceiling - cell.specificity.r)
        assert cell.distance == pytest.approx(frontier.distance(cell.validity.r, cell.specificity.r))


def test_q_is_adjusted_over_all_cells_one_family_a_criterion() -> None:
    result = analyse_validity(shipped_table(), request())
    for criterion in ("validity", "specificity"):
        p = [getattr(cell, criterion).p for cell in result.cells]
        assert [getattr(cell, f"{criterion}_q") for cell in result.cells] == benjamini_hochberg(p)


def test_pool_each_takes_validity_on_more_models() -> None:
    table = shipped_table()
    same = analyse_validity(table, request()).cell("rat", "arena_cw")
    each = analyse_validity(table, request(pool="each")).cell("rat", "arena_cw")
    assert same.validity is not None
    assert each.validity is not None
    assert (same.validity.n, each.validity.n) == (36, 49)
    both = table.pool(("rat", "arena_cw"))
    assert each.validity.r == pytest.approx(pearson(table.column("rat")[both], table.column("arena_cw")[both]))
    assert each.specificity == same.specificity
    assert each.ceiling == same.ceiling


def test_any_set_of_capabilities() -> None:
    table = shipped_table()
    alone = analyse_validity(table, request(capabilities=("arena_overall",))).cell("rat", "arena_cw")
    assert alone.specificity is not None
    assert (alone.n, alone.specificity.k, alone.specificity.df) == (49, 1, 46)
    none = analyse_validity(table, request(capabilities=())).cell("rat", "arena_cw")
    assert none.specificity is not None
    assert none.validity is not None
    assert none.specificity.r == pytest.approx(none.validity.r)
    assert none.coupling == pytest.approx(0.0, abs=1e-7)


def test_a_cell_without_enough_models_keeps_its_place_and_says_why() -> None:
    rows = {f"m{i}": {"t": i % 3, "y": i, "g": math.sin(i), **({"z": i} if i < 3 else {})} for i in range(9)}
    table = ScoreTable.from_cells(rows)
    result = analyse_validity(table, ValidityRequest(("t",), ("y", "z"), ("g",), bootstrap=Bootstrap(draws=100)))
    assert result.cell("t", "y").validity is not None
    small = result.cell("t", "z")
    assert (small.n, small.validity, small.specificity, small.validity_q) == (3, None, None, None)
    assert small.reason == "t and z: 3 models have every score; 5 models are needed with 1 controls"
    assert result.panels[1].coupling is None
    assert result.panels[1].reason == "3 models are too few"


def test_a_constant_test_is_no_zero() -> None:
    rows = {f"m{i}": {"t": 5.0, "u": i, "y": i * i, "g": math.sin(i)} for i in range(9)}
    result = analyse_validity(ScoreTable.from_cells(rows), ValidityRequest(("t", "u"), ("y",), ("g",), bootstrap=None))
    assert result.cell("t", "y").validity is None
    assert "the same for all 9 models" in str(result.cell("t", "y").reason)
    assert result.cell("u", "y").validity is not None


def test_nothing_to_compute_is_an_error() -> None:
    table = ScoreTable.from_cells({f"m{i}": {"t": i, "y": i * i, "g": math.sin(i)} for i in range(3)})
    with pytest.raises(DataError, match="no test can be compared"):
        analyse_validity(table, ValidityRequest(("t",), ("y",), ("g",), bootstrap=None))


def test_unknown_columns_name_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        analyse_validity(shipped_table(), request(tests=("cdat_nn",)))
    assert "cdat_n" in str(caught.value)
    with pytest.raises(UsageError, match="are among both the tests and the benchmarks"):
        request(tests=("dat", "arena_cw"))
    with pytest.raises(UsageError, match="nothing to correlate"):
        request(tests=())


def test_construct_means() -> None:
    result = analyse_validity(shipped_table(), request(tests=("dat",), benchmarks=("arena_cw", "mazur_cw", "hivemind")))
    writing = result.constructs[0]
    cells = [result.cell("dat", name) for name in ("arena_cw", "mazur_cw")]
    assert (writing.construct, writing.cells) == ("creative writing", 2)
    assert writing.validity == pytest.approx(np.mean([c.validity.r for c in cells if c.validity]))
    assert [mean.construct for mean in result.constructs] == ["creative writing", "divergent thinking"]


def test_the_analysis_runs_on_the_shipped_tables_alone() -> None:
    output = ValidityAnalysis().run([], **FAST)
    assert len(output.rows) == 42
    assert len(output.columns) == len(output.rows[0])
    assert any("F(1,11)" in note for note in output.notes)
    assert any("Benjamini-Hochberg" in note for note in output.notes)
    assert json.dumps(output.data, allow_nan=False)


def test_own_scores_next_to_the_shipped_benchmarks(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    models = [model for model in shipped_table().models if model.startswith(("gpt", "claude", "gemini"))]
    lines = [f"openrouter/x/{model},{i * 7 % 11}" for i, model in enumerate(models)]
    file.write_text("model,my_test\n" + "\n".join(lines) + "\nstranger,3\n", encoding="utf-8")
    output = ValidityAnalysis().run([], csv=[str(file)], test=["my_test"], benchmark=["arena_cw"], **FAST)
    assert len(output.rows) == 1
    assert output.rows[0][2] > 10
    assert "stranger is not in the shipped tables" in " ".join(output.notes)


def test_a_csv_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    rows = [f"m{i},{i % 5},{i * i % 7},{math.cos(i)}" for i in range(12)]
    file.write_text("model,t,y,g\n" + "\n".join(rows) + "\n", encoding="utf-8")
    given: dict[str, Any] = {"csv": (str(file),), "shipped": "none", "test": ("t",), "benchmark": ("y",), **FAST}
    assert ValidityAnalysis().run([], capability=["g"], **given).rows[0][2] == 12
    assert ValidityAnalysis().run([], capability=["none"], **given).rows[0][2] == 12
    with pytest.raises(UnknownNameError, match="arena_overall"):
        ValidityAnalysis().run([], **given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shipped": "benchmark"}, "benchmarks"),
        ({"pool": "sam"}, "same"),
        ({"conflict": "yours"}, "mine"),
        ({"bootstrap": 7}, "bootstrap draws"),
        ({"test": ["datt"]}, "dat"),
        ({"nested": ["a ~ b"]}, "not a nested comparison"),
        ({"ablation": ["k"]}, "not an ablation"),
        ({"shipped": "none"}, "no scores to analyse"),
        ({"confidence": 2.0}, "not between 0 and 1"),
        ({"shipped": "tests"}, "no benchmark column"),
    ],
)
def test_wrong_options_name_the_right_ones(options: dict[str, Any], words: str) -> None:
    with pytest.raises(CrevalError) as caught:
        ValidityAnalysis().run([], **{**FAST, **options})
    assert words in str(caught.value)


def test_the_files(tmp_path: Path) -> None:
    output = ValidityAnalysis().run([], output=str(tmp_path), bootstrap=200, no_plots=True)
    assert sorted(Path(f).name for f in output.files) == ["nested.csv", "validity.csv", "validity.json"]
    with (tmp_path / "validity.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 42
    first = rows[0]
    assert float(first["validity_low"]) < float(first["validity_r"]) < float(first["validity_high"])
    assert float(first["validity_boot_low"]) < float(first["validity_boot_high"])
    record = json.loads((tmp_path / "validity.json").read_text(encoding="utf-8"))
    assert record["analysis"] == "validity"
    assert len(record["result"]["cells"]) == 42
    assert "NaN" not in (tmp_path / "validity.json").read_text(encoding="utf-8")


def test_the_files_are_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        ValidityAnalysis().run([], output=str(tmp_path / name), bootstrap=200, no_plots=True)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_an_output_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        ValidityAnalysis().run([], output=str(tmp_path / "file"), **FAST)
