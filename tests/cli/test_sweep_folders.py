"""The folder of a sweep is named wherever a run is, and `runs/many/*` names its runs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
import yaml
from support.chat_server import ChatServer
from support.commands import write_spelling

from creval.cli.main import invoke
from creval.cli.option_values import RunPath
from creval.runs.sweep_folder import expand_runs, without_leftovers

MODELS = ("m/zeta", "m/alpha", "m/lost")
RUNS = ["many/m_zeta", "many/m_alpha"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sweep of three runs, not in the order of the alphabet; the last one has no results."""
    folder = tmp_path_factory.mktemp("sweep")
    write_spelling(folder, {"cat": "ok", "dog": "no", "owl": "ok"})
    with ChatServer(answer="ok") as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CREVAL_CACHE", str(folder / "cache"))
        data = {"tasks": ["./spelling.yaml"], "models": list(MODELS), "base_url": server.url, "output": "many"}
        (folder / "sweep.yaml").write_text(yaml.safe_dump(data))
        assert invoke(["run", "sweep.yaml"]) == 0
    lost = folder / "many" / "m_lost"
    (lost / "results.json").unlink()
    manifest = json.loads((lost / "run.json").read_text())
    (lost / "run.json").write_text(json.dumps({**manifest, "status": "interrupted"}))
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made / "many", tmp_path / "many")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def everything() -> list[str]:
    """What the shell makes of `many/*`."""
    return [str(path) for path in sorted(Path("many").iterdir()) if not path.name.startswith(".")]


def test_a_folder_of_runs_stands_for_those_with_results_in_the_order_of_its_file(folder: Path) -> None:
    done, unfinished = expand_runs([Path("many")])
    assert (list(map(str, done)), list(map(str, unfinished))) == (RUNS, ["many/m_lost"])
    assert expand_runs([Path("many/sweep.yaml")])[0] == done
    assert expand_runs([Path("many/m_alpha"), Path("many")])[0] == done[::-1]  # each once
    assert expand_runs([Path("nowhere"), Path("many/tasks")])[0] == [Path("nowhere"), Path("many/tasks")]
    (folder / "many" / "sweep.yaml").write_text("models: {a: [")
    assert list(map(str, expand_runs([Path("many")])[0])) == RUNS[::-1]  # by name, where the file says nothing


def test_leftovers_of_a_sweep_are_passed_over_next_to_its_runs_alone(folder: Path) -> None:
    assert {"many/sweep.yaml", "many/tasks"} < set(everything())
    kept = without_leftovers([Path(name) for name in [*everything(), "elsewhere/sweep.yaml"]])
    assert list(map(str, kept)) == ["many/m_alpha", "many/m_lost", "many/m_zeta", "elsewhere/sweep.yaml"]
    (folder / "many" / "sweep.yaml").unlink()
    assert len(without_leftovers([Path("many/m_alpha"), Path("many/tasks")])) == 2  # no sweep: a slip must show


@pytest.mark.parametrize("named", ["folder", "file", "all"])
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["report"], "spelling"),
        (["compare", "--json"], "many/m_zeta"),
        (["leaderboard"], "m/zeta"),
        (["plot", "--output", "forest.svg"], "forest.svg"),
        (["view", "--no-open"], "report.html"),
        (["push", "--repo", "ada/runs", "--dry-run"], "bytes in"),
    ],
)
def test_commands_take_a_sweep_folder_its_file_and_all_that_is_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str], words: str, named: str
) -> None:
    if named == "all" and command[0] != "leaderboard":
        shutil.rmtree("many/m_lost")  # named by itself, it would be an error
    places = {"folder": ["many"], "file": ["many/sweep.yaml"], "all": everything()}[named]
    assert invoke([command[0], *places, *command[1:]]) == 0
    said = capsys.readouterr()
    assert words in said.out
    assert ("left out: many/m_lost" in said.err) == Path("many/m_lost").exists()


def test_the_page_of_a_sweep_is_written_into_its_folder(folder: Path) -> None:
    assert invoke(["view", "many", "--no-open"]) == 0
    assert Path("many/report.html").is_file()
    assert invoke(["report", *[name for name in everything() if "lost" not in name]]) == 0


def test_samples_of_a_sweep_name_their_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["samples", "many", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["run"] for row in rows] == [name for name in [*RUNS, "many/m_lost"] for _ in range(3)]
    assert invoke(["samples", "many"]) == 0
    hint = capsys.readouterr().err.splitlines()[-1]
    assert "creval sample many/m_zeta " in hint
    assert invoke(["samples", "many/m_zeta", "--json"]) == 0
    assert "run" not in json.loads(capsys.readouterr().out.splitlines()[0])


@pytest.mark.parametrize(
    "command", [["sample", "many", "w0"], ["score", "many"], ["resume", "many"], ["gate", "many", "--policy", "p.yaml"]]
)
def test_a_command_on_one_run_names_those_of_a_sweep(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    Path("p.yaml").write_text("")
    assert invoke(command) == 2
    assert "it holds 3 runs; name one: many/m_zeta, many/m_alpha, many/m_lost" in " ".join(
        capsys.readouterr().err.split()
    )


def test_the_folder_of_a_sweep_with_one_run_stands_for_it(folder: Path) -> None:
    for name in ("m_alpha", "m_lost"):
        shutil.rmtree(f"many/{name}")
    assert RunPath().convert("many", None, None) == Path("many/m_zeta")
