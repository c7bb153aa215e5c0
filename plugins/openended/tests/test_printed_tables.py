"""Means of the tables that the paper prints, by the arithmetic of the analyses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from creval_openended.validation.performance import overall

ROW = re.compile(r"^(\D.*?)((?: -?0?\.?\d\.?\d+| \d\.\d\d){5})$", re.MULTILINE)
TABLE_6 = (0.60, 0.74, 0.49)
TABLE_12 = (0.34, 0.50, 0.55, 0.57, 0.33, 0.57, 0.50, 0.49, 0.53, 0.55)
TABLE_14 = {
    "macgyver": {
        "min": (-0.03, -0.39, -0.32, -0.34),
        "max": (-0.49, -0.28, -0.12, -0.03),
        "mean": (-0.31, -0.47, -0.46, -0.42),
    },
    "bookmia": {
        "min": (-0.26, -0.41, -0.16, -0.36),
        "max": (-0.31, -0.39, -0.38, -0.07),
        "mean": (-0.31, -0.48, -0.23, -0.43),
    },
}


@pytest.fixture(scope="module")
def rows(reference_data: Path) -> list[tuple[str, list[float]]]:
    """The rows of Tables 3 to 5: model; entropy, three criteria, overall."""
    papers = list((reference_data.parent / "papers").glob("004_*.txt"))
    if not papers:
        pytest.skip("the text of arXiv: the framework's paper is not there")
    text = papers[0].read_text(encoding="utf-8")
    part = text[text.index("Table 3: Performance of various") : text.index("7 CONCLUSION")]
    found = [(name.strip(), [float(value) for value in numbers.split()]) for name, numbers in ROW.findall(part)]
    assert len(found) == 14 + 4 + 4
    return found


def test_overall_is_the_mean_of_the_criteria(rows: list[tuple[str, list[float]]], parity: Any) -> None:
    """Nineteen rows to the digit, three within the rounding of what is printed."""
    off = [abs(overall(numbers[1:4]) - numbers[4]) for _, numbers in rows]
    assert sum(each <= 0.005 + 1e-9 for each in off) == 19 and max(off) < 0.01 + 1e-9
    for number, task, own in ((3, "macgyver", rows[:14]), (4, "hypogen", rows[14:18]), (5, "bookmia", rows[18:])):
        pairs = [(overall(numbers[1:4]), numbers[4]) for _, numbers in own]
        against = f"Overall in each row of Table {number}, from its three criteria; no verdicts are published"
        parity.add(f"{task}_jury", {"against": against}, pairs, 0.005 + 1e-9)


def test_means_of_the_matrices_and_averages() -> None:
    assert overall(TABLE_6) == pytest.approx(0.61) and overall(TABLE_12) == pytest.approx(0.493)
    found = [overall(TABLE_14[domain][name]) for domain in TABLE_14 for name in ("min", "max", "mean")]
    assert found == pytest.approx([-0.27, -0.23, -0.415, -0.2975, -0.2875, -0.3625])
