"""Figure 11: three distributions of DAT scores."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

import creval
from creval.plugin import DataError, RunError, open_run
from creval_association.dat_distributions import DatDistributions


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("creval_embedded")
    folder = tmp_path_factory.mktemp("dat")
    made = {}
    for name in ("floor", "ceiling"):
        options = creval.RunOptions(
            output=folder / name, repeats=3, resources={"embedding": "embedded/minilm"}, offline=True
        )
        made[name] = str(creval.run(["dat"], f"baseline/{name}", options).folder)
    return made


def test_each_group_against_its_scores(runs: dict[str, str], tmp_path: Path) -> None:
    people = tmp_path / "study.tsv"
    people.write_text("dat\tvalids\n80.5\t10\nNA\t3\n70\t9\n")
    output = DatDistributions().run(list(runs.values()), people=str(people), output=str(tmp_path / "figures"))
    rows = {row[0]: dict(zip(output.columns, row, strict=True)) for row in output.rows}
    assert list(rows) == ["people", "baseline/ceiling", "baseline/floor"]
    assert (rows["people"]["n"], rows["people"]["mean"]) == (2, 75.25)
    assert (rows["people"]["paper n"], rows["people"]["paper mean"], rows["people"]["paper SD"]) == (141, 78.4, 6.4)
    for name, folder in runs.items():
        own = [score.scores["dat"] for score in open_run(folder).scores("dat") if "1.0" in score.key.condition]
        row = rows[f"baseline/{name}"]
        assert (row["n"], row["mean"]) == (3, pytest.approx(statistics.fmean(own)))
        assert row["SD"] == pytest.approx(statistics.stdev(own))
    assert rows["baseline/ceiling"]["mean"] > rows["baseline/floor"]["mean"]
    assert [Path(file).suffix for file in output.files] == [".csv", ".json", ".png", ".svg"]


def test_people_of_the_first_study_are_those_of_the_figure(runs: dict[str, str], reference_data: Path) -> None:
    output = DatDistributions().run([runs["floor"]], people=str(reference_data / "dat" / "olson2021_study1a.tsv"))
    (row,) = [dict(zip(output.columns, row, strict=True)) for row in output.rows if row[0] == "people"]
    assert round(row["mean"], 1) == row["paper mean"]
    assert row["SD"] == pytest.approx(row["paper SD"], abs=0.05)
    assert row["n"] == row["paper n"]


def test_what_cannot_be_read_is_refused(runs: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"at temperature 0\.3"):
        DatDistributions().run([runs["floor"]], temperature=0.3)
    bad = tmp_path / "bad.csv"
    bad.write_text("score\n1\n")
    with pytest.raises(DataError, match="cannot be read"):
        DatDistributions().run([runs["floor"]], people=str(bad))
