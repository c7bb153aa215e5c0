"""The commands under `creval kumo` as a user types them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from augment_support import configuration, proposal_row
from support.chat_server import Answer, ChatServer, HttpError, Received
from support.imports import imported_by

from creval.cli.lazy_group import import_command
from creval.cli.main import invoke
from creval.plugins.loader import load_plugins
from creval_kumo.books.book import write_book
from creval_kumo.books.book_check import book_faults
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.domains.domain_file import load_domain_file
from creval_kumo.games.generation import Settings, generate
from creval_kumo.games.instance import Instance
from creval_kumo.published.authors_files import AuthorsFiles
from creval_kumo.published.published_domains import read_domains, read_instances, to_domain
from creval_kumo.trajectories.conversation import symbolic_book

COMMANDS = load_plugins().commands["kumo"]
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Say:
    """Run `creval kumo ...` in a folder of its own; return (exit code, output, messages)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        code = invoke(["kumo", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, say: Say) -> None:
    code, out, _ = say(name, "--help")
    assert code == 0 and f"creval kumo {name} " in out
    example = re.search(r"Example: (creval kumo .*)", str(import_command(COMMANDS[name]).epilog))
    assert example is not None
    options = {word for word in shlex.split(example[1]) if word.startswith("-")}
    known = {opt for param in import_command(COMMANDS[name]).params for opt in param.opts}
    assert options <= known


def test_listing_commands_imports_nothing_heavy() -> None:
    heavy = {"numpy", "numba", "pysat", "networkx", "matplotlib", "aiohttp", "litellm", "jinja2", "scipy"}
    assert heavy & imported_by("from creval.cli.main import invoke\ninvoke(['kumo', '--help'])") == set()


def test_domains(say: Say, tmp_path: Path) -> None:
    code, out, _ = say("domains", "--json")
    assert code == 0 and [one["domain"] for one in json.loads(out)] == domain_names()
    code, out, _ = say("domains")
    assert code == 0 and "Medical diagnosis" in out
    bad = tmp_path / "bad.yaml"
    bad.write_text("domain: bad\n")
    code, out, _ = say("domains", str(bad))
    assert code == 2 and "bad.yaml:1: wrong-shape" in out


def test_generate(say: Say, tmp_path: Path) -> None:
    code, _, err = say(*shlex.split("generate --domain medical --truths 5 --actions 7 --count 3 --seed 4 -o g.jsonl"))
    assert (code, err) == (0, "3 games written to g.jsonl\n")
    made = [Instance.from_doc(row) for row in rows(tmp_path / "g.jsonl")]
    wanted = generate(load_domain("medical"), Settings(5, 7), 4)
    assert [game.digest() for game in made] == [next(wanted).digest() for _ in range(3)]
    code, out, _ = say(*shlex.split("generate --domain medical --truths 5 --actions 7 --count 3 --seed 4"))
    assert out == (tmp_path / "g.jsonl").read_text()
    code, out, _ = say(*shlex.split("generate --domain music --count 1 --valid 2 --counterfactual"))
    row = json.loads(out)
    assert (row["domain"], len(row["valid_truths"])) == ("music_counterfactual", 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("generate --domain medicine", "Did you mean"),
        ("generate --domain medical --truths 900", "900 truths, but the domain has"),
        ("generate --domain medical --valid 4", "4 valid truths of 4"),
        ("generate --domain nowhere.yaml", "nowhere.yaml"),
        ("generate --domain MedicalEnv", "creval kumo import-domains --domain MedicalEnv -o FOLDER"),
        ("generate --domain medical --count 0", "--count"),
        ("generate --domain medical -o /proc/no/games.jsonl", "cannot be written"),
        ("trajectories --domain medical -o .", "directory"),
        ("book nowhere.jsonl", "nowhere.jsonl"),
        ("configure volcanoes --augmenter openai/x", "proposals.jsonl"),
        ("nonsense", "creval kumo"),
    ],
)
def test_wrong_requests_are_one_message(say: Say, words: str, said: str) -> None:
    code, _, err = say(*shlex.split(words))
    assert code == 2 and said in err and "Traceback" not in err


def test_generated_games_are_played(say: Say, tmp_path: Path) -> None:
    say(*shlex.split("generate --domain fantasy --count 4 --seed 2 -o g.jsonl"))
    words = "--tasks kumo --data kumo=g.jsonl --model baseline/ceiling --repeats 1 --output run"
    assert invoke(shlex.split(words)) == 0
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    values = {metric["name"]: metric["value"] for metric in results["tasks"][0]["metrics"]}
    assert (values["success_rate"], values["relative_action_count"]) == (1, 0)


def test_trajectories(say: Say, tmp_path: Path) -> None:
    code, _, err = say(*shlex.split("trajectories --domain medical --count 5 --workers 1 -o t.jsonl"))
    assert code == 0 and err.startswith("5 trajectories written to t.jsonl")
    code, _, err = say(*shlex.split("trajectories --domain medical --count 8 --workers 1 -o t.jsonl"))
    assert code == 0 and "3 trajectories written" in err and "5 were there" in err
    assert [row["seed"] for row in rows(tmp_path / "t.jsonl")] == list(range(8))


def test_books_by_template_and_their_check(say: Say, tmp_path: Path) -> None:
    say(*shlex.split("generate --domain chemical --count 3 -o g.jsonl"))
    code, _, err = say("book", "g.jsonl", "--check")
    assert (code, err) == (0, "3 books, 0 with faults\n")
    spoilt = [row | {"book": row["book"].replace(row["truths"][0], "X") if i else row["book"]} for i, row in
              enumerate(rows(tmp_path / "g.jsonl"))]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in spoilt))
    code, out, err = say("book", "s.jsonl", "--check")
    assert code == 1 and err == "3 books, 2 with faults\n" and "chemical-4x6-1: the truth" in out
    code, _, _ = say("book", "s.jsonl", "-o", "repaired.jsonl")
    assert code == 0 and rows(tmp_path / "repaired.jsonl") == rows(tmp_path / "g.jsonl")


def book_writer(request: Received) -> Answer:
    """A model that forgets the first truth in its first book of a game, and finds no errors itself."""
    prompt = request.prompt
    truths = re.search(r"^The possible .*?: (.*)$", prompt, re.MULTILINE)
    assert truths is not None
    game = next(game for game in GAMES if ", ".join(game.truths) == truths[1])
    book = write_book(game, load_domain("medical"))
    if "NO ERRORS" in prompt:
        return Answer("NO ERRORS")
    return Answer(book if "# Errors" in prompt else book.replace(game.truths[0], "it"))


GAMES = [game for game, _ in zip(generate(load_domain("medical"), Settings(), 6), range(3), strict=False)]


def test_books_by_a_model(say: Say, tmp_path: Path) -> None:
    say(*shlex.split("generate --domain medical --count 3 --seed 6 -o g.jsonl"))
    with ChatServer(book_writer) as server:
        words = f"book g.jsonl --augmenter openai/test --base-url {server.url} -o w.jsonl"
        code, _, err = say(*shlex.split(words))
        assert code == 0 and "3 books, 3 revisions" in err
    for row, game in zip(rows(tmp_path / "w.jsonl"), GAMES, strict=True):
        assert book_faults(row["book"], game) == []
    with ChatServer(lambda request: Answer("I like games.")) as server:
        words = f"book g.jsonl --augmenter openai/test --base-url {server.url} --rounds 1 -o never.jsonl"
        code, _, err = say(*shlex.split(words))
    assert code == 2 and "after 1 revisions the book still has" in err
    assert not (tmp_path / "never.jsonl").exists()


def test_from_a_proposal_to_games(say: Say, tmp_path: Path) -> None:
    """Stages a to c by commands: propose, configure, generate."""
    proposals = repr([proposal_row("medicine_two"), proposal_row("old_coins")])
    whole = configuration(load_domain("medical"))
    with ChatServer([Answer(proposals), Answer("Write it."), Answer(whole)]) as server:
        model = f"--augmenter openai/test --base-url {server.url} --generation max_tokens=9000"
        assert say(*shlex.split(f"propose --count 2 {model} -o proposals.jsonl"))[0] == 0
        code, _, err = say(*shlex.split(f"configure medicine_too {model}"))
        assert code == 2 and "Did you mean 'medicine_two'?" in err
        code, _, err = say(*shlex.split(f"configure medicine_two {model}"))
        assert code == 0 and "written to medicine_two.yaml" in err
        assert {request.body["max_tokens"] for request in server.requests} == {9000}
    assert len(load_domain_file(tmp_path / "medicine_two.yaml").truths) >= 50
    code, out, _ = say(*shlex.split("generate --domain medicine_two.yaml --count 2"))
    assert code == 0 and len(out.splitlines()) == 2
    assert say("domains", "medicine_two.yaml")[0] == 0


def test_a_file_that_is_there_is_refused_before_anything_is_paid(say: Say, tmp_path: Path) -> None:
    say(*shlex.split("generate --count 1 -o g.jsonl"))
    (tmp_path / "proposals.jsonl").write_text(json.dumps(proposal_row("old_coins")) + "\n")
    (tmp_path / "old_coins.yaml").write_text("mine\n")
    with ChatServer(lambda request: Answer("no")) as server:
        model = f"--augmenter openai/test --base-url {server.url}"
        for words, file in (
            (f"propose {model} -o proposals.jsonl", "proposals.jsonl"),
            (f"configure old_coins {model}", "old_coins.yaml"),
            (f"book g.jsonl {model} -o g.jsonl", "g.jsonl"),
            ("generate --count 1 -o g.jsonl", "g.jsonl"),
        ):
            code, _, err = say(*shlex.split(words))
            assert code == 2 and f"{file}: the file already exists" in err, words
        code, _, err = say(*shlex.split(f"propose {model} -o /proc/none/x.jsonl"))
        assert code == 2 and "cannot be written" in err
        assert say(*shlex.split(f"propose {model}"), "-o", "")[0] == 2
        assert server.requests == []
    assert (tmp_path / "old_coins.yaml").read_text() == "mine\n"
    assert say(*shlex.split("generate --count 2 -o g.jsonl --overwrite"))[0] == 0
    assert len(rows(tmp_path / "g.jsonl")) == 2


def test_books_that_were_paid_for_are_kept_where_one_fails(say: Say, tmp_path: Path) -> None:
    """The second game's calls are refused by the server: its book is left out and told, the others are written."""
    say(*shlex.split("generate --domain medical --count 3 --seed 6 -o g.jsonl"))

    def two_of_three(request: Received) -> Answer | HttpError:
        wrong = any(symbolic_book(GAMES[1]) in message["content"] for message in request.body["messages"])
        return HttpError(422, "no") if wrong else book_writer(request)

    with ChatServer(two_of_three) as server:
        words = f"book g.jsonl --augmenter openai/test --base-url {server.url} -o w.jsonl"
        code, _, err = say(*shlex.split(words))
    assert code == 1 and "left out:" in err and "2 games written" in err
    assert [row["seed"] for row in rows(tmp_path / "w.jsonl")] == [GAMES[0].seed, GAMES[2].seed]


def test_a_null_book_a_negative_seed_and_an_empty_file_name_are_messages(say: Say, tmp_path: Path) -> None:
    say(*shlex.split("generate --count 1 -o g.jsonl"))
    (row,) = rows(tmp_path / "g.jsonl")
    (tmp_path / "n.jsonl").write_text(json.dumps({**row, "book": None}) + "\n")
    code, _, err = say("book", "n.jsonl", "--check")
    assert code == 2 and "the book is None, which is not a text" in err
    assert say(*shlex.split("generate --seed -1"))[0] == 2
    assert say(*shlex.split("trajectories --seed -1 --count 1"))[0] == 2


def test_a_budget_ends_the_writing(say: Say) -> None:
    with ChatServer(lambda request: Answer("no")) as server:
        words = f"propose --augmenter openai/test --base-url {server.url} --max-calls 2 --count 1"
        code, out, _ = say(*shlex.split(words))
    assert code == 3 and out == ""


# --- the authors' repository ------------------------------------------------------------------------


def test_import_gives_the_published_games(say: Say, clone: Path, reference_data: Path, tmp_path: Path) -> None:
    code, _, err = say("import", str(clone), "--domain", "MedicalEnv", "-o", "m.jsonl")
    assert (code, err) == (0, "50 games written to m.jsonl, 0 left out\n")
    assert say("import", str(clone), "--domain", "MedicalEnv", "--domain", "MedicalEnv", "-o", "twice.jsonl")[0] == 0
    assert (tmp_path / "twice.jsonl").read_bytes() == (tmp_path / "m.jsonl").read_bytes()
    published = read_domains(reference_data / "kumo" / "seed_configs.jsonl.gz")["MedicalEnv"]
    file = reference_data / "kumo" / "instances" / "MedicalEnv.easy.jsonl.gz"
    for row, game in zip(rows(tmp_path / "m.jsonl"), read_instances(file, published), strict=True):
        assert Instance.from_doc(row) == game and row["book"] == game.book != ""
    words = "--tasks kumo_easy --data kumo_easy=m.jsonl --model baseline/ceiling --repeats 1 --limit 8 --output run"
    assert invoke(shlex.split(words)) == 0


def test_import_refuses_faulty_games_by_name(say: Say, clone: Path, tmp_path: Path) -> None:
    code, _, err = say("import", str(clone), "--domain", "FishEnv", "-o", "f.jsonl")
    assert code == 2 and "wrong-type: 'Vertebrae count' has the type 'int'" in err and "--skip-faulty" in err
    assert not (tmp_path / "f.jsonl").exists()
    code, _, err = say("import", str(clone), "--domain", "CurrencyEnv", "--skip-faulty", "-o", "c.jsonl")
    assert code == 0 and err.endswith("36 games written to c.jsonl, 14 left out\n")
    assert err.count("left out: CurrencyEnv, seed ") == 14 and err.count("valid-truth-not-singled-out") == 10


def test_published_domains_become_domain_files_for_fresh_games(say: Say, clone: Path, tmp_path: Path) -> None:
    code, _, err = say("import-domains", str(clone), "--domain", "FishEnv", "-o", "domains")
    assert code == 2 and "wrong-type: 'Vertebrae count' has the type 'int'" in err and "--skip-faulty" in err
    code, _, err = say("import-domains", str(clone), "--skip-faulty", "-o", "domains")
    assert code == 0 and err.endswith("2 domains written to domains, 2 left out\n")
    assert "left out: CurrencyEnv: bad-range: " in err
    assert [file.name for file in sorted((tmp_path / "domains").iterdir())] == ["FantasyEnv.yaml", "MedicalEnv.yaml"]
    published = to_domain(AuthorsFiles(clone).configuration("MedicalEnv"), "MedicalEnv").domain
    assert load_domain("domains/MedicalEnv.yaml") == published
    code, _, _ = say("generate", "--domain", "domains/MedicalEnv.yaml", "--count", "3", "-o", "fresh.jsonl")
    assert code == 0 and len(rows(tmp_path / "fresh.jsonl")) == 3
    assert say("book", "fresh.jsonl", "--check")[0] == 0


def test_import_of_something_else(say: Say, clone: Path, tmp_path: Path) -> None:
    code, _, err = say("import", str(tmp_path))
    assert code == 2 and "Name the root of a clone" in err
    code, _, err = say("import", str(clone), "--domain", "MedicineEnv")
    assert code == 2 and "MedicalEnv" in err
    code, _, err = say("import", str(clone), "--domain", "MedicalEnv", "--difficulty", "hard")
    assert code == 2 and "truth_num=12+action_num=16" in err


def test_the_authors_files_are_read_as_data_alone(tmp_path: Path) -> None:
    (tmp_path / "env" / "data").mkdir(parents=True)
    head = "from env.data.x_data import *\n@registry.register_environment('XEnv')\n"
    (tmp_path / "env" / "x_env.py").write_text(head)
    data = tmp_path / "env" / "data" / "x_data.py"
    data.write_text(
        "Truths = ['a big sword', 'b', 'c']\nActions = ['t']\nOutcomes = {'t': {'type': 'str', 'states': {\n"
        "'r': set([one for one in Truths if one not in ['b'] and \"sword\" not in one]), 's': set(['b'])}}}\n"
    )
    states = AuthorsFiles(tmp_path).configuration("XEnv")["outcomes"][0]["states"]
    assert states == [{"state": "r", "rules_out": ["c"]}, {"state": "s", "rules_out": ["b"]}]
    for bad in ("[one for one in open('x')]", "[one for one in Other]", "[one for one in Truths if one]", "exit()"):
        data.write_text(f"Truths = ['a']\nActions = {bad}\nOutcomes = {{}}\n")
        with pytest.raises(Exception, match="not plain data"):
            AuthorsFiles(tmp_path).configuration("XEnv")


def test_links_are_followed_and_devices_never_replaced(say: Say, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    assert say("generate", "--count", "2", "-o", "link.jsonl")[0] == 0
    assert (tmp_path / "link.jsonl").is_symlink() and len(rows(tmp_path / "real.jsonl")) == 2
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True)
    assert say("generate", "--count", "2", "-o", "pipe")[0] == 0
    assert len(reader.communicate(timeout=60)[0].splitlines()) == 2
    assert (tmp_path / "pipe").is_fifo()
