"""What a start costs: listing tasks and plugins imports nothing that it does not need."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.imports import imported_by
from support.toy_plugins import sound_task, write_distribution

from creval.lazy_pattern import lazy_pattern

LIST = """
import json, sys
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
plugins = load_plugins()
headers = TaskIndex(plugins).headers()
print(json.dumps([[h.name for h in headers], [str(f) for f in plugins.failures], sorted(sys.modules)]))
"""
HEAVY = {
    *("litellm", "datasets", "torch", "transformers", "pandas", "jsonschema", "onnxruntime", "numpy", "scipy"),
    *("jinja2", "aiohttp", "yaml", "referencing", "pyarrow", "networkx", "pysat", "click", "rich", "matplotlib"),
    *("email", "importlib.metadata", "urllib.request", "ssl", "asyncio", "creval.tasks.task_model", "creval.engine"),
    *("regex", "sqlite3", "jsonschema_rs", "pycurl", "html", "creval.numerals", "creval.parsing.refusal"),
}


def test_listing_imports_only_what_it_needs(tmp_path: Path) -> None:
    site = tmp_path / "site"
    text = """
        from pathlib import Path
        from creval.plugins import hookimpl
        @hookimpl
        def creval_tasks():
            return [Path(__file__).parent / "tasks"]
        @hookimpl
        def creval_components(registry):
            registry.add("scorer", "heavy", "torch.nn:Linear", produces=("heavy",))
    """
    write_distribution(site, "creval-tiny", {"tiny_plugin/__init__.py": text}, {"tiny": "tiny_plugin"})
    (site / "tiny_plugin" / "tasks").mkdir()
    (site / "tiny_plugin" / "tasks" / "toy.yaml").write_text(sound_task(measures="measures: [divergent, convergent]"))
    environment = {**os.environ, "PYTHONPATH": str(site), "CREVAL_PLUGINS": "tiny"}
    done = subprocess.run([sys.executable, "-c", LIST], env=environment, capture_output=True, text=True, check=True)
    names, failures, modules = json.loads(done.stdout)
    assert names == ["toy"]
    assert failures == []
    assert sorted(HEAVY & set(modules)) == []


def test_the_list_of_commands_needs_no_plugin_system() -> None:
    loaded = imported_by("from creval.cli.main import invoke; assert invoke(['--help']) == 0")
    assert not (HEAVY - {"click"}) & loaded
    assert not {"pluggy", "pathlib", "creval.plugins.loader"} & loaded


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags: compiled.append(text) or compile_now(text, flags))
    pattern = lazy_pattern("(a+)b", re.IGNORECASE)
    assert compiled == []
    assert (pattern.sub(r"\1", "xAAb"), pattern.pattern, pattern.groups) == ("xAA", "(a+)b", 1)
    assert pattern.fullmatch("ab") and pattern.search("c") is None
    assert compiled == ["(a+)b"]


def test_the_entries_of_our_own_plugins_import_nothing_heavy() -> None:
    loaded = imported_by("from creval.plugins.loader import load_plugins; load_plugins()")
    assert "creval_testing.plugin" in loaded
    assert sorted((HEAVY | {"pytest", "_pytest", "http.client"}) & loaded) == []
