"""The registry: names, preference, lazy loading and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from creval.errors import MissingPartError, PluginError, UnknownNameError
from creval.plugins.registry import Registry


def registry() -> Registry:
    base = Registry()
    base.scoped("red").add("parser", "rhyme", "json:loads")
    base.scoped("blue").add("parser", "rhyme", "json:dumps")
    base.scoped("blue").add("scorer", "rhyme", "json:dump")
    return base


def test_short_and_qualified_names() -> None:
    both = registry()
    assert both.get("scorer", "rhyme").plugin == "blue"
    assert both.get("parser", "red/rhyme").target == "json:loads"
    with pytest.raises(PluginError, match="red/rhyme and blue/rhyme"):
        both.get("parser", "rhyme")
    assert both.get("parser", "rhyme", prefer="blue").plugin == "blue"
    both.scoped("core").add("parser", "rhyme", "json:load")
    assert both.get("parser", "rhyme").plugin == "core"
    assert both.get("parser", "rhyme", prefer="red").plugin == "red"
    with pytest.raises(UnknownNameError, match="Did you mean 'rhyme'"):
        both.get("parser", "ryme")
    assert both.find("parser", "ryme") is None
    assert both.names("parser") == ["rhyme"]
    assert [c.qualified for c in both.all()] == ["blue/rhyme", "core/rhyme", "red/rhyme", "blue/rhyme"]


def test_a_component_is_imported_when_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "old_part.py").write_text("from json import no_such_name\n")
    (tmp_path / "lazy_part.py").write_text("import no_such_package_xyz\n")
    base = Registry().scoped("mine")
    base.add("parser", "good", "json:loads")
    base.add("parser", "needs", "lazy_part:Thing")
    base.add("parser", "nowhere", "no_such_module_xyz.sub:Thing")
    base.add("parser", "nothing", "json:nope")
    base.add("parser", "renamed", "old_part:Thing")
    assert base.get("parser", "good").load()("[1]") == [1]
    with pytest.raises(MissingPartError, match="pip install no_such_package_xyz"):
        base.get("parser", "needs").load()
    with pytest.raises(PluginError, match="there is no module 'no_such_module_xyz'"):
        base.get("parser", "nowhere").load()
    with pytest.raises(PluginError, match="cannot import name 'no_such_name' from 'json'"):
        base.get("parser", "renamed").load()
    with pytest.raises(PluginError, match="json has no attribute 'nope'"):
        base.get("parser", "nothing").load()


def test_absorbing_takes_over_all_components() -> None:
    base, other = Registry(), registry()
    base.scoped("core").add("parser", "x", "json:loads")
    base.absorb(other)
    assert base.names("parser") == ["rhyme", "x"]
    assert base.get("scorer", "rhyme").plugin == "blue"
