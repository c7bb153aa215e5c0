"""The computed blocks of `docs/validity.md`: each is between two marks and is rewritten from the tables.

`python -m creval_validity.output.document docs/validity.md` rewrites them; a test fails if they differ.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from creval.plugin import DataError
from creval_validity.analyses.nested import NestedRequest, analyse_nested
from creval_validity.analyses.reproduction import CAUSES, Comparison, reproduce_table1
from creval_validity.analyses.validity import ValidityRequest, ValidityResult, analyse_validity
from creval_validity.output.text import chance, number
from creval_validity.stats.correlation import Correlation, stars
from creval_validity.stats.matrix import pair_correlation
from creval_validity.tables.catalogue import label, names_of
from creval_validity.tables.shipped import paper_correlations, paper_regressions, readings, shipped_table

__all__ = ["BLOCKS", "main", "rewrite"]

_BLOCK = re.compile(r"(<!-- computed: (?P<name>[a-z_]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _analysis() -> ValidityResult:
    return analyse_validity(shipped_table(), ValidityRequest(names_of("test"), names_of("benchmark")))


def _interval(found: Correlation | None) -> str:
    if found is None or found.bootstrap is None:
        return "-"
    low, high = found.bootstrap.low, found.bootstrap.high
    return f"{number(found.r)} [{number(low)}, {number(high)}]"


def _recomputed() -> str:
    """Return every recomputed cell next to the paper's."""
    comparisons = reproduce_table1()
    rows = []
    for v, s in zip(comparisons[::2], comparisons[1::2], strict=True):
        rows.append(
            [
                label(v.test),
                label(v.benchmark),
                str(v.n),
                *(part for one in (v, s) for part in _comparison_cells(one)),
            ]
        )
    return _markdown(["test", "benchmark", "n", "r paper", "r here", "why", "r\\|g paper", "r\\|g here", "why"], rows)


def _comparison_cells(one: Comparison) -> list[str]:
    return [number(one.printed) + one.printed_stars, number(one.recomputed) + stars(one.p), one.cause]


def _causes() -> str:
    """Return how many of the recomputed numbers each cause explains, by test."""
    comparisons = reproduce_table1()
    rows = []
    for test in dict.fromkeys(one.test for one in comparisons):
        mine = [one for one in comparisons if one.test == test]
        largest = max(mine, key=lambda one: abs(one.difference))
        where = f"{number(largest.difference)} ({label(largest.benchmark)}, {largest.criterion})"
        rows.append([label(test), mine[0].block, *(str(sum(o.cause == c for o in mine)) for c in CAUSES), where])
    total = [str(sum(one.cause == cause for one in comparisons)) for cause in CAUSES]
    rows.append(["all", "", *total, ""])
    return _markdown(["test", "block of Table 1", *CAUSES, "largest difference"], rows)


def _predicts() -> str:
    """Return every test against every benchmark with bootstrap intervals and q."""
    result = _analysis()
    rows = []
    for benchmark in result.request.benchmarks:
        for test in result.request.tests:
            cell = result.cell(test, benchmark)
            rows.append(
                [
                    label(benchmark),
                    label(test),
                    str(cell.n),
                    _interval(cell.validity),
                    chance(cell.validity_q),
                    _interval(cell.specificity),
                    chance(cell.specificity_q),
                    number(cell.distance, sign=False),
                ]
            )
    return _markdown(["benchmark", "test", "n", "r [95 %]", "q", "r\\|g [95 %]", "q", "to (v\\*, s\\*)"], rows)


def _summary() -> str:
    """Return, per benchmark, its coupling, the optimum, and the tests with significant validity or specificity."""
    result = _analysis()
    rows = []
    for panel in result.panels:
        cells = [result.cell(test, panel.benchmark) for test in result.request.tests]
        valid = [c for c in cells if c.validity and c.validity_q is not None and c.validity_q < 0.05]
        specific = [c for c in cells if c.specificity and c.specificity_q is not None and c.specificity_q < 0.05]
        nearest = min((c for c in cells if c.distance is not None), key=lambda c: c.distance or 0.0)
        v = ", ".join(f"{label(c.test)} {number(c.validity.r)}" for c in valid if c.validity) or "none"
        s = ", ".join(f"{label(c.test)} {number(c.specificity.r)}" for c in specific if c.specificity) or "none"
        rows.append(
            [
                label(panel.benchmark),
                str(panel.n),
                number(panel.coupling, sign=False),
                number(panel.optimum, sign=False),
                v,
                s,
                f"{label(nearest.test)} ({number(nearest.distance, sign=False)} away)",
            ]
        )
    return _markdown(
        ["benchmark", "n", "R", "v\\* = s\\*", "valid (q < .05)", "specific (q < .05)", "nearest to (v\\*, s\\*)"], rows
    )


def _nested() -> str:
    """Return Section 4.4 next to its recomputation."""
    table = shipped_table()
    rows = []
    for printed in paper_regressions():
        found = analyse_nested(table, NestedRequest(printed.target, printed.base, printed.added))
        base, added = (" + ".join(label(name) for name in names) for names in (printed.base, printed.added))
        total = printed.df2 + len(printed.base) + len(printed.added) + 1
        theirs = (total, printed.r2_base, printed.r2_full, printed.df1, printed.df2, printed.f, printed.p)
        ours = (found.n, found.base.r2, found.full.r2, found.df1, found.df2, found.f, found.p)
        for who, (n, small, large, df1, df2, f, p) in (("paper", theirs), ("here", ours)):
            test = f"F({df1},{df2}) = {f:.2f}"
            rows.append([base, added, who, str(n), f"{small:.3f}", f"{large:.3f}", test, chance(p)])
    return _markdown(["base", "added", "", "n", "R2 base", "R2 with added", "F", "p"], rows)


def _correlations() -> str:
    """Return the correlations from the text and Table 2, next to their recomputation."""
    table = shipped_table()
    rows = []
    for printed in paper_correlations():
        found = pair_correlation(table, printed.x, printed.y)
        rows.append(
            [printed.place, label(printed.x), label(printed.y), number(printed.r), number(found.r), str(found.n)]
        )
    return _markdown(["place", "", "", "r paper", "r here", "n here"], rows)


def _readings() -> str:
    """Return the rows of Tables 3 and 4 that column order and value ranges do not determine."""
    rows = [
        [str(one.table), one.model, ", ".join(label(name) for name in one.columns), str(one.alternatives), one.reason]
        for one in readings()
    ]
    return _markdown(["table", "model", "columns with a value", "readings possible", "why this one"], rows)


BLOCKS: Mapping[str, Callable[[], str]] = {
    "summary": _summary,
    "predicts": _predicts,
    "causes": _causes,
    "recomputed": _recomputed,
    "nested": _nested,
    "correlations": _correlations,
    "readings": _readings,
}


def rewrite(text: str) -> str:
    """Return the document with every computed block rewritten. Raises DataError for an unknown mark."""

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in BLOCKS:
            raise DataError(f"no computed block is called {name!r}", fix=f"Blocks: {', '.join(BLOCKS)}.")
        return f"{match[1]}{BLOCKS[name]()}\n{match[3]}"

    return _BLOCK.sub(replace, text)


def main(arguments: Sequence[str]) -> None:
    """Rewrite the computed blocks of the named files."""
    for name in arguments:
        path = Path(name)
        path.write_text(rewrite(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
