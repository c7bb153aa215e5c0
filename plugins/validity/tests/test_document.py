"""docs/validity.md: its computed parts are what is computed, and what its prose says holds of the numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from creval.errors import DataError
from creval_validity.analyses.reproduction import reproduce_table1
from creval_validity.analyses.validity import ValidityRequest, ValidityResult, analyse_validity
from creval_validity.output.document import BLOCKS, rewrite
from creval_validity.stats.correlation import p_value
from creval_validity.tables.catalogue import names_of
from creval_validity.tables.shipped import paper_regressions, shipped_table, table3, table4

PAGE = Path(__file__).parents[3] / "docs" / "validity.md"
WRITING = ("arena_cw", "eq_bench_cw", "mazur_cw")


@pytest.fixture(scope="module")
def result() -> ValidityResult:
    return analyse_validity(shipped_table(), ValidityRequest(names_of("test"), names_of("benchmark")))


def test_the_computed_parts_are_up_to_date() -> None:
    """Where this fails: python -m creval_validity.output.document docs/validity.md"""
    text = PAGE.read_text(encoding="utf-8")
    assert rewrite(text) == text
    for name in BLOCKS:
        assert text.count(f"<!-- computed: {name} -->") == 1


def test_a_mark_of_no_block_is_refused() -> None:
    with pytest.raises(DataError, match="'nothing'"):
        rewrite("<!-- computed: nothing -->\n<!-- end -->\n")
    assert rewrite("plain text") == "plain text"


def test_writing_is_predicted_as_the_page_says(result: ValidityResult) -> None:
    valid = {b: {t for t in names_of("test") if (result.cell(t, b).validity_q or 0.0) < 0.05} for b in WRITING}
    assert valid["arena_cw"] == valid["eq_bench_cw"] == {"dat", "pace", "rat", "cdat_a", "drat"}
    assert valid["mazur_cw"] == {"dat", "pace"}
    assert all(0.8 <= (p.coupling or 0) <= 0.995 for p in result.panels if p.benchmark in WRITING)
    best = sorted(names_of("test"), key=lambda t: -result.cell(t, "arena_cw").validity.r)  # type: ignore[union-attr]
    assert best[:2] == ["rat", "pace"]


def test_no_specificity_is_significant(result: ValidityResult) -> None:
    assert all(cell.specificity is not None and cell.specificity.p > 0.05 for cell in result.cells)


def test_divergent_thinking_as_the_page_says(result: ValidityResult) -> None:
    for benchmark in ("hivemind", "noveltybench"):
        for test in names_of("test"):
            cell = result.cell(test, benchmark)
            assert cell.validity is not None
            assert cell.validity_q is not None
            assert (cell.validity.r > 0) == (test in ("cdat", "cdat_n"))
            assert cell.validity_q > 0.05
            assert 8 <= cell.n <= 21


def test_drat_leads_on_ideation_without_significance(result: ValidityResult) -> None:
    cells = {test: result.cell(test, "liveideabench") for test in names_of("test")}
    drat = cells.pop("drat")
    assert drat.n == 15
    assert drat.validity is not None
    assert drat.specificity is not None
    assert min(drat.validity.p, drat.specificity.p) > 0.05
    for other in cells.values():
        assert other.validity is not None
        assert other.specificity is not None
        assert other.validity.r < drat.validity.r
        assert other.specificity.r < drat.specificity.r


def test_the_bootstrap_caution(result: ValidityResult) -> None:
    cell = result.cell("drat", "eq_bench_cw")
    assert cell.specificity is not None
    assert cell.specificity.bootstrap is not None
    assert cell.specificity.bootstrap.low > 0
    assert cell.specificity.p == pytest.approx(0.06, abs=0.005)


def test_critical_values_and_stars() -> None:
    assert p_value(0.46, 20, 2)[1] > 0.05 > p_value(0.47, 20, 2)[1]
    assert p_value(0.23, 27, 2)[1] == pytest.approx(0.27, abs=0.005)
    assert p_value(0.23, 24, 2)[1] > p_value(0.23, 27, 2)[1]
    assert math.sqrt(paper_regressions()[1].r2_base) == pytest.approx(0.50, abs=0.005)


def test_causes_as_the_page_says() -> None:
    comparisons = {(c.test, c.benchmark, c.criterion): c for c in reproduce_table1()}
    for (test, _, _), one in comparisons.items():
        assert one.cause != "other data" or test in ("dat", "pace", "drat")
    for benchmark in WRITING:
        assert comparisons["dat", benchmark, "validity"].cause == "other data"
    assert comparisons["pace", "arena_cw", "validity"].cause == "other data"
    golden = [
        comparisons[test, benchmark, criterion]
        for test in ("rat", "cdat_a")
        for benchmark in ("arena_cw", "eq_bench_cw")
        for criterion in ("validity", "specificity")
    ]
    assert sum(abs(one.difference) <= 0.02 for one in golden) == 7
    assert comparisons["cdat_a", "eq_bench_cw", "specificity"].cause == "one model"


@pytest.mark.parametrize("left_out", ["gemini-2-5-pro", "mistral-nemo"])
def test_the_models_that_close_the_gap(left_out: str) -> None:
    cells = {model: row for model, row in shipped_table().cells().items() if model != left_out}
    table = type(shipped_table()).from_cells(cells)
    cell = analyse_validity(table, ValidityRequest(("cdat_a",), ("eq_bench_cw",), bootstrap=None)).cells[0]
    assert cell.specificity is not None
    assert cell.specificity.r == pytest.approx(0.05, abs=0.01)


def test_models_with_a_drat_of_zero() -> None:
    zero = {model for model, row in table3().cells().items() if row.get("drat") == 0.0}
    assert zero == {"gemini-2-5-pro", "deepseek-chat-v3-0324"}
    assert all("liveideabench" not in table4().cells()[model] for model in zero)


def test_one_model_turns_a_sign_on_noveltybench() -> None:
    assert any(
        one.benchmark == "noveltybench" and one.one_model.low < 0 < one.one_model.high for one in reproduce_table1()
    )
    table = shipped_table()
    both = table.names_in(table.pool(("liveideabench", "arena_overall", "mmlu_pro")))
    assert (len(both), len(set(both) & set(table3().models))) == (20, 16)
