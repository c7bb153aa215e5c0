"""A sound plugin keeps every rule; for one that breaks a rule the report names this rule alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.rhymes import write_rhymes

from creval.errors import UnknownNameError
from creval_testing.rules.examine import OF_PLUGIN, OF_TASK, cases, examine
from creval_testing.rules.subject import Subject

BREAKING = {
    "discovery": ({"plugin": ("from pathlib", "import numpy\nfrom pathlib")}, "imports numpy"),
    "bounds": ({"requires": ("creval>=0.1,<1", "creval>=0.1")}, "states no highest version of creval"),
    "targets": ({"plugin": ("parts:AnyWord", "parts:NoWord")}, "no attribute 'NoWord'"),
    "face": (
        {"parts": ("from creval.plugin", "from creval.errors import nearest\nfrom creval.plugin")},
        "creval.errors",
    ),
    "task_files": ({"task": ("title:", "titel:")}, "unknown key 'titel'"),
    "sources": ({"metadata": ("License-Expression: MIT\n", "")}, "states no licence"),
    "parsers": ({"parts": ("return Parsed(text", "int(text)\n        return Parsed(text")}, "raised ValueError"),
    "wheel": ({"record": ("words.jsonl,,", "words.jsonl.orig,,")}, "words.jsonl is not in the wheel"),
    "templates": ({"task": ("{{ word }}", "{{ wort }}")}, "no doc has the field 'wort'"),
    "examples": ({"task": ("scores: {rhyme: 0}", "scores: {rhyme: 1}")}, "other: rhyme is 0"),
    "answers": ({"parts": ("else Parsed.f", "else Parsed(None) if text[:2] == 'x ' else Parsed.f")}, "ends as errored"),
    "frame": ({"task": ("floor: any_word", "floor: same_end")}, "no metric distinguishes the floor from the ceiling"),
    "repeatable": ({"parts": ("turn.random", "__import__('random').SystemRandom()")}, "differ between two runs"),
}
"""By rule: a change of the plugin, and what the fault says."""
CASCADES = {
    "targets": {"frame", "repeatable"},
    "task_files": {"templates", "answers", "examples", "frame", "repeatable", "wheel"},
    "parsers": {"answers", "examples", "frame", "repeatable"},
    "templates": {"answers", "examples", "frame", "repeatable"},
}
"""What else is at fault by the same change, where that cannot be otherwise."""


def findings(site: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> dict[str, list[str]]:
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("CREVAL_PLUGINS", name)
    found: dict[str, list[str]] = {}
    for finding in examine(Subject(name)):
        assert finding.not_examined is None
        found.setdefault(finding.case.rule, []).extend(finding.faults)
    return found


def test_a_sound_plugin_keeps_every_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(tmp_path, monkeypatch, write_rhymes(tmp_path, "rhymes_sound"))
    assert found == {rule: [] for rule in (*OF_PLUGIN, *OF_TASK)}


def test_every_rule_is_broken_here() -> None:
    assert set(BREAKING) == {*OF_PLUGIN, *OF_TASK}


@pytest.mark.parametrize("rule", sorted(BREAKING))
def test_a_plugin_learns_which_rule_it_breaks(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, message = BREAKING[rule]
    found = findings(tmp_path, monkeypatch, write_rhymes(tmp_path, f"rhymes_{rule}", changes))
    assert message in "\n".join(found[rule])
    assert {name for name, faults in found.items() if faults} <= {rule, *CASCADES.get(rule, ())}


def test_a_plugin_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="rymes"):
        cases(Subject("rymes"))


def test_without_pytest_the_rules_are_examined_by_a_module(tmp_path: Path) -> None:
    write_rhymes(tmp_path, "rhymes_alone", BREAKING["frame"][0])
    command = [sys.executable, "-m", "creval_testing", "rhymes_alone", "--json"]
    environment = {"PYTHONPATH": str(tmp_path), "CREVAL_PLUGINS": "rhymes_alone", "PATH": "", "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert [row["rule"] for row in json.loads(done.stdout) if row["faults"]] == ["frame"]
