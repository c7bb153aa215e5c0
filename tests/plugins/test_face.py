"""The public faces: their names are promised, so that each one added or removed is a decision made here."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import creval
import creval.plugin

USERS = {
    *("Compared", "CrevalError", "Run", "open_run", "RunOptions", "RunResult", "__version__", "compare", "run"),
}
AUTHORS = """
Aggregation Analysis AnalysisOutput Baseline BudgetError COLOURS CallRecord
Completion Condition Context ContextLengthError CrevalError DataError DataOptions Difference Doc Embedding
Entailment Expected FatalModelError FieldSpec Figures GenerateRequest Generator JsonArray JsonObject
Kind
ListRows Message MissingPartError MissingScore Model ModelError NumpyEncoder Origin Parsed
Parser PluginError Provider ProviderOptions ProviderTraits REFUSAL_ROUTE Registry Reply
ResourceOptions RetryableModelError Rows Run RunError Sample SampleKey ScoreRecord
ScorerInput Score Scorer ScoringError Session Status TaskProtocol TokenLogprob Turn
UnknownNameError Usage UsageError WordList Workbench agreement build_store cache_folder
command_options component csv_text download either file_digest flag
has_mark holds_json hookimpl integer is_no_item is_refusal is_small_talk list_of list_stores nearest number offline_cure
one_item_a_line one_of open_file open_huggingface open_run open_runs open_workbench
paired_means params part_options plain_data plain_separators print_table
refused reply_from_json run_numbers run_settings sha256_of speaks_of_the_last
store_folder straighten strip_edges strip_marks strip_quotes text without_opening without_talk without_unseen
write_csv write_json write_lines write_text
"""


def test_names_for_users() -> None:
    assert set(creval.__all__) == USERS
    assert all(hasattr(creval, name) for name in USERS)


def test_names_for_authors() -> None:
    assert set(creval.plugin.__all__) == set(AUTHORS.split())


@pytest.mark.parametrize("module", ["creval", "creval.plugin"])
def test_type_checkers_see_the_names_that_are_imported(module: str) -> None:
    face = importlib.import_module(module)
    assert face.__file__
    tree = ast.parse(Path(face.__file__).read_text("utf-8"))
    shown = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(shown) == set(face.__all__) - {"__version__"}
    for name, home in shown.items():
        assert getattr(face, name) is getattr(importlib.import_module(str(home)), name)
        assert name in dir(face)


def test_an_unknown_name_is_no_name() -> None:
    with pytest.raises(ImportError, match="NoSuchName"):
        exec("from creval.plugin import NoSuchName")
    with pytest.raises(ImportError, match="no_such_name"):
        exec("from creval import no_such_name")


def test_names_that_former_versions_told_still_work() -> None:
    from creval.plugins import hookimpl
    from creval.types.components import Score

    assert hookimpl is creval.plugin.hookimpl
    assert Score is creval.plugin.Score


def test_the_face_alone_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import creval.plugin; "
        "print([m for m in sys.modules if m not in before and m.startswith('creval')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == ["creval", "creval.plugin"]


def test_the_contract_covers_every_plugin_and_every_module_of_the_core() -> None:
    root = Path(__file__).resolve().parents[2]
    config = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = [one for one in config["contracts"] if one["type"] == "forbidden"]
    packages = {path.parent.name for path in root.glob("plugins/*/creval_*/__init__.py")}
    assert set(contract["source_modules"]) == packages
    core = root / "core" / "creval"
    modules = {path.stem for path in core.glob("*.py")} | {path.parent.name for path in core.glob("*/__init__.py")}
    allowed = {"__init__", "__main__", "plugin"}
    assert set(contract["forbidden_modules"]) == {f"creval.{name}" for name in modules - allowed}
