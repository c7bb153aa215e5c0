"""HypoGen and BookMIA at a commit of the hub, by the real library against a hub on the loopback address."""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

import pytest
from support.commands import creval
from support.hub_server import HubServer

from creval.plugin import open_run
from creval.plugin.data import DataOptions
from creval_openended.published.imported import open_bookmia, open_hypogen
from creval_openended.stepwise.sentences import split_sentences

DATASETS = {"hypogen": "UniverseTBD/hypogen-dr1", "bookmia": "swj0419/BookMIA"}
ROWS = {"hypogen": 5_478, "bookmia": 310}  # the tasks state the first; of BookMIA no number is printed
OFFLINE = ("--resource", "entailment=cosine/0.85", "--resource", "embedding=embedded/minilm", "--offline")
WORDS = ["the", "old", "harbour", "lay", "quiet", "under", "a", "thin", "moon", "while", "nobody", "watched", "it"]


def excerpt(number: int) -> str:
    chance = random.Random(number)
    sentences = [" ".join(chance.sample(WORDS, 10)).capitalize() + "." for _ in range(12)]
    return f"Excerpt\0 {number} begins. " + " ".join(sentences)


def lines(name: str, count: int) -> bytes:
    rows = [
        {"bit": f"Belief {i}.\0", "flip": f"Idea {i}.", "spark": "not to be shown"}
        if name == "hypogen"
        else {"snippet": excerpt(i), "label": i % 2, "book": "not to be shown"}
        for i in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def run(folder: Path, hub: HubServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = str(folder / "home")
    return creval(folder, *arguments, HF_ENDPOINT=hub.url, HF_HOME=home, HF_HUB_DISABLE_XET="1", HF_TOKEN="")


@pytest.mark.parametrize("name", list(DATASETS))
def test_a_commit_is_fetched_once_and_played(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    with HubServer({}) as hub:
        published = hub.add(DATASETS[name], {"train.jsonl": lines(name, 310), "test.jsonl": lines(name, 50)})
        pinned = published.commits[-1].oid
        published.commit("main", "fewer", {"train.jsonl": lines(name, 5)})
        done = run(tmp_path, hub, "openended", "import", name, "--revision", pinned)
    assert done.returncode == 0, done.stderr
    assert "310 of 310 rows kept" in done.stdout
    kept = tmp_path / "cache" / "data" / "openended" / f"{name}.jsonl"
    origin = json.loads(kept.with_suffix(".origin.json").read_text("utf-8"))
    assert (origin["dataset"], origin["revision"], origin["split"]) == (DATASETS[name], pinned, "train")
    text = kept.read_text("utf-8")
    assert "not to be shown" not in text and "\\u0000" not in text and "\0" not in text

    arguments = ("--tasks", name, "--model", "baseline/ceiling", "--limit", "2", "--output", "run", *OFFLINE)
    played = run(tmp_path, hub, *arguments)  # the hub is gone: what was imported needs none
    assert played.returncode == 0, played.stderr
    scores = [score.scores["semantic_entropy"] for score in open_run(tmp_path / "run").scores()]
    assert scores == pytest.approx([2.302585] * 2, abs=1e-5)
    reported = "".join(file.read_text("utf-8") for file in (tmp_path / "run").rglob("*.jsonl"))
    if name == "hypogen":
        assert "Belief" in reported
    else:  # by A22 two sentences begin it and two end it; kept by reference, no run passes them on
        docs = list(open_bookmia(base=tmp_path, options=DataOptions(cache=tmp_path / "cache", offline=True)))
        sentences = [split_sentences(json.loads(line)["snippet"]) for line in text.splitlines()]
        framed = [(" ".join(one[:2]), " ".join(one[-2:])) for one in sentences]
        assert [(doc["starter"], doc["ending"]) for doc in docs] == framed  # type: ignore[index]
        assert "begins." not in reported and "harbour" not in reported


def test_tasks_fetch_their_data_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("datasets")
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    arguments = ("--tasks", ",".join(DATASETS), "--model", "baseline/floor", "--limit", "1", "--output", "run")
    local = ("--resource", "entailment=cosine/0.85", "--resource", "embedding=embedded/minilm")
    pinned = {}
    with HubServer({}) as hub:
        for name, dataset in DATASETS.items():
            published = hub.add(dataset, {"train.jsonl": lines(name, ROWS[name]), "test.jsonl": lines(name, 50)})
            pinned[name] = published.commits[-1].oid
        done = run(tmp_path, hub, *arguments, *local)
    assert done.returncode == 0, done.stderr
    offline = DataOptions(cache=tmp_path / "cache", offline=True)
    for name, source in (("hypogen", open_hypogen), ("bookmia", open_bookmia)):
        rows = source(base=tmp_path, options=offline)
        assert rows.origin == f"huggingface {DATASETS[name]}@{pinned[name][:12]} split train"
        assert len(rows) == ROWS[name]
    reported = "".join(file.read_text("utf-8") for file in (tmp_path / "run").rglob("*.jsonl"))
    assert "Belief" in reported and "harbour" not in reported  # excerpts of books are kept by reference


NEAR = """\
schema: 1
include: openended/{0}
task: {0}
version: 1.0.0
title: The task as shipped, with encoders that are here
resources: {{entailment: cosine/0.85, embedding: embedded/minilm}}
"""


@pytest.mark.parametrize("name", list(DATASETS))
def test_what_prefetch_fetched_is_enough_for_a_run_offline(name: str, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    (tmp_path / "near.yaml").write_text(NEAR.format(name))
    with HubServer({}) as hub:
        published = hub.add(DATASETS[name], {"train.jsonl": lines(name, ROWS[name]), "test.jsonl": lines(name, 50)})
        origin = f"300 docs from huggingface {DATASETS[name]}@{published.commits[-1].oid[:12]} split train"
        first = run(tmp_path, hub, "prefetch", "near.yaml")
        assert first.returncode == 0 and f"{name}  data: fetched: {origin}" in first.stdout, first
        pin = f"{name}  to pin this commit: dataset: {{revision: {published.commits[-1].oid}}}\n"
        assert pin in first.stdout
        fetched = hub.asked("GET", f"{DATASETS[name]}/resolve")
        published.commit("main", "fewer", {"train.jsonl": lines(name, 5)})
        again = run(tmp_path, hub, "prefetch", "near.yaml")
        assert f"{name}  data: here already: {origin}" in again.stdout and pin in again.stdout, again
        assert fetched and hub.asked("GET", f"{DATASETS[name]}/resolve") == fetched
    arguments = ("--tasks", name, "--model", "baseline/floor", "--limit", "2", "--output", "run", *OFFLINE)
    played = run(tmp_path, hub, *arguments)  # the task as shipped; the hub is gone
    assert played.returncode == 0, played.stderr
    assert len(list(open_run(tmp_path / "run").scores())) == 2
    reported = "".join(file.read_text("utf-8") for file in (tmp_path / "run").rglob("*") if file.is_file())
    assert bool(re.search(r"Belief \d", reported)) == (name == "hypogen")
    assert not re.search(r"harbour|Excerpt \d", reported)  # of BookMIA nothing but digests, in no file


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("hypogen", ("hypogen", 5_477), "it has 5,477 rows, the task expects 5,478"),
        (
            "bookmia",
            ("hypogen", 310),
            "it has no column 'snippet', which the task expects (there are bit, flip, spark)",
        ),
        ("hypogen", ("bookmia", 5_478), "it has no column 'bit', which the task expects (there are snippet,"),
    ],
)
def test_newest_data_that_are_not_those_of_the_task_are_refused(
    name: str, given: tuple[str, int], said: str, tmp_path: Path
) -> None:
    pytest.importorskip("datasets")
    (tmp_path / "near.yaml").write_text(NEAR.format(name))
    with HubServer({}) as hub:
        published = hub.add(DATASETS[name], {"train.jsonl": lines(*given), "test.jsonl": lines(given[0], 50)})
        chosen = published.commits[-1].oid
        refused = run(tmp_path, hub, "prefetch", "near.yaml")
        (tmp_path / "near.yaml").write_text(NEAR.format(name) + f"dataset: {{revision: {chosen}}}\n")
        pinned = run(tmp_path, hub, "prefetch", "near.yaml")
    where = f"{hub.url}/datasets/{DATASETS[name]}/commits/main"
    assert refused.returncode == 1 and "to pin" not in refused.stdout, refused
    for text in (f"the newest commit {chosen} is another data set: {said}", where, "dataset: {revision: COMMIT}"):
        assert text in refused.stdout, refused.stdout
    if given[0] == name:  # chosen on purpose: fetched, and there is nothing to pin
        assert pinned.returncode == 0 and "to pin" not in pinned.stdout, pinned


def test_a_commit_that_the_hub_has_not_is_named(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    with HubServer({}) as hub:
        hub.add(DATASETS["bookmia"], {"train.jsonl": lines("bookmia", 3)})
        nowhere = run(tmp_path, hub, "openended", "import", "bookmia", "--revision", "b" * 40)
    assert nowhere.returncode != 0 and "b" * 40 in nowhere.stderr and "Traceback" not in nowhere.stderr
    assert not (tmp_path / "cache" / "data" / "openended").exists()
