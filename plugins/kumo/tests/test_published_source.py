"""The published games as a dataset: fetched from a real server on the loopback, pinned, kept, refused where altered."""

from __future__ import annotations

import asyncio
import functools
import gzip
import hashlib
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from authors_clone import AGENT_TEXT
from click.testing import CliRunner

from creval.cli.main import invoke
from creval.data.data_options import DataOptions
from creval.engine.run_options import RunOptions
from creval.errors import DataError, UnknownNameError, UsageError
from creval.plugin import open_run
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval_datasets.cli import prefetch
from creval_kumo.domains import PAPER_DOMAINS
from creval_kumo.games.instance import Instance
from creval_kumo.published import source
from creval_kumo.published.authors_files import AGENT, AuthorsFiles
from creval_kumo.published.published_domains import read_domains, read_instances
from creval_kumo.published.published_files import COMMIT, PublishedFiles
from creval_kumo.published.source import cache_of, open_published, published_docs
from creval_kumo.published.wording import Wording
from creval_testing.task_examples import run_examples

PLUGINS = load_plugins()
TASKS = ("kumo_published_easy", "kumo_published_hard", "kumo_published_all")
FIVE = [f"{name.capitalize()}Env" for name in PAPER_DOMAINS]


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder and counts what was asked for."""

    def do_GET(self) -> None:
        self.server.requests.append(self.path)  # type: ignore[attr-defined]
        super().do_GET()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def served(clone: Path, tmp_path: Path) -> Iterator[tuple[Path, ThreadingHTTPServer]]:
    """A copy of the clone that may be altered, and the server that serves it."""
    folder = Path(shutil.copytree(clone, tmp_path / "served"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    server.requests = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield folder, server
    server.shutdown()
    server.server_close()
    thread.join()


def pins_of(folder: Path) -> dict[str, Any]:
    """Pin the files of a folder as `published_files.jsonl` pins those of the repository."""

    def sha256(path: str | Path) -> str:
        return hashlib.sha256((folder / path).read_bytes()).hexdigest()

    pins = {}
    for name, data in AuthorsFiles(folder).domains().items():
        games, books = AuthorsFiles.places(name, 4, 6)
        source = f"env/{name.removesuffix('Env').lower()}_env.py"
        pins[name] = {
            "configuration": {source: sha256(source), f"env/data/{data.name}": sha256(data)},
            "easy": {
                "games": sha256(games),
                "books": [sha256(f"{books}/seed={seed}.txt") for seed in range(50)],
            },
        }
    return pins


def files_of(served: tuple[Path, ThreadingHTTPServer], cache: Path, offline: bool = False) -> PublishedFiles:
    folder, server = served
    agent = hashlib.sha256((folder / AGENT).read_bytes()).hexdigest()
    return PublishedFiles(cache, f"http://127.0.0.1:{server.server_port}", offline, pins=pins_of(folder), agent=agent)


def test_files_are_fetched_once_and_give_the_published_games(
    served: tuple[Path, ThreadingHTTPServer], reference_data: Path, tmp_path: Path
) -> None:
    requests = served[1].requests  # type: ignore[attr-defined]
    for offline in (False, False, True):
        authors = files_of(served, tmp_path / "cache", offline).fetch(["MedicalEnv", "FantasyEnv"], "easy")
        assert len(requests) == 2 * (2 + 1 + 50) + 1
    for name in ("MedicalEnv", "FantasyEnv"):
        published = read_domains(reference_data / "kumo" / "seed_configs.jsonl.gz")[name]
        games = read_instances(reference_data / "kumo" / "instances" / f"{name}.easy.jsonl.gz", published)
        for doc, game in zip(published_docs(authors, name, "easy"), games, strict=True):
            assert Instance.from_doc(doc) == game and doc["book"] == game.book != ""


def test_games_are_asked_in_the_wording_of_their_authors(
    served: tuple[Path, ThreadingHTTPServer], tmp_path: Path
) -> None:
    authors = files_of(served, tmp_path / "cache").fetch(["MedicalEnv"], "easy")
    doc = next(published_docs(authors, "MedicalEnv", "easy"))
    task = TaskIndex(PLUGINS).load("kumo_published_easy")
    script = (f"first thoughts <ANSWER> ${{{doc['actions'][0]}}} </ANSWER>", "<ANSWER> x </ANSWER>")
    file = tmp_path / "medical.jsonl"
    file.write_text(json.dumps(doc) + "\n")
    run = tmp_path / "run"
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"task": task.name, "doc": doc["id"], "answers": script}) + "\n")
    words = f"--tasks kumo_published_easy --data kumo_published_easy={file} --model replay/{answers} --repeats 1"
    assert invoke([*words.split(), "--output", str(run), "--offline"]) == 0
    truths, actions = doc["truths"], doc["actions"]
    shown = {"action": actions[0], "observation": doc["observations"][actions[0]]}
    system = f"\nMade up: one of these is so. {{curly}}\n\nThey are: {truths}\n\nDo: {actions}\n"
    turn = f"Take one of: {actions} or name one of: {truths}. End with '<ANSWER> ${{name}} </ANSWER>'."
    begun = {"role": "system", "content": f"{system}\n\nA made-up guide:\n\n{doc['book']}"}
    (sample,) = open_run(run).samples()
    first, second = (
        sample.calls[0].messages,
        [*sample.calls[0].messages[: sample.calls[1].kept], *sample.calls[1].messages],
    )
    assert first == [begun, {"role": "user", "content": turn}]
    assert second == [
        begun,
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": script[0]},
        {"role": "user", "content": f"You saw: {shown}\n\n{turn}"},
    ]


def test_prefetch_fetches_the_wording_with_the_games(
    served: tuple[Path, ThreadingHTTPServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CREVAL_DATA", raising=False)
    monkeypatch.setattr(source, "PublishedFiles", lambda folder, _, offline, __: files_of(served, folder, offline))
    task = tmp_path / "medical.yaml"
    task.write_text(
        "schema: 1\ninclude: kumo/kumo_published_easy\ntask: medical\nversion: 1.0.0\ntitle: One domain\n"
        "dataset: {domains: [MedicalEnv]}\n"
    )
    said = CliRunner().invoke(prefetch, [str(task)]).output
    assert "local/medical  data: fetched: 50 docs" in said, said
    kept = cache_of(DataOptions.from_environment())
    assert (kept / AGENT).read_text("utf-8") == AGENT_TEXT
    asked = len(served[1].requests)  # type: ignore[attr-defined]
    assert "local/medical  data: here already: 50 docs" in CliRunner().invoke(prefetch, [str(task)]).output
    assert len(served[1].requests) == asked  # type: ignore[attr-defined]
    (kept / AGENT).unlink()
    (served[0] / AGENT).unlink()
    assert "local/medical  data: failed:" in CliRunner().invoke(prefetch, [str(task)]).output


def test_a_wording_of_another_form_is_refused(clone: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    for text, reason in (
        (AGENT_TEXT.replace("{self.T}", "{self.K}"), "0 texts with self.T and self.A"),
        (AGENT_TEXT.replace('{observation}"', '{observation} indeed"'), "does not end with its only field"),
        (AGENT_TEXT.replace('"Go."', "go"), "0 messages that are written out"),
        (AGENT_TEXT.replace("def response", "def answer"), "no method response"),
        ("def response(", "cannot be read"),
    ):
        agent.write_text(text)
        with pytest.raises(DataError, match=reason):
            Wording.read(clone / "env" / "medical_env.py", agent)


def test_only_what_is_missing_or_damaged_is_fetched_again(
    served: tuple[Path, ThreadingHTTPServer], tmp_path: Path
) -> None:
    requests = served[1].requests  # type: ignore[attr-defined]
    files = files_of(served, tmp_path / "cache")
    games, books = AuthorsFiles.places("FantasyEnv", 4, 6)
    files.fetch(["FantasyEnv"], "easy")
    (tmp_path / "cache" / games).unlink()
    (tmp_path / "cache" / books / "seed=7.txt").write_text("The dragon did it.")
    del requests[:]
    files.fetch(["FantasyEnv"], "easy")
    assert len(requests) == 2


def test_an_altered_file_is_refused_and_the_sound_ones_stay(
    served: tuple[Path, ThreadingHTTPServer], tmp_path: Path
) -> None:
    files = files_of(served, tmp_path / "cache")
    _, books = AuthorsFiles.places("FantasyEnv", 4, 6)
    (served[0] / books / "seed=49.txt").write_text("The dragon did it.")
    with pytest.raises(DataError, match=r"seed%3D49\.txt: the file is not the one that the task pins"):
        files.fetch(["FantasyEnv"], "easy")
    assert len(list((tmp_path / "cache" / books).iterdir())) == 49


def test_without_the_network_the_fix_is_named(tmp_path: Path) -> None:
    options = DataOptions(cache=tmp_path, offline=True, task="kumo_published_easy")
    with pytest.raises(DataError, match="266 of 266 published files") as caught:
        open_published(FIVE, base=tmp_path, options=options)
    assert "--data kumo_published_easy=FILE" in str(caught.value)
    assert not cache_of(options).exists()


def test_domains_are_named_as_published() -> None:
    files = PublishedFiles(Path("unused"))
    assert len(files.names("all", "easy")) == 100
    assert sorted(files.names("all", "hard")) == sorted(FIVE)
    with pytest.raises(UnknownNameError, match="MedicalEnv"):
        files.names(["MedicalEvn"], "easy")
    with pytest.raises(UnknownNameError, match="with hard games"):
        files.names(["FishEnv"], "hard")
    with pytest.raises(UsageError, match="occurs twice"):
        files.names(["FishEnv", "FishEnv"], "easy")
    with pytest.raises(UsageError, match="no domain"):
        files.names([], "easy")


def test_the_pins_are_those_of_the_published_books(reference_data: Path) -> None:
    pins = PublishedFiles(Path("unused")).pins
    checked = 0
    for name, row in pins.items():
        for difficulty in row.keys() & {"easy", "hard"}:
            with gzip.open(reference_data / "kumo" / "instances" / f"{name}.{difficulty}.jsonl.gz", "rt") as lines:
                for game in map(json.loads, lines):
                    digest = hashlib.sha256(game["knowledge_book"].encode()).hexdigest()
                    assert digest == row[difficulty]["books"][game["seed"]], (name, difficulty, game["seed"])
                    checked += 1
    assert checked == 5250
    assert COMMIT in (reference_data / "kumo" / "README.md").read_text()


@pytest.fixture(scope="module")
def mirror(reference_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of local copies with the published games that the three tasks begin with."""
    from creval_kumo.task.datasets import game_doc

    folder = tmp_path_factory.mktemp("mirror")
    published = read_domains(reference_data / "kumo" / "seed_configs.jsonl.gz")
    for task, difficulty in zip(TASKS, ("easy", "hard", "easy"), strict=True):
        domain = published["MedicalEnv"]
        games = read_instances(reference_data / "kumo" / "instances" / f"MedicalEnv.{difficulty}.jsonl.gz", domain)
        said = Wording([(False, "Find it in "), (True, "truths")], "\n\nGuide:\n\n", "Go.", [(False, "Move.")], "Saw: ")
        docs = [game_doc(game, domain.domain) | {"wording": said.of(game.truths, game.action_names)} for game in games]
        (folder / f"{task}.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    return folder


@pytest.mark.parametrize("name", TASKS)
def test_the_examples_of_the_tasks_end_as_stated(name: str, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_DATA", str(mirror))
    task = TaskIndex(PLUGINS).load(name)
    outcomes = asyncio.run(run_examples(task, RunOptions(offline=True), PLUGINS))
    assert len(outcomes) >= 6
    assert [f"{each.example}: {fault}" for each in outcomes for fault in each.faults] == []


def test_a_run_of_the_papers_own_games(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREVAL_DATA", str(mirror))
    monkeypatch.chdir(tmp_path)
    words = "--tasks kumo_published_easy --model baseline/ceiling --repeats 1 --offline --output run"
    assert invoke(words.split()) == 0
    (task,) = json.loads((tmp_path / "run" / "results.json").read_text())["tasks"]
    metrics = {metric["name"]: metric for metric in task["metrics"]}
    assert metrics["success_rate"]["value"] == 1 and metrics["success_rate"]["n"] == 50
    assert metrics["relative_action_count"]["value"] == 0


def test_import_takes_the_pinned_files_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CREVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert invoke(["kumo", "import", "--domain", "MedicalEnv", "--offline", "-o", "m.jsonl"]) == 2
    assert "54 of 54 published files" in capsys.readouterr().err
    assert not (tmp_path / "m.jsonl").exists()
    assert invoke(["kumo", "import-domains", "--domain", "MedicalEnv", "--offline", "-o", "domains"]) == 2
    assert "2 of 2 published files" in capsys.readouterr().err
