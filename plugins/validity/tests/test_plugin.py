"""The plugin as creval finds it: light to find, its analyses and command usable from the command line."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.imports import imported_by

import creval_validity
from creval.plugins.registry import Registry
from creval_validity import plugin
from creval_validity.reproduce_command import reproduce

README = Path(__file__).parents[1] / "README.md"


def test_using_the_statistics_does_not_import_plots() -> None:
    loaded = imported_by(
        "from creval_validity.analyses.validity_command import ValidityAnalysis; "
        "ValidityAnalysis().run([], test=['rat'], benchmark=['arena_cw'], bootstrap=100)"
    )
    assert "matplotlib" not in loaded


def test_the_analyses_are_registered_and_can_be_loaded() -> None:
    registry = Registry().scoped("validity")
    plugin.creval_components(registry)
    assert list(registry.names("analysis")) == ["trend", "validity"]
    for name in ("trend", "validity"):
        component = registry.get("analysis", name)
        assert component.summary
        options = component.load()().options()
        assert all(option.help for option in options)
        assert len({option.name for option in options}) == len(options)


def test_the_command_is_named_by_its_place() -> None:
    module, _, attribute = plugin.creval_commands()["reproduce"].partition(":")
    assert (module, attribute) == (reproduce.callback.__module__, "reproduce")


def test_public_names() -> None:
    for name in creval_validity.__all__:
        assert getattr(creval_validity, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        creval_validity.nothing  # noqa: B018


def test_reproduce_prints_every_number(tmp_path: Path) -> None:
    target = tmp_path / "t.csv"
    done = CliRunner(env={"COLUMNS": "200"}).invoke(reproduce, ["--csv", str(target)])
    assert done.exit_code == 0, done.output
    assert done.output.count("specificity") == 42
    assert len(target.read_text(encoding="utf-8").splitlines()) == 85
    as_json = CliRunner().invoke(reproduce, ["--json"])
    assert len(json.loads(as_json.output)) == 84


def test_the_readme_example_says_what_it_prints() -> None:
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    promised = re.search(r"print\(.*\)  # (.*)", code[1])
    assert promised is not None
    done = subprocess.run([sys.executable, "-c", code[1]], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == promised[1]


def test_the_table_in_the_layout_of_table_1() -> None:
    from rich.console import Console

    request = creval_validity.ValidityRequest(("rat",), ("arena_cw", "eq_bench_cw"), bootstrap=None)
    result = creval_validity.analyse_validity(creval_validity.shipped_table(), request)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(creval_validity.validity_table(result))
    text = console.export_text()
    assert "+0.78*** / +0.00 (36)" in text
    assert "+0.58** / -0.04 (25)" in text
