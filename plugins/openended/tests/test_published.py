"""HypoGen and BookMIA: imported from a file or a commit, drawn by a rule, framed by sentences."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import creval
from creval.data.data_options import DataOptions
from creval.engine.run_options import RunOptions
from creval.errors import CrevalError, DataError, UsageError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_analyses.workbench import Workbench
from creval_openended.cli.importing import import_published
from creval_openended.published.imported import open_bookmia, open_hypogen, story_frame
from creval_testing.task_examples import run_examples

WORDS = ["the", "old", "harbour", "lay", "quiet", "under", "a", "thin", "moon", "while", "nobody", "watched", "it"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache"


def excerpt(number: int) -> str:
    chance = random.Random(number)
    sentences = [" ".join(chance.sample(WORDS, 10)).capitalize() + "." for _ in range(12)]
    return f"Excerpt {number}.\0 " + " ".join(sentences)


def write(file: Path, rows: list[dict[str, object]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def pairs(count: int) -> list[dict[str, object]]:
    return [
        {"paper_id": i, "bit": f"Belief {i}.", "flip": f"Idea {i}.", "spark": "not to be shown"} for i in range(count)
    ]


def run(*arguments: str) -> str:
    done = CliRunner().invoke(import_published, list(arguments), catch_exceptions=True)
    if isinstance(done.exception, CrevalError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(("name", "source"), [("hypogen", open_hypogen), ("bookmia", open_bookmia)])
def test_without_a_cache_there_is_one_message_offline(name: str, source: Any, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    with pytest.raises(DataError, match="not in the cache, and --offline forbids the network") as found:
        source(base=tmp_path, options=DataOptions(cache=tmp_path, offline=True, task=name))
    assert f"--data {name}=FILE" in str(found.value)


def test_bits_and_flips_are_kept_and_nothing_else(tmp_path: Path, cache: Path) -> None:
    rows = [*pairs(320), {"bit": "Empty.", "flip": ""}, pairs(1)[0]]
    assert "320 of 322 rows kept" in run("hypogen", str(write(tmp_path / "train.jsonl", rows)))
    docs = list(open_hypogen(base=tmp_path, options=DataOptions(cache=cache)))
    assert len(docs) == 320 and set(docs[0]) == {"id", "bit", "flip"}  # type: ignore[arg-type]
    origin = json.loads((cache / "data" / "openended" / "hypogen.origin.json").read_text())
    assert origin["file"] == "train.jsonl" and len(origin["sha256"]) == 64 and origin["kept"] == 320


def test_the_order_of_the_file_does_not_change_what_is_drawn(tmp_path: Path, cache: Path) -> None:
    drawn = []
    for order in (pairs(400), list(reversed(pairs(400)))):
        run("hypogen", str(write(tmp_path / "train.jsonl", order)))
        with Workbench(creval.RunOptions(offline=True)) as bench:
            drawn.append({doc.id: doc.fields["bit"] for _, doc in bench.docs(["hypogen"])})
    assert drawn[0] == drawn[1] and len(drawn[0]) == 300


def test_excerpts_are_framed_without_their_nuls(tmp_path: Path, cache: Path) -> None:
    run("bookmia", str(write(tmp_path / "train.jsonl", [{"snippet": excerpt(i), "label": 1} for i in range(310)])))
    docs = list(open_bookmia(base=tmp_path, options=DataOptions(cache=cache)))
    assert len(docs) == 310 and set(docs[0]) == {"id", "starter", "ending"}  # type: ignore[arg-type]
    assert "\0" not in json.dumps(docs) and docs[0]["starter"].startswith("Excerpt ")  # type: ignore[index]
    with pytest.raises(UsageError, match="no splitter 'other'"):
        open_bookmia(splitter="other", base=tmp_path, options=DataOptions(cache=cache))


def test_so_many_words_must_stand_between() -> None:
    text = "One is here. Two is here. " + "Mid word here now. " * 15 + "Three is here. Four is here."
    assert story_frame(text, 2, 2, 60) == {
        "starter": "One is here. Two is here.",
        "ending": "Three is here. Four is here.",
    }
    assert story_frame(text, 2, 2, 61) is None and story_frame("One. Two. Three. Four.", 2, 2, 0) is None
    assert story_frame(text, 3, 2, 40) is not None


def test_another_file_and_too_small_a_one_are_refused(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(DataError, match="rows have bit, flip, here are snippet"):
        run("hypogen", str(write(tmp_path / "wrong.jsonl", [{"snippet": "x"}])))
    run("hypogen", str(write(tmp_path / "train.jsonl", pairs(20))))
    with pytest.raises(DataError, match="300"), Workbench(creval.RunOptions(offline=True)) as bench:
        list(bench.docs(["hypogen"]))


def test_a_commit_is_named_in_full_and_asked_for_offline_only_in_the_cache(cache: Path) -> None:
    with pytest.raises(UsageError, match="either FILE or --revision"):
        run("hypogen")
    with pytest.raises(UsageError, match="not a full commit"):
        run("hypogen", "--revision", "main")
    pytest.importorskip("datasets")
    with pytest.raises(DataError, match="not in the cache, and --offline forbids the network"):
        run("bookmia", "--revision", "a" * 40, "--offline")


@pytest.mark.parametrize("name", ["hypogen", "bookmia"])
def test_the_examples_of_the_tasks_on_data_of_their_form(name: str, tmp_path: Path, cache: Path) -> None:
    rows = pairs(300) if name == "hypogen" else [{"snippet": excerpt(i)} for i in range(300)]
    run(name, str(write(tmp_path / "train.jsonl", rows)))
    plugins = load_plugins()
    task = TaskIndex(plugins).load(name)
    options = RunOptions(resources={"embedding": "embedded/minilm", "entailment": "cosine/0.85"}, offline=True)
    outcomes = asyncio.run(run_examples(task, options, plugins))
    assert len(outcomes) >= 8 and [fault for each in outcomes for fault in each.faults] == []
