"""Each distinct text is embedded once per run, and once across runs with the same resource."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.errors import ScoringError
from creval.resources.open_resource import CachedEmbedding
from creval.resources.resource_options import ResourceOptions


class Counting:
    """An embedding that notes every text it is asked for."""

    dimension = 3

    def __init__(self, name: str = "counting/one@1") -> None:
        self.name = name
        self.asked: list[str] = []
        self.batches: list[int] = []

    def has(self, text: str) -> bool:
        return True

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        self.batches.append(len(texts))
        return np.array([[len(t), sum(map(ord, t)) % 997, 1.0] for t in texts], dtype=np.float32)


def options(folder: Path, **more: object) -> ResourceOptions:
    return ResourceOptions(cache=folder, **more)  # type: ignore[arg-type]


def test_each_distinct_text_is_embedded_once_in_batches(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedding(inner, options(tmp_path, batch_size=4))
    texts = [f"word{i % 10}" for i in range(50)]
    first = cached.embed(texts)
    again = cached.embed(texts)
    assert first.shape == (50, 3) and first.dtype == np.float32
    np.testing.assert_array_equal(first, again)
    assert sorted(inner.asked) == sorted(set(texts))
    assert max(inner.batches) <= 4


def test_a_second_run_takes_vectors_from_disk(tmp_path: Path) -> None:
    one = CachedEmbedding(Counting(), options(tmp_path))
    expected = one.embed(["brick", "paper clip"])
    one.close()
    inner = Counting()
    two = CachedEmbedding(inner, options(tmp_path))
    np.testing.assert_array_equal(two.embed(["brick", "paper clip"]), expected)
    assert inner.asked == []


def test_another_revision_never_meets_the_vectors_of_this_one(tmp_path: Path) -> None:
    CachedEmbedding(Counting("m@1"), options(tmp_path)).embed(["brick"])
    inner = Counting("m@2")
    CachedEmbedding(inner, options(tmp_path)).embed(["brick"])
    assert inner.asked == ["brick"]


def test_without_creval_encoders_nothing_is_kept_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("creval.resources.open_resource.find_spec", lambda name: None)
    cached = CachedEmbedding(Counting(), options(tmp_path))
    cached.embed(["brick"])
    cached.close()
    assert list(tmp_path.iterdir()) == []
    assert [each.getMessage() for each in caplog.records] == [
        "counting/one@1: results are not kept across runs: pip install creval-encoders"
    ]


def test_persist_off_writes_nothing(tmp_path: Path) -> None:
    CachedEmbedding(Counting(), options(tmp_path, persist=False)).embed(["brick"])
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_costs_time_not_the_run(tmp_path: Path) -> None:
    (tmp_path / "embeddings.sqlite").write_bytes(b"this is no database" * 100)
    inner = Counting()
    cached = CachedEmbedding(inner, options(tmp_path))
    assert cached.embed(["brick"]).shape == (1, 3)
    assert inner.asked == ["brick"]


def test_a_row_of_wrong_length_is_made_anew(tmp_path: Path) -> None:
    one = CachedEmbedding(Counting(), options(tmp_path))
    expected = one.embed(["brick"])
    one.close()
    with sqlite3.connect(tmp_path / "embeddings.sqlite") as connection:
        connection.execute("UPDATE vector SET value = ?", (b"\0" * 8,))
    np.testing.assert_array_equal(CachedEmbedding(Counting(), options(tmp_path)).embed(["brick"]), expected)


def test_empty_text_and_bad_vectors_are_errors(tmp_path: Path) -> None:
    class Broken(Counting):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.full((len(texts), 3), np.nan, dtype=np.float32)

    class Short(Counting):
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.zeros((len(texts), 2), dtype=np.float32)

    with pytest.raises(ScoringError, match="empty text"):
        CachedEmbedding(Counting(), options(tmp_path)).embed(["a", ""])
    with pytest.raises(ScoringError, match="'brick' is not finite"):
        CachedEmbedding(Broken("b@1"), options(tmp_path)).embed(["brick"])
    with pytest.raises(ScoringError, match="shape"):
        CachedEmbedding(Short("s@1"), options(tmp_path)).embed(["brick"])


def test_several_threads_embed_each_text_once(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedding(inner, options(tmp_path))
    words = [f"w{i}" for i in range(200)]
    threads = [Thread(target=cached.embed, args=(words[i:] + words[:i],)) for i in range(0, 200, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(inner.asked) == sorted(words)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), max_size=30))
def test_order_and_repeats_are_kept(texts: list[str]) -> None:
    cached = CachedEmbedding(Counting(), ResourceOptions(persist=False, batch_size=3))
    np.testing.assert_array_equal(
        cached.embed(texts), Counting().embed(texts) if texts else np.zeros((0, 3), dtype=np.float32)
    )
