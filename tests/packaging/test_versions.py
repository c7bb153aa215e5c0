"""What was released may change only under another version; what is being made may."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASE = "metrics: [{name: a, failed: zero}]\nversion: 1.0.0\n"
TASK = "include: _base.yaml\ntask: toy\ntitle: Toy\nrepeats: 1\nvariants:\n  cold: {generation: {temperature: 0}}\n"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_versions", ROOT / "tools" / "check_versions.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a released core and a released plugin with a task and a variant."""
    write(tmp_path, "pyproject.toml", '[project]\nversion = "1.0.0"\n')
    write(tmp_path, "core/creval/x.py", "x = 1\n")
    write(tmp_path, "plugins/toy/pyproject.toml", '[project]\nversion = "0.3.0"\n')
    write(tmp_path, "plugins/toy/creval_toy/x.py", "x = 1\n")
    write(tmp_path, "task_yaml/toy/toy.yaml", TASK)
    write(tmp_path, "task_yaml/toy/_base.yaml", BASE)
    write(tmp_path, "CHANGELOG.md", "## [1.0.0] - 2026-11-01\n")
    write(tmp_path, "plugins/toy/CHANGELOG.md", "## [0.3.0] - 2026-11-01\n")
    for command in (["init", "-q"], ["config", "user.email", "a@b.c"], ["config", "user.name", "A"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    commit(tmp_path)
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def commit(root: Path) -> None:
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", "commit", "-qm", "x", "--allow-empty"], cwd=root, check=True)
    subprocess.run(["git", "tag", "-f", "ref"], cwd=root, check=True, capture_output=True)


def test_nothing_changed(tool: ModuleType, tree: Path) -> None:
    assert tool.faults(tree, "ref") == []


@pytest.mark.parametrize(("file", "who"), [("core/creval/x.py", "creval:"), ("plugins/toy/creval_toy/x.py", "toy:")])
def test_code_that_changed_needs_another_version(tool: ModuleType, tree: Path, file: str, who: str) -> None:
    write(tree, file, "x = 2\n")
    (fault,) = tool.faults(tree, "ref")
    assert fault.startswith(who) and file in fault


def test_with_another_version_and_its_entry_all_is_right(tool: ModuleType, tree: Path) -> None:
    write(tree, "plugins/toy/creval_toy/x.py", "x = 2\n")
    write(tree, "plugins/toy/pyproject.toml", '[project]\nversion = "0.3.1"\n')
    (fault,) = tool.faults(tree, "ref")
    assert "has no entry for version 0.3.1" in fault
    write(tree, "plugins/toy/CHANGELOG.md", "## [0.3.1] - Unreleased\n\n## [0.3.0] - 2026-11-01\n")
    assert tool.faults(tree, "ref") == []


@pytest.mark.parametrize(
    ("file", "old", "new", "tasks"),
    [
        ("toy.yaml", "repeats: 1", "repeats: 2", ["toy", "toy_cold"]),
        ("_base.yaml", "failed: zero", "failed: exclude", ["toy", "toy_cold"]),
        ("toy.yaml", "temperature: 0", "temperature: 1", ["toy_cold"]),
        ("toy.yaml", "title: Toy", "title: A toy", []),
        ("toy.yaml", "title: Toy", "title: Toy\nparity: {against: x}", []),
        ("_base.yaml", "version: 1.0.0", "version: 1.1.0\nrepeats: 3", []),
    ],
)
def test_a_task_that_changed_needs_a_version_of_its_own(
    tool: ModuleType, tree: Path, file: str, old: str, new: str, tasks: list[str]
) -> None:
    place = f"task_yaml/toy/{file}"
    write(tree, place, (tree / place).read_text().replace(old, new))
    write(tree, "plugins/toy/pyproject.toml", '[project]\nversion = "0.3.1"\n')
    write(tree, "plugins/toy/CHANGELOG.md", "## [0.3.1] - Unreleased\n")
    assert [fault.split(" ")[0] for fault in tool.faults(tree, "ref")] == tasks


def test_what_is_still_being_made_may_change(tool: ModuleType, tree: Path) -> None:
    write(tree, "plugins/toy/CHANGELOG.md", "## [0.3.0] - Unreleased\n")
    commit(tree)
    write(tree, "plugins/toy/creval_toy/x.py", "x = 2\n")
    write(tree, "task_yaml/toy/toy.yaml", TASK.replace("repeats: 1", "repeats: 2"))
    assert tool.faults(tree, "ref") == []


def test_without_tags_each_is_held_to_the_commit_that_dated_it(
    tool: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["git", "tag", "-d", "ref"], cwd=tree, check=True, capture_output=True)
    first = tool.git(tree, "rev-parse", "--short", "HEAD")
    write(tree, "plugins/toy/creval_toy/x.py", "x = 2\n")
    write(tree, "task_yaml/toy/toy.yaml", TASK.replace("repeats: 1", "repeats: 2"))
    assert tool.main(["--root", str(tree)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [f"creval: held to {first}, which dated 1.0.0", f"toy: held to {first}, which dated 0.3.0"]
    assert [line.split(" ")[0] for line in said[2:]] == ["toy:", "toy", "toy_cold"]
    write(tree, "plugins/toy/pyproject.toml", '[project]\nversion = "0.3.1"\n')
    write(tree, "plugins/toy/CHANGELOG.md", "## [0.3.1] - Unreleased\n\n## [0.3.0] - 2026-11-01\n")
    assert tool.main(["--root", str(tree)]) == 1  # the tasks' own versions
    write(tree, "task_yaml/toy/_base.yaml", BASE.replace("1.0.0", "1.1.0"))
    assert tool.main(["--root", str(tree)]) == 0


def test_a_tag_of_its_own_comes_first_and_moves_no_other(
    tool: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tree, "plugins/toy/creval_toy/x.py", "x = 2\n")
    commit(tree)
    subprocess.run(["git", "tag", "toy-v0.3.0"], cwd=tree, check=True)
    assert tool.main(["--root", str(tree)]) == 0
    said = capsys.readouterr().out
    assert "toy: held to the tag toy-v0.3.0" in said and "creval: held to " in said


def test_what_was_never_released_is_reported_with_its_first_commit(
    tool: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = tool.git(tree, "rev-parse", "--short", "HEAD")
    write(tree, "plugins/toy/CHANGELOG.md", "## [0.3.0] - Unreleased\n")
    commit(tree)
    write(tree, "plugins/toy/creval_toy/x.py", "x = 2\n")
    assert tool.main(["--root", str(tree)]) == 0
    assert f"toy 0.3.0: never released; being made since {first}, and free to change" in capsys.readouterr().out
