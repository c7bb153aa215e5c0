"""Folders of tasks with faults: one message that names the task, and the other tasks of the folder stay usable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from creval.cli.root import cli
from creval.errors import DataError
from creval_lmeval.library import load_task
from creval_lmeval.names import digest_of
from creval_lmeval.roots import include, known, withdraw

pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
TASK = """
task: {name}
dataset_path: openai/gsm8k
dataset_name: main
test_split: test
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
{more}
"""
FILES = {
    "sound.yaml": TASK.format(name="sound", more=""),
    "broken.yaml": "task: [broken\n  : {",
    "raises.yaml": TASK.format(name="raises", more="process_results: !function bad.process"),
    "lacks.yaml": TASK.format(name="lacks", more="process_results: !function utils.gone"),
    "imports.yaml": TASK.format(name="imports", more="process_results: !function needs.process"),
    "pictures.yaml": TASK.format(name="pictures", more="doc_to_image: [question]"),
    "absent.yaml": TASK.format(name="absent", more="").replace("openai/gsm8k", "./nowhere"),
    "bad.py": "raise RuntimeError('the file is at fault')\n",
    "utils.py": "def process(doc, results):\n    return {}\n",
    "needs.py": "import no_such_package\n",
}


@pytest.fixture(scope="module")
def folder(home: Path) -> Iterator[Path]:
    made = home / "faulty"
    made.mkdir()
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    include(made)
    yield made
    withdraw(made)


def test_a_fault_is_one_message_and_other_tasks_stay(folder: Path) -> None:
    assert {"sound", "raises", "lacks", "imports", "pictures", "absent"} <= known().keys()
    assert "broken" not in known()
    assert "sound" in CliRunner().invoke(cli, ["ls", "lmeval/sound"]).output
    digest = digest_of(folder)
    assert len(load_task("sound", digest).docs) == 6
    for name, said in (
        ("raises", "the file is at fault"),
        ("lacks", "gone"),
        ("imports", "pip install no_such_package"),
        ("pictures", "asks with images or audio, which creval-lmeval does not send"),
        ("absent", "nowhere"),
    ):
        with pytest.raises(DataError) as raised:
            load_task(name, digest)
        message = str(raised.value)
        assert said in message and f"lmeval/{name}" in message and len(message.splitlines()) <= 3, message
