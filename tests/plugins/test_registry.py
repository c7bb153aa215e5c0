"""The registry: names, preference, lazy loading and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def test_all_plugins_that_hold_a_name_are_counted_and_named() -> None:
    made = Registry()
    for plugin in ("a", "b", "c", "d", "e"):
        made.scoped(plugin).add("scorer", "rhyme", "x:y")
    with pytest.raises(PluginError, match=r"5 plugins have the scorer 'rhyme': a/rhyme, b/rhyme, .* and e/rhyme"):
        made.get("scorer", "rhyme")


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


@pytest.mark.parametrize(
    ("kind", "stated", "fault"),
    [
        ("scorer", {"reads_sum": True}, "there is no argument 'reads_sum'; did you mean 'reads_some'?"),
        ("scorer", {"produce": ("x",)}, "there is no argument 'produce'; did you mean 'produces'?"),
        ("scorer", {"refines": True}, "'refines' is for a parser, not for a scorer"),
        ("parser", {"waits": True}, "'waits' is for a scorer, not for a parser"),
        ("baseline", {"n": 2}, "'n' is for a protocol, not for a baseline"),
        ("scorer", {"unit": "docs"}, r"unit must be one of sample, doc \(did you mean 'doc'\?\), not 'docs'"),
        ("scorer", {"waits": 1}, "waits must be True or False, not 1"),
        ("scorer", {"batch_size": 0}, "batch_size must be a whole number from 1, not 0"),
        ("scorer", {"takes": ("txt",)}, "takes must be a tuple of list, number, object, text"),
        ("scorer", {"unit": "doc", "batch_size": 8}, "unit='doc' and batch_size exclude each other"),
        ("scorer", {"minimum_repeats": 2}, "minimum_repeats needs unit='doc'"),
        ("scorer", {"roles": ("judge",)}, "it asks the role 'judge', so it needs waits=True"),
        ("parser", {"refines": True, "reads": "prose"}, "refines=True and reads exclude each other"),
        ("parser", {"gives": "texts"}, r"gives must be one of .* \(did you mean 'text'\?\)"),
        ("protocol", {"n": True}, "n must be a whole number from 1, not True"),
    ],
)
def test_a_wrong_statement_is_refused_when_it_is_registered(kind: Any, stated: dict[str, Any], fault: str) -> None:
    with pytest.raises(PluginError, match=f"the {kind} 'mine': {fault}"):
        Registry().add(kind, "mine", "no_such_module:Thing", **stated)


def test_traits_may_follow_from_the_parameters() -> None:
    base = Registry()
    base.add("parser", "mine", "json:loads", refines=lambda given: given.get("refine", False), reads="prose")
    base.add("protocol", "odd", "json:loads", n=lambda given: given["n"])
    parser, protocol = base.get("parser", "mine"), base.get("protocol", "odd")
    assert [parser.parser_traits({"refine": value}).refines for value in (True, False)] == [True, False]
    assert protocol.protocol_traits({"n": 3}).n == 3
    for given, fault in (({"n": "3"}, "n must be a whole number from 1"), ({}, "KeyError|'n'")):
        with pytest.raises(PluginError, match=f"the protocol 'odd' describes itself wrongly: .*{fault}"):
            protocol.protocol_traits(given)
