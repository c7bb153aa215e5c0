"""`creval association vectors`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from creval.errors import DataError, UsageError
from creval.resources.resource_options import ResourceOptions
from creval_association.cli.vectors import vectors
from creval_encoders.word_vectors import open_glove


def call(*arguments: str) -> str:
    result = CliRunner().invoke(vectors, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_add_list_use_remove(tmp_path: Path) -> None:
    file = tmp_path / "glove.txt"
    file.write_text("rock 1 2 3\nstone 4 5 6\n")
    cache = ("--cache", str(tmp_path / "cache"))
    assert "none yet" in call("list", *cache)
    assert "glove-840b: 2 words of 3 numbers (float32)" in call("add", "glove-840b", str(file), *cache)
    assert "glove-840b\t2\t3\tfloat32\tsha256" in call("list", *cache)
    glove = open_glove("840b", ResourceOptions(cache=tmp_path / "cache"))
    assert glove.embed(["stone"]).tolist() == [[4, 5, 6]]
    call("add", "glove/840b", str(file), "--dtype", "float16", *cache)  # the same name: replaced
    assert "float16" in call("list", *cache)
    call("remove", "glove-840b", *cache)
    assert "none yet" in call("list", *cache)


def test_faults_have_a_fix(tmp_path: Path) -> None:
    cache = ("--cache", str(tmp_path / "cache"))
    bad = tmp_path / "bad.txt"
    bad.write_text("no numbers here\n")
    with pytest.raises(DataError, match="not words followed by"):
        call("add", "x", str(bad), *cache)
    with pytest.raises(UsageError, match="is not a valid name"):
        call("add", "..", str(bad), *cache)
    with pytest.raises(UsageError, match="no vectors called"):
        call("remove", "x", *cache)
