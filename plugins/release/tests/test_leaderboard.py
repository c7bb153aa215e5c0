"""Many runs in one table: ranked only where numbers were made in the same way."""

from __future__ import annotations

import csv
import importlib.util
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.run_folders import write_run
from support.small_suite import write_small_suite

import creval
from creval.cli.main import invoke
from creval_release.cli import leaderboard as leaderboard_command
from creval_release.leaderboard import leaderboard, leaderboard_html

COUNTS = {"scored": 4, "unparsed": 1, "truncated": 0, "refused": 0, "errored": 1, "skipped": 0}


def put(folder: Path, model: str, value: float | None, **changes: Any) -> creval.Run:
    """A finished run with one metric of this value."""
    better = changes.pop("higher_is_better", True)
    status = changes.pop("status", "done")
    metric = {
        "name": "drat",
        "condition": None,
        "value": value,
        "n": 6,
        "ci_low": None if value is None else value - 1,
        "ci_high": None if value is None else value + 1,
        "counts": COUNTS,
        "higher_is_better": better,
        "primary": True,
    }
    part = {
        "task": "drat",
        "hash": "a" * 64,
        "dataset": "d" * 64,
        "docs": 6,
        "docs_digest": "e" * 64,
        "instruments": {"embedding": "x"},
        "metrics": [metric, {**metric, "name": "other", "primary": False}],
        "counts": COUNTS,
        "planned": 6,
        **changes,
    }
    return creval.open_run(write_run(folder, model, [part], status=status))


def test_the_best_comes_first_and_equals_share_a_rank(tmp_path: Path) -> None:
    runs = [
        put(tmp_path / name, f"m/{name}", value) for name, value in (("a", 1.0), ("b", 3.0), ("c", 3.0), ("d", None))
    ]
    found = leaderboard(runs)
    assert [(one.model, one.rank) for one in found] == [("m/b", 1), ("m/c", 1), ("m/a", 3), ("m/d", None)]
    assert {one.failed for one in found} == {2}
    lower = [
        put(tmp_path / f"l{name}", f"m/{name}", value, higher_is_better=False)
        for name, value in (("a", 1.0), ("b", 3.0))
    ]
    assert [(one.model, one.rank) for one in leaderboard(lower)] == [("m/a", 1), ("m/b", 2)]
    neither = [put(tmp_path / "n", "m/a", 1.0, higher_is_better=None)]
    assert [one.rank for one in leaderboard(neither)] == [None]


def test_baselines_frame_the_models_and_take_no_rank(tmp_path: Path) -> None:
    values = {"baseline/ceiling": 9.0, "m/a": 1.0, "baseline/floor": 0.0, "m/b": 3.0}
    found = leaderboard([put(tmp_path / str(i), *one) for i, one in enumerate(values.items())])
    assert [(one.model, one.rank) for one in found] == [
        *(("m/b", 1), ("m/a", 2)),
        *(("baseline/ceiling", None), ("baseline/floor", None)),
    ]


def test_models_that_do_not_differ_share_a_letter(runs: Path) -> None:
    found = leaderboard([creval.open_run(name) for name in ("weak", "alike", "strong")])
    assert [(one.model, one.apart) for one in found] == [
        *(("hosted_vllm/strong", "a"), ("hosted_vllm/alike", "ab"), ("hosted_vllm/weak", "b")),
    ]
    done = CliRunner().invoke(leaderboard_command, ["weak", "alike", "strong"])
    assert "runs that share a letter cannot be told apart" in done.output and "baselines have no rank" in done.output
    unknown = leaderboard([creval.open_run(name) for name in ("weak", "weak")])
    assert [one.apart for one in unknown] == ["a", "a"]


@pytest.mark.parametrize(
    "change",
    [
        {"hash": "b" * 64},
        {"dataset": "b" * 64},
        {"docs_digest": "b" * 64},
        {"instruments": {"embedding": "y"}},
        {"generation_overrides": {"temperature": 0.1}},
        {"condition_overrides": {"temperature": [0.1]}},
    ],
)
def test_numbers_made_in_another_way_have_a_rank_of_their_own(tmp_path: Path, change: dict[str, Any]) -> None:
    runs = [put(tmp_path / "a", "m/a", 1.0), put(tmp_path / "b", "m/b", 3.0, **change)]
    assert [one.rank for one in leaderboard(runs)] == [1, 1]


def test_suites_rank_by_their_own_number(tmp_path: Path) -> None:
    suite = write_small_suite(tmp_path)
    runs = []
    for name, model in (("yes", "baseline/floor"), ("no", "baseline/ceiling"), ("again", "baseline/floor")):
        settings = {"temperature": 0.5} if name == "again" else {}
        run = creval.run([suite], model, creval.RunOptions(output=tmp_path / name, generation=settings))
        for file in ("results.json", "run.json"):  # as if models had answered: baselines are not ranked
            text = (run.folder / file).read_text().replace(model, f"m/{name}")
            (run.folder / file).write_text(text)
        runs.append(creval.open_run(run.folder))
    found = [one for one in leaderboard(runs) if one.task == "both"]
    assert [(one.model, one.rank, one.apart) for one in found if not one.settings] == [
        ("m/yes", 1, "a"),
        ("m/no", 2, "b"),
    ]
    assert [(one.model, one.rank) for one in found if one.settings] == [("m/again", 1)]
    assert found[0].metric == "exact_match" and found[0].n == 40 and found[0].data.split("/")[1] == "40"
    assert "pooled" in {one.metric for one in leaderboard(runs, every_metric=True)}
    text = (file := runs[0].folder / "results.json").read_text()
    file.write_text(text.replace('"average": "macro"', '"average": "weighted"'))
    other = leaderboard([creval.open_run(runs[0].folder), runs[1]])
    assert [one.rank for one in other if one.task == "both"] == [1, 1], "another mean is another number"


class Page(HTMLParser):
    """The texts of a page's cells, and whatever it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.fetched: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self._in in ("td", "th"):
            self.cells.append(data)


def test_the_page_is_self_contained_and_runs_nothing_of_a_models_name(tmp_path: Path) -> None:
    page = Page()
    page.feed(leaderboard_html(leaderboard([put(tmp_path / "a", "m/<script>alert(1)</script>", 2.0)])))
    assert page.cells[:2] == ["rank", "model"]
    assert "m/<script>alert(1)</script>" in page.cells and not page.fetched
    assert "1.00 to 3.00" in page.cells or "1.000 to 3.000" in page.cells


def test_the_command_writes_each_form(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a", "m/a", 1.0)
    put(tmp_path / "runs" / "deep" / "b", "m/b", 3.0)
    put(tmp_path / "runs" / "c", "m/c", 9.0, status="interrupted")
    arguments = [str(tmp_path / "runs"), "--csv", str(tmp_path / "x.csv"), "--html", str(tmp_path / "x.html"), "--json"]
    done = CliRunner().invoke(leaderboard_command, arguments)
    assert done.exit_code == 0, done.output
    assert "left out" in done.stderr and "interrupted" in done.stderr
    with (tmp_path / "x.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["rank"], row["model"], row["task_hash"]) for row in rows] == [
        ("1", "m/b", "a" * 8),
        ("2", "m/a", "a" * 8),
    ]
    assert [one["model"] for one in json.loads(done.stdout)] == ["m/b", "m/a"]
    printed = CliRunner().invoke(leaderboard_command, [str(tmp_path / "runs"), "--all-metrics"])
    assert "other" in printed.output and "m/b" in printed.output
    assert "aaaaaaaa" not in printed.output and "made with" not in printed.output
    put(tmp_path / "runs" / "d", "m/d", 3.0, instruments={"embedding": "y"})
    printed = CliRunner().invoke(leaderboard_command, [str(tmp_path / "runs")], env={"COLUMNS": "200"})
    assert all(
        part in printed.output
        for part in ("embedding=x", "embedding=y", "made with: why numbers of a metric are ranked apart")
    )
    latex = CliRunner().invoke(leaderboard_command, [str(tmp_path / "runs"), "--latex"]).stdout
    assert latex.startswith(r"\begin{tabular}") and latex.count("m/") == 3 and r"\toprule" in latex
    markdown = CliRunner().invoke(leaderboard_command, [str(tmp_path / "runs"), "--markdown"]).stdout
    assert markdown.startswith("| task | metric | rank | model |") and "embedding=y" in markdown


def test_the_table_fits_a_screen_and_has_no_digests(tmp_path: Path) -> None:
    long = {"name": "drat[embedded/a-resource-with-a-long-name]", "primary": True, "higher_is_better": True}
    values = {"value": 71.31, "ci_low": 70.0, "ci_high": 72.5, "n": 1000, "counts": COUNTS}
    for i, digest in enumerate("ab"):
        resources = {"embedding": f"embedded/minilm@sha256:{digest * 12}", "word_list": "english/scowl-60@sha256:00"}
        metrics = [{**long, **values, "condition": condition} for condition in (None, "temperature=1.0")]
        changes = {"metrics": metrics, "instruments": resources, "dataset": digest * 64, "hash": digest * 64}
        put(tmp_path / f"{i}", f"openrouter/provider/a-model-with-a-long-name-{i}", 1.0, **changes)
    done = CliRunner().invoke(leaderboard_command, [str(tmp_path)])
    text = "".join(done.output.split())
    assert max(len(line.rstrip()) for line in done.output.splitlines() if "made with:" not in line) <= 100
    assert "sha256" not in text and "aaaa" not in text and "temperature" not in text and "scowl" not in text
    wide = CliRunner().invoke(leaderboard_command, [str(tmp_path), "--markdown"]).output
    assert (
        "task A, data A, embedding=embedded/minilm A" in wide and "task B, data B, embedding=embedded/minilm B" in wide
    )
    every = CliRunner().invoke(leaderboard_command, [str(tmp_path), "--all-metrics"]).output
    assert "temperature" in every


def test_made_with_has_no_settings_that_all_share(tmp_path: Path) -> None:
    for name, digest in (("a", "a"), ("b", "b")):
        put(tmp_path / name, f"m/{name}", 1.0, hash=digest * 64, generation_overrides={"temperature": 0.5})
    printed = CliRunner().invoke(leaderboard_command, [str(tmp_path), "--markdown"]).output
    assert "| task A |" in printed and "temperature" not in printed
    put(tmp_path / "c", "m/c", 1.0, hash="b" * 64)
    printed = CliRunner().invoke(leaderboard_command, [str(tmp_path), "--markdown"]).output
    assert "task B, temperature=0.5" in printed and "task B, no settings" in printed


def test_a_dataset_of_the_hub_needs_its_distribution(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "creval_hub" else find_spec(name))
    assert invoke(["leaderboard", "a/b"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'a/b' is not a folder" in line and "pip install creval-hub" in line


def test_tasks_of_one_name_from_two_plugins_keep_apart(tmp_path: Path) -> None:
    ours = [put(tmp_path / name, f"m/{name}", 1.0, qualified="association/drat") for name in ("a", "b")]
    theirs = put(tmp_path / "c", "m/c", 2.0, qualified="local/drat", hash="b" * 64)
    assert [one.task for one in leaderboard([*ours, theirs])] == ["association/drat", "association/drat", "local/drat"]
    assert [one.task for one in leaderboard(ours)] == ["drat", "drat"]
