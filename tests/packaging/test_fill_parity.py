"""The script finds again what tasks state of parity, and writes it where it stands."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.parity import Parity, block, differing

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex

ROOT = Path(__file__).resolve().parents[2]
QUICK = [
    "plugins/association/tests/test_pace.py",
    "plugins/association/tests/test_rat_aut.py",
    "plugins/association/tests/test_dat.py",
    "plugins/openended/tests/test_entropy.py",
]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fill_parity", ROOT / "tools" / "fill_parity.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_finds_what_the_tasks_state(reference_data: Path) -> None:
    """Those that take a moment; each of the others that compares all is held to its task where it is run."""
    command = [sys.executable, "tools/fill_parity.py", "--check", *QUICK]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "6 tasks state what was found"


def test_every_block_is_written_as_it_is(tool: ModuleType) -> None:
    index = TaskIndex(load_plugins())
    texts = {file: file.read_text(encoding="utf-8") for file in {head.file for head in index.headers()}}
    lines = "\n".join(texts.values())
    assert '\nparity: {"against"' in lines and '\n    parity: {"against"' in lines
    some = [head for head in index.headers() if head.kind == "task" and '"against"' in texts[head.file]]
    stated = [(head, dict(index.load(head.qualified).parity)) for head in some]
    held = [(head, parity) for head, parity in stated if "against" in parity]
    assert len(held) > 20
    for head, parity in held:
        assert tool.written(texts[head.file], head.variant, parity) == texts[head.file], head.name


def test_a_first_block_is_under_its_title(tool: ModuleType) -> None:
    text = "task: a\ntitle: A\nvariants:\n  b:\n    title: B\n    repeats: 2\n"
    once = tool.written(text, "b", {"answers": 1})
    assert once == 'task: a\ntitle: A\nvariants:\n  b:\n    title: B\n    parity: {"answers": 1}\n    repeats: 2\n'
    assert tool.written(once, "b", {"answers": 2}) == once.replace("1}", "2}")
    assert tool.written(text, None, {"answers": 1}).splitlines()[2] == 'parity: {"answers": 1}'


def test_comparisons_of_one_task_are_joined(tool: ModuleType) -> None:
    one = {"task": "t", **block({"against": "x"}, [(1, 1), (2, 2.5)], 0.1)}
    two = {"task": "t", **block({"against": "x"}, [(1, 1), (1, 1)], 0.1)}
    assert tool.joined([one, two]) == {"t": {"against": "x", "answers": 4, "agreement": 0.75, "worst": 0.5}}
    mean = {"task": "u", **block({"against": "x"}, [(0.5, 0.25)], 0, answers=10)}
    assert tool.joined([mean, mean])["u"] == {
        "against": "x", "answers": 20, "numbers": 2, "agreement": 0.0, "worst": 0.25,
    }  # fmt: skip


def test_a_comparison_that_a_task_does_not_state_fails_its_test() -> None:
    with pytest.raises(AssertionError, match=r"pace: against is 'nobody', and its file states"):
        Parity(None).add("pace", {"against": "nobody"}, [(1.0, 1.0)], 0)
    Parity(None).add("pace", {"against": "nobody"}, [(1.0, 1.0)], 0, whole=False)  # a sample says nothing


def test_what_differs() -> None:
    stated = block({"against": "x"}, [(1.0, 1.0), (1.0, 1.001)], 0.01)
    assert differing(stated, stated) == ""
    assert differing({**stated, "worst": 1.1e-3}, stated) == ""
    assert "the worst is 0.1, not 0.001" in differing({**stated, "worst": 0.1}, stated)
    assert "agreement is 0.5" in differing({**stated, "agreement": 0.5}, stated)
    assert differing(stated, {}) == "against is 'x', and its file states None"
