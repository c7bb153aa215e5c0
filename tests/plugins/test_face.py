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
import creval.plugin.promised

USERS = {
    *("Compared", "CrevalError", "Run", "open_run", "RunOptions", "RunResult", "__version__", "compare", "run"),
}
AUTHORS = """
Aggregation Analysis AnalysisOutput Baseline BudgetError CallRecord Completion Condition Context CrevalError DataError
Doc Embedding Entailment Expected FieldSpec Generator JudgedPart Kind Loglikelihood LoglikelihoodRequest
Media MediaPart Message MissingPartError
MissingScore ModelError Parsed Parser Part PluginError Registry Reply ResourceOptions Run RunError Sample SampleKey
Score ScoreRecord Scorer ScorerInput ScoringError Session Status TaskProtocol TextPart TokenLogprob Tool
ToolCall Turn UnknownNameError
Usage UsageError WordList counted hookimpl nearest open_run open_runs params
"""
FACES = {file.stem for file in Path(str(creval.plugin.__file__)).parent.glob("[a-z]*.py")} - {"promised"}


def test_names_for_users() -> None:
    assert set(creval.__all__) == USERS
    assert all(hasattr(creval, name) for name in USERS)


def test_names_for_authors() -> None:
    names = creval.plugin.__all__
    assert set(names) == set(AUTHORS.split())
    assert len(names) <= 70
    assert set(names) <= set(dir(creval.plugin))
    for name in names:
        assert getattr(creval.plugin, name) is getattr(creval.plugin.promised, name)


@pytest.mark.parametrize("face", sorted(FACES))
def test_each_module_says_whether_it_is_promised_and_imports_its_names(face: str) -> None:
    module = importlib.import_module(f"creval.plugin.{face}")
    about = " ".join(str(module.__doc__).split())
    assert ("Promised: these names follow semantic versioning" in about) != ("Private to the distributions" in about)
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    promised = "Promised" in about
    imports = tree.body[1:-1] if promised else tree.body[1:]  # a promised one ends with __all__
    assert [type(node) for node in imports] == [ast.ImportFrom] * len(imports)
    shown = {
        alias.asname or alias.name for node in imports[1:] if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert set(module.__all__) == shown if promised else not hasattr(module, "__all__")
    assert not shown & set(creval.plugin.__all__)


def test_type_checkers_see_the_names_of_users() -> None:
    tree = ast.parse(Path(str(creval.__file__)).read_text("utf-8"))
    shown = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(shown) == set(creval.__all__) - {"__version__"}
    for name, home in shown.items():
        assert getattr(creval, name) is getattr(importlib.import_module(str(home)), name)
        assert name in dir(creval)


def test_a_star_import_gives_the_promised_names() -> None:
    taken: dict[str, object] = {}
    exec("from creval.plugin import *", taken)
    assert set(AUTHORS.split()) == taken.keys() - {"__builtins__"}


def test_an_unknown_name_is_no_name() -> None:
    with pytest.raises(ImportError, match="NoSuchName"):
        exec("from creval.plugin import NoSuchName")
    with pytest.raises(ImportError, match="no_such_name"):
        exec("from creval import no_such_name")


def test_names_of_earlier_versions_still_work() -> None:
    from creval.plugins import hookimpl
    from creval.types.components import Score

    assert hookimpl is creval.plugin.hookimpl
    assert Score is creval.plugin.Score


def test_the_face_alone_imports_hooks_and_parameters_and_a_name_its_own_module() -> None:
    code = (
        "import sys; import creval.plugin; ours = lambda: sorted(m for m in sys.modules if m.startswith('creval')); "
        "print(ours()); from creval.plugin import DataError; print(ours())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    alone, with_one = (ast.literal_eval(line) for line in done.stdout.splitlines())
    plugins = ["creval.plugins", "creval.plugins.hookspecs", "creval.plugins.parameters"]
    assert alone == ["creval", "creval.plugin", "creval.plugin.params", *plugins]
    assert set(with_one) - set(alone) <= {"creval.errors", "creval.numerals", "creval.escape"}


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


@pytest.mark.parametrize("name", ["compare", "Compared"])
def test_a_name_of_an_absent_distribution_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "creval_compare.compare_runs", raising=False)
    monkeypatch.setitem(sys.modules, "creval_compare", None)
    with pytest.raises(creval.CrevalError, match="pip install creval-compare"):
        getattr(creval, name)
