"""The cache of vectors, a file that several processes use at once."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import numpy as np

from creval_encoders.vector_cache import VectorCache


def test_a_file_that_another_process_is_creating_is_waited_for(tmp_path: Path) -> None:
    """sqlite itself gives up at once, and the run would go on without a cache."""
    path = tmp_path / "vectors.sqlite"
    creator = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    creator.execute("BEGIN IMMEDIATE")
    creator.execute("CREATE TABLE other (a)")
    timer = threading.Timer(0.3, creator.execute, ("ROLLBACK",))
    timer.start()
    cache = VectorCache(path, "embedding", 2)
    cache.write({"a": np.array([1.0, 2.0])})
    assert cache.read(["a"])["a"].tolist() == [1.0, 2.0]
    timer.join()
    creator.close()
