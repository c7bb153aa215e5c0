"""Plots: they are drawn, they hold what they should, and equal results give equal files."""

from __future__ import annotations

from pathlib import Path

import pytest

from creval_validity.analyses.ablation import analyse_ablation, parse_ablation
from creval_validity.analyses.validity import ValidityRequest, ValidityResult, analyse_validity
from creval_validity.output.plot_ablation import plot_ablations
from creval_validity.output.plot_frontier import plot_benchmarks, plot_constructs
from creval_validity.output.plot_matrix import plot_matrices
from creval_validity.stats.matrix import correlation_matrix
from creval_validity.tables.catalogue import names_of
from creval_validity.tables.shipped import shipped_table

TESTS = ("dat", "rat")
REQUEST = ValidityRequest(TESTS, ("arena_cw", "hivemind"), bootstrap=None)


@pytest.fixture(scope="module")
def result() -> ValidityResult:
    return analyse_validity(shipped_table(), REQUEST)


def draw(kind: str, result: ValidityResult, base: Path) -> tuple[Path, ...]:
    if kind == "benchmarks":
        return plot_benchmarks(result, base)
    if kind == "constructs":
        return plot_constructs(result, base)
    if kind == "matrices":
        return plot_matrices([("tests", correlation_matrix(shipped_table(), TESTS))], base)
    ablation = analyse_ablation(shipped_table(), parse_ablation("facet: novelty=cdat_n, fit=cdat_a"), REQUEST)
    return plot_ablations([ablation], base)


@pytest.mark.parametrize("kind", ["benchmarks", "constructs", "matrices", "ablations"])
def test_the_same_bytes_again(kind: str, result: ValidityResult, tmp_path: Path) -> None:
    first = draw(kind, result, tmp_path / "a" / "plot")
    second = draw(kind, result, tmp_path / "b" / "plot")
    assert [path.suffix for path in first] == [".png", ".svg"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
        assert one.stat().st_size > 5000
    assert first[0].read_bytes().startswith(b"\x89PNG")
    svg = first[1].read_text(encoding="utf-8")
    assert "<svg" in svg
    assert "<dc:date>" not in svg


def test_plotting_leaves_matplotlib_as_it_was(result: ValidityResult, tmp_path: Path) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    plot_benchmarks(result, tmp_path / "p")
    assert dict(mpl.rcParams) == before


def test_a_matrix_says_where_models_are_too_few() -> None:
    matrix = correlation_matrix(shipped_table(), names_of("benchmark"))
    assert matrix.cell("mazur_cw", "hivemind").n == 8
    assert matrix.cell("mazur_cw", "mazur_cw").r == 1.0
    assert matrix.cell("eq_bench_cw", "arena_cw").r == matrix.cell("arena_cw", "eq_bench_cw").r
