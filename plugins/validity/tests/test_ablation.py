"""Ablations: levels as columns, compared on the models that have all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from creval.errors import UsageError
from creval_validity.analyses.ablation import AblationRequest, analyse_ablation, known_ablations, parse_ablation
from creval_validity.analyses.validity import ValidityRequest
from creval_validity.analyses.validity_command import ValidityAnalysis
from creval_validity.output.result_rows import ablation_rows
from creval_validity.tables.score_table import ScoreTable


def table(n: int = 14) -> ScoreTable:
    rng = np.random.default_rng(4)
    g = rng.normal(size=n)
    y = g + rng.normal(size=n)
    cells = {
        f"m{i}": {
            "g": float(g[i]),
            "y": float(y[i]),
            "drat_k2": float(rng.normal()),
            "drat_k3": float(y[i] + rng.normal()),
            "drat": float(y[i]),
        }
        for i in range(n)
    }
    del cells["m0"]["drat_k2"]
    return ScoreTable.from_cells(cells)


def test_levels_share_their_models() -> None:
    request = ValidityRequest(("drat",), ("y",), ("g",), bootstrap=None)
    result = analyse_ablation(table(), parse_ablation("k: 2=drat_k2, 3 = drat_k3,4=drat"), request)
    assert len(result.models) == 13
    assert "m0" not in result.models
    assert [(level.level, level.cell.n) for level in result.levels] == [("2", 13), ("3", 13), ("4", 13)]
    last = result.levels[-1].cell
    assert last.validity is not None
    assert last.validity.r == pytest.approx(1.0)


def test_the_papers_values_are_next_to_ours() -> None:
    rows = {
        m: {**{n: v for n, v in row.items() if n != "y"}, "liveideabench": row["y"]}
        for m, row in table().cells().items()
    }
    request = ValidityRequest(("drat",), ("liveideabench",), ("g",), bootstrap=None)
    spec = "k: 2=drat_k2, 3=drat_k3, 4=drat"
    result = analyse_ablation(ScoreTable.from_cells(rows), parse_ablation(spec), request)
    assert [level.paper and level.paper.validity for level in result.levels] == [0.18, 0.41, 0.57]
    shown = ablation_rows([result])
    assert shown.rows[2][:4] == ("k", "4", 0.57, 0.5)
    other = analyse_ablation(ScoreTable.from_cells(rows), parse_ablation(spec.replace("k:", "k[a/b]:")), request)
    assert other.levels[0].paper is None


def test_known_ablations_are_found_by_column() -> None:
    columns = ["drat", "drat_k2", "drat_k3", "drat_conceptnet", "drat_k2[a/b]", "dat"]
    assert known_ablations(columns) == (
        AblationRequest("k", (("2", "drat_k2"), ("3", "drat_k3"), ("4", "drat"))),
        AblationRequest("corpus", (("scientific", "drat"), ("conceptnet", "drat_conceptnet"))),
    )
    labelled = known_ablations(["drat", "drat@n_min_5", "drat@utility_min"])
    assert [one.factor for one in labelled] == ["utility", "n_min"]
    other = known_ablations(["drat[a/b]", "drat_k2[a/b]", "drat_k3[c/d]"])
    assert other == (AblationRequest("k[a/b]", (("2", "drat_k2[a/b]"), ("4", "drat[a/b]"))),)


@pytest.mark.parametrize("text", ["k", "k:", "k: 2=a", "k: 2=a, 2=b", ": 2=a, 3=b", "k: 2, 3=b", "k: =a, 3=b"])
def test_what_is_no_ablation(text: str) -> None:
    with pytest.raises(UsageError, match=r"ablation|different levels"):
        parse_ablation(text)


def test_in_the_analysis(tmp_path: Path) -> None:
    rows = table().cells()
    names = ["g", "y", "drat_k2", "drat_k3", "drat"]
    lines = [",".join([m, *(str(row.get(name, "")) for name in names)]) for m, row in rows.items()]
    file = tmp_path / "t.csv"
    file.write_text("model," + ",".join(names) + "\n" + "\n".join(lines) + "\n", encoding="utf-8")
    output = ValidityAnalysis().run(
        [],
        csv=[str(file)],
        shipped="none",
        benchmark=["y"],
        capability=["g"],
        bootstrap=0,
        output=str(tmp_path / "o"),
        no_plots=True,
    )
    assert any(note.startswith("k 4, y: +1.00***") for note in output.notes)
    assert (tmp_path / "o" / "ablations.csv").read_text(encoding="utf-8").count("\n") == 4
