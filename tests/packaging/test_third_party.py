"""A stranger's plugin as a wheel: checked as the registry checks it, next to another, with a core that is too old."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from support.distributions import PLUGINS, ROOT
from support.rhymes import write_rhymes
from support.toy_plugins import write_distribution

from creval.errors import TaskError, UnknownNameError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_testing.check_entry import Source, check_entry
from creval_testing.registry_entries import RegistryEntry, read_entries, read_entry


@pytest.fixture
def entry(unpacked: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> RegistryEntry:
    """The entry of the example, as its author would write it."""
    monkeypatch.syspath_prepend(str(unpacked["creval-wordchain"]))
    monkeypatch.setenv("CREVAL_PLUGINS", "wordchain")
    index = TaskIndex(load_plugins())
    tasks = {name: index.load(f"wordchain/{name}") for name in ("wordchain", "wordchain_rated")}
    said = {name: {"version": task.version, "hash": task.hash} for name, task in tasks.items()}
    return RegistryEntry(
        "wordchain", "creval-wordchain", "1.0.0", "https://example.org", "0" * 40, "MIT", "Chains of words", said
    )


def test_the_example_passes_the_check_of_the_registry(entry: RegistryEntry, wheels: dict[str, Path]) -> None:
    source = Source(wheels["creval-wordchain"].parent, shared=True)
    checks = {check.name: list(check.faults) for check in check_entry(entry, source)}
    assert checks == {"install": [], "version": [], "licence": [], "tasks": [], "conformance": []}


def test_the_tests_of_the_example_pass_on_its_wheel(run: Any) -> None:
    tests = str(ROOT / "examples" / "creval-wordchain" / "tests" / "test_wordchain.py")
    names = [
        "core",
        "testing",
        "analyses",
        "creval-wordchain",
    ]  # the second for our own conftest
    done = run(names, "pytest", "-q", "-p", "creval_testing", "-p", "no:cacheprovider", tests)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_entry_that_is_not_what_the_package_holds_is_reported(entry: RegistryEntry, wheels: dict[str, Path]) -> None:
    from dataclasses import replace

    tasks = {"wordchain": {"version": "1.0.0", "hash": "f" * 64}, "other": {"version": "1.0.0", "hash": "f" * 64}}
    source = Source(wheels["creval-wordchain"].parent, shared=True)
    checks = check_entry(replace(entry, tasks=tasks, licence="Apache-2.0"), source)
    found = {check.name: check.faults for check in itertools.islice(checks, 4)}
    assert found["version"] == []
    assert found["licence"] == ["the entry says Apache-2.0, and the package states MIT"]
    missing, lacking, other = found["tasks"]
    assert "has no task 'other'" in missing
    assert "lacks the task 'wordchain_rated'" in lacking
    assert "the entry's hash is fff" in other


def test_a_package_that_cannot_be_installed_ends_the_check(entry: RegistryEntry, tmp_path: Path) -> None:
    (check,) = check_entry(entry, Source(tmp_path, shared=True))
    assert check.name == "install"
    assert "holds no wheel of creval and creval-testing and creval-wordchain" in check.faults[0]


def test_a_package_is_installed_with_what_it_needs_and_examined_with_what_its_entry_says(
    wheels: dict[str, Path],
) -> None:
    (entry,) = read_entries(["create"])
    assert entry.resources == {"embedding": "embedded/minilm"} and entry.needs[0] == "creval-embedded"
    checks = itertools.islice(check_entry(entry, Source(wheels["create"].parent, shared=True)), 4)
    found = {check.name: [fault for fault in check.faults if "hash is" not in fault] for check in checks}
    # hashes are held where the version is released
    assert found == {"install": [], "version": [], "licence": [], "tasks": []}


def test_our_own_entries_are_sound_and_name_what_is_there() -> None:
    entries = {entry.plugin: entry for entry in read_entries()}
    assert set(entries) == set(PLUGINS)
    index = TaskIndex(load_plugins())
    for entry in entries.values():
        changelog = (ROOT / "plugins" / entry.plugin / "CHANGELOG.md").read_text("utf-8")
        if f"## [{entry.version}] - Unreleased" in changelog:
            continue  # its tasks may still change; the entry is written anew when the version is released
        for name, stated in entry.tasks.items():
            task = index.load(f"{entry.plugin}/{name}")
            if (task.version, task.plugin_version) == (stated["version"], entry.version):
                assert task.hash == stated["hash"], f"{name}: write the entries anew: python tools/make_registry.py"


def test_a_faulty_entry_is_reported_by_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text((ROOT / "registry" / "embedded.yaml").read_text())
    with pytest.raises(TaskError, match=r"Call it embedded\.yaml"):
        read_entry(file)
    file.write_text("schema: 1\nplugin: mine\ntaks: {}\n")
    with pytest.raises(TaskError, match=r"mine\.yaml:3:1: \[taks\] unknown key 'taks'"):
        read_entry(file)
    with pytest.raises(UnknownNameError, match="embedded"):
        read_entries(["embeded"])


@pytest.mark.parametrize(
    "need", ["-r/etc/passwd", "--index-url=http://x", "x @ file:///etc", "../package", "a b", "name; rm -rf x", ""]
)
def test_an_entry_names_packages_and_gives_pip_no_options(tmp_path: Path, need: str) -> None:
    file = tmp_path / "embedded.yaml"
    text = (ROOT / "registry" / "embedded.yaml").read_text()
    assert read_entry(ROOT / "registry" / "embedded.yaml").plugin == "embedded"
    file.write_text(f"{text}needs: [{json.dumps(need)}]\n" if "\nneeds:" not in text else "")
    with pytest.raises(TaskError, match=r"is not the name of a package|is too short|must not be empty"):
        read_entry(file)


def test_two_plugins_with_a_task_of_one_name(run: Any, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_rhymes(site, "twin", {"task": ("task: twin", "task: wordchain")})
    names = ["core", "creval-wordchain"]
    done = run(names, "creval", "--tasks", "wordchain", "--model", "baseline/floor", more=[site])
    assert done.returncode == 2
    assert "twin/wordchain" in done.stderr and "wordchain/wordchain" in done.stderr
    both = "twin/wordchain,wordchain/wordchain"
    done = run(names, "creval", "--tasks", both, "--model", "baseline/ceiling", "--output", "both", more=[site])
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "both" / "results.json").read_text())
    assert [task["task"] for task in results["tasks"]] == ["twin.wordchain", "wordchain.wordchain"]


def test_one_that_needs_a_newer_core_is_left_out_and_costs_nobody_else_anything(run: Any, tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_distribution(
        site, "creval-future", {"creval_future/__init__.py": ""}, {"future": "creval_future"}, ("creval>=9",)
    )
    done = run(["core", "creval-wordchain"], "creval", "plugins", "--json", more=[site])
    said = json.loads(done.stdout)
    (failure,) = said["failures"]
    assert failure["name"] == "future"
    assert "needs creval >=9" in failure["error"]
    assert "wordchain" in {plugin["name"] for plugin in said["plugins"]}
