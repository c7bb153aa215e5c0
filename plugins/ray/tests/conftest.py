"""A real cluster of several raylets on the loopback address, one for all tests of this folder."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.run_fixtures import install, make_task, options, server
from support.user_environment import hide_user

__all__ = ["install", "make_task", "options", "raylets", "server", "words"]

sys.path.insert(0, str(Path(__file__).parent))

TASK = """\
schema: 1
task: words
version: 1.0.0
title: Say a word
dataset: {source: file, file: words.jsonl, id: id}
prompt:
  - {role: user, content: "Say {{ word }}"}
generation: {max_tokens: 8}
score: exact_match
metrics:
  - {name: right, from: exact_match, aggregate: mean, primary: true, failed: zero}
"""


class Raylets:
    """The cluster: a head without cores, and machines that can be added and lost."""

    def __init__(self, cluster: Any, folder: Path) -> None:
        self._cluster = cluster
        self.folder = folder

    @property
    def spec(self) -> str:
        """The cluster as --executor takes it."""
        return f"ray://{self._cluster.address}"

    def add(self, wait: bool = True, **resources: Any) -> Any:
        """Add a machine, and wait until it is there."""
        given = {"object_store_memory": 80_000_000, "include_log_monitor": False, **resources}
        node = self._cluster.add_node(wait=False, **given)
        if wait:
            self.wait()
        return node

    def wait(self) -> None:
        """Wait until all machines are there; Ray itself waits for half a minute, which a busy machine may exceed."""
        self._cluster.wait_for_nodes(timeout=120)

    def lose(self, node: Any) -> None:
        """Let a machine be gone from one moment to the next."""
        self._cluster.remove_node(node, allow_graceful=False)


@pytest.fixture(scope="session")
def raylets() -> Iterator[Raylets]:
    """A head and two machines of two cores each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray, when it is imported: listen on 127.0.0.1 alone
    pytest.importorskip("ray", reason="no Ray: pip install creval-ray")
    from ray.cluster_utils import Cluster

    folder = Path(tempfile.mkdtemp(prefix="cr", dir="/tmp"))  # a short path: it holds sockets
    os.environ["RAY_TMPDIR"] = str(folder)  # Ray notes its cluster there, where it makes no folder for it
    (folder / "ray").mkdir()
    keys = {name: os.environ.pop(name) for name in list(os.environ) if name.endswith("_API_KEY")}
    head = {"num_cpus": 0, "include_dashboard": False, "no_monitor": True, "include_log_monitor": False}
    cluster = Cluster(
        initialize_head=True, head_node_args={**head, "object_store_memory": 80_000_000, "temp_dir": str(folder)}
    )
    os.environ.update(keys)
    found = Raylets(cluster, folder)
    for _ in range(2):
        found.add(num_cpus=2, wait=False)
    found.wait()
    yield found
    cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the user's; the caches are in the test's folder."""
    hide_user(monkeypatch)
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def words(tmp_path: Path) -> Callable[[int], tuple[str, str]]:
    """Write a task of some docs and answers to replay; returns both as the command takes them."""

    def write(count: int) -> tuple[str, str]:
        docs, said = [], []
        for i in range(count):
            target = f"word{i}" if i % 4 else "another"
            docs.append({"id": f"d{i}", "word": f"word{i}", "target": target})
            said.append(
                {"task": "words", "doc_id": f"d{i}", "condition": "default", "repeat": 0, "answers": [f"word{i}"]}
            )
        (tmp_path / "words.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
        (tmp_path / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
        (tmp_path / "words.yaml").write_text(TASK)
        return str(tmp_path / "words.yaml"), f"replay/{tmp_path / 'said.jsonl'}"

    return write
