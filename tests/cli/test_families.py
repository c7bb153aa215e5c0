"""`creval ls` and `creval show` of families: one row, each variant where it is asked for, nothing lost in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.toy_plugins import toy_plugins, write_task

from creval.cli.commands.tasks import ls, show

VARIANTS = "variants: {hot: {title: Very hot}, cold: {title: Very cold, version: 2.0.0}}"


@pytest.fixture(autouse=True)
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A family with a task of its own (toy), one without (base), a single variant (one) and a plain task."""
    write_task(tmp_path, variants=VARIANTS)
    write_task(tmp_path, "_base.yaml", task="task: base", variants=VARIANTS)
    write_task(tmp_path, "one.yaml", task="task: one", variants="variants: {a: {title: A}}")
    write_task(tmp_path, "plain.yaml", task="task: plain")
    monkeypatch.setattr("creval.plugins.loader.load_plugins", lambda: toy_plugins([("red", tmp_path)]))
    return tmp_path


def rows(*arguments: str) -> list[list[str]]:
    shown = CliRunner().invoke(ls, list(arguments))
    assert shown.exit_code == 0, shown.output
    return [line.split(None, 4) for line in shown.output.splitlines()[1:]]


def test_a_family_is_one_row() -> None:
    assert rows() == [
        ["base", "1.0.0", "family", "red", "2 variants  A toy task"],
        ["one", "1.0.0", "task", "red", "1 variant   A toy task"],
        ["plain", "1.0.0", "task", "red", "A toy task"],
        ["toy", "1.0.0", "task", "red", "2 variants  A toy task"],
    ]


def test_a_name_is_listed_once(tasks: Path) -> None:
    (tasks / "base.yaml").write_text(
        "schema: 1\nsuite: base\nversion: 2.0.0\ntitle: Both\ntasks: [base_hot, base_cold]\n"
    )
    assert rows()[0] == ["base", "2.0.0", "suite", "red", "2 variants  Both"]
    assert [row[0] for row in rows()].count("base") == 1


def test_a_pattern_fits_plain_names_too() -> None:
    assert [row[0] for row in rows("pl*n")] == ["plain"]
    assert {row[0] for row in rows("toy_*")} == {"toy_cold", "toy_hot"}


def test_all_lists_each_task() -> None:
    names = [row[0] for row in rows("--all")]
    assert names == ["base_cold", "base_hot", "one", "one_a", "plain", "toy", "toy_cold", "toy_hot"]


def test_words_find_variants_where_they_do_not_fit_the_family() -> None:
    assert rows("very cold") == [
        ["base_cold", "2.0.0", "task", "red", "Very cold"],
        ["toy_cold", "2.0.0", "task", "red", "Very cold"],
    ]
    assert [row[0] for row in rows("toy_h")] == ["toy_hot"]
    assert [row[0] for row in rows("base")] == ["base"]


def test_json_keeps_every_task() -> None:
    listed = json.loads(CliRunner().invoke(ls, ["--json"]).output)
    assert len(listed) == 8 and {record["kind"] for record in listed} == {"task"}
    assert next(record for record in listed if record["name"] == "toy_cold")["version"] == "2.0.0"


@pytest.mark.parametrize("named", ["toy", "red/toy", "toy.yaml"])
def test_show_of_a_family_lists_its_variants(tasks: Path, named: str) -> None:
    shown = CliRunner().invoke(show, [str(tasks / named) if named.endswith(".yaml") else named])
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("red/toy 1.0.0: A toy task")
    assert shown.output.splitlines()[-3:] == ["variants:", "  toy_hot   Very hot", "  toy_cold  Very cold"]


def test_show_of_a_base_and_of_a_variant() -> None:
    shown = CliRunner().invoke(show, ["base"]).output
    assert "a family of tasks without a task of that name" in shown and "base_hot" in shown
    shown = CliRunner().invoke(show, ["base_cold", "--resolved"]).output
    assert "task: base_cold" in shown and "variants" not in shown
