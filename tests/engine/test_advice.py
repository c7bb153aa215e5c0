"""What a message advises can be typed as it stands and is not refused; a run that cannot go on is never advised to."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.chat_server import ChatServer, HttpError
from support.parrot import parrot

import creval
from creval.api import load_result
from creval.cli.main import invoke
from creval.engine.run import resume
from creval.errors import CrevalError, RunError
from creval.runs.reader import open_run, open_runs
from creval.runs.run_commands import resume_command, score_command

MODEL = "hosted_vllm/parrot"
ROOT = Path(creval.__file__).resolve().parents[2]
COMMAND = re.compile(r"creval (?:resume|score|play --resume) .*")


def advised(text: str) -> list[str]:
    """The words after `creval` of the one command in a text."""
    (found,) = {match.group() for match in COMMAND.finditer(text)}
    return shlex.split(found)[1:]


def printed(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """Run a command line in this process; returns all that it said."""
    capsys.readouterr()
    done = invoke(arguments)
    said = "".join(capsys.readouterr())
    assert done == code, said
    return said


@pytest.fixture
def run_in(make_task, server, options, tmp_path, monkeypatch):
    """Makes a run in a folder whose name needs quotes, named relative to the working folder."""
    monkeypatch.chdir(tmp_path)

    def make(name: str = "my run", **changes):
        extra = {"base_url": server.url, **changes}
        return creval.run([make_task(docs=4)], MODEL, options(output=Path(name), **extra)).folder

    return make


@pytest.mark.parametrize("name", ["my run", "it's", "-runs", "a;b", "$HOME", "ordinary"])
def test_a_folder_of_any_name_is_quoted(run_in, name, capsys):
    folder = run_in(name)
    (folder / "results.json").unlink()
    with pytest.raises(RunError) as caught:
        load_result(folder)
    printed(capsys, 0, *advised(str(caught.value)))
    assert load_result(folder).metrics("parrot")["right"]["n"] == 4
    (folder / "results.json").write_text("{")
    for read in (load_result, lambda path: open_run(path).results):
        with pytest.raises(RunError) as caught:
            read(folder)
        assert advised(str(caught.value))[0] == "score"
    printed(capsys, 0, *advised(str(caught.value)))


@pytest.mark.parametrize("kind", ["samples", "scores"])
@pytest.mark.parametrize("fault", ["{]", '{"task": "parrot"}', "double"])
def test_a_damaged_row_is_taken_out_as_resume_and_analyses_say(run_in, kind, fault, capsys):
    folder = run_in()
    file = folder / kind / "parrot.jsonl"
    rows = file.read_text().splitlines()
    bad = rows[0] if fault == "double" else fault
    file.write_text("\n".join([*rows[:2], bad, *rows[2:]]) + "\n")
    said = printed(capsys, 2, "resume", str(folder))
    with pytest.raises(RunError) as caught:
        list(open_run(folder).scored())
    assert advised(said) == advised(str(caught.value)) == ["resume", str(folder)]
    assert f"{file}:3: " in said
    file.write_text("\n".join(rows) + "\n")
    printed(capsys, 0, *advised(said))


def test_lost_rows_come_back(run_in, capsys):
    folder = run_in()
    file = folder / "samples" / "parrot.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(RunError) as caught:
        list(open_run(folder).samples())
    printed(capsys, 0, *advised(str(caught.value)))
    assert len(list(open_run(folder).samples())) == 4


def test_a_row_of_a_reused_run_is_no_reason_to_resume_that_run(make_task, server, options, tmp_path):
    creval.run([make_task(docs=2)], MODEL, options(base_url=server.url, output=tmp_path / "old"))
    (tmp_path / "old" / "calls").mkdir()
    (tmp_path / "old" / "calls" / "judge.jsonl").write_text("{]\n")
    with pytest.raises(RunError, match=r"judge.jsonl:1: a damaged line") as caught:
        creval.run([make_task(docs=2)], MODEL, options(base_url=server.url, reuse=(tmp_path / "old",)))
    assert not COMMAND.search(str(caught.value)) and "leave out --reuse" in str(caught.value)


def test_a_budget_that_ended(make_task, server, tmp_path, capsys):
    given = ["--tasks", make_task(docs=4), "--model", MODEL, "--base-url", server.url, "--concurrency", "1"]
    said = printed(capsys, 3, *given, "--max-calls", "2", "--output", "my run")
    words = [word for word in advised(said) if word not in ("or", "...")]
    assert words == ["resume", "my run", "--max-cost", "--max-calls"]
    printed(capsys, 0, *words[:-2], "--max-calls", "9")


@pytest.mark.parametrize("before", [0, 2])
def test_an_account_without_credit(make_task, capsys, before):
    """The run's folder stands, and the command that resumes it is shown; it does once there is credit."""
    broke = [True]

    def script(received):
        short = broke[0] and len(server.requests) > before
        return HttpError(402, {"message": "Insufficient credits"}) if short else None

    with ChatServer(script, answer=parrot) as server:
        given = ["--tasks", make_task(docs=4), "--model", MODEL, "--base-url", server.url, "--concurrency", "1"]
        said = printed(capsys, 2, *given, "--output", "my run")
        assert "Add credit to the account" in said and "resume the run" not in said
        broke[0] = False
        printed(capsys, 0, *advised(said))


def test_a_folder_that_is_taken(run_in, make_task, server, capsys):
    folder = run_in()
    given = ["--tasks", make_task(docs=4), "--model", MODEL, "--base-url", server.url, "--output", str(folder)]
    printed(capsys, 0, *advised(printed(capsys, 2, *given)))
    (folder / "run.json").write_text("another's")
    said = printed(capsys, 2, *given)
    assert "there is already a run" in said and not COMMAND.search(said)


def test_an_address_with_a_secret_is_asked_for(make_task, server, capsys):
    secret = "never-to-be-seen-0123456789"
    given = ["--tasks", make_task(docs=4), "--model", MODEL, "--base-url", f"{server.url}?sig={secret}"]
    said = printed(capsys, 3, *given, "--max-calls", "2", "--concurrency", "1", "-o", "my run")
    assert f"--base-url '{server.url}?sig=***'" in said and "in place of ***" in said
    said = printed(capsys, 2, "resume", "my run", "--max-calls", "9")
    command, _, hint = COMMAND.search(said).group().partition(" (")
    assert hint == "with the values in place of ***)"
    printed(capsys, 0, *shlex.split(command.replace("***", secret))[1:], "--max-calls", "9")


def test_a_run_that_is_running_is_waited_for(run_in, capsys):
    folder = run_in()
    (folder / "results.json").unlink()
    hold = "import sys, time\nfrom pathlib import Path\nfrom creval.runs.lock import RunLock\n"
    hold += "with RunLock(Path(sys.argv[1])):\n    print('held', flush=True)\n    sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        for read in (load_result, lambda path: open_run(path).results, lambda path: open_runs([path])):
            with pytest.raises(RunError, match="Another process is using the run") as caught:
                read(folder)
            assert not COMMAND.search(str(caught.value))
        assert "process id" in printed(capsys, 2, "resume", str(folder))
        other.stdin.close()
    printed(capsys, 0, "resume", str(folder))


def test_what_changed_is_never_scored_where_the_question_changed(run_in, make_task, tmp_path, capsys):
    """Other data and other prompts need a new run; another scorer does not."""
    folder = run_in()
    task = tmp_path / "parrot.yaml"
    text, data = task.read_text(), (tmp_path / "parrot.jsonl").read_text()
    task.write_text(text.replace("score: exact_match", "score: {exact_match: {ignore_case: true}}"))
    printed(capsys, 0, *advised(printed(capsys, 2, "resume", str(folder))))
    for file, new in (
        (task, text.replace("Say {{", "Now say {{")),
        (tmp_path / "parrot.jsonl", data.replace("d0", "e0")),
    ):
        task.write_text(text)
        file.write_text(new)
        said = printed(capsys, 2, "resume", str(folder))
        assert "Start a new run." in said and not COMMAND.search(said)


AGGREGATION = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("aggregation", "frail", "creval_frail_parts:Frail")
"""
FRAIL = """
    from pathlib import Path

    class Frail:
        def value(self, clusters):
            if Path("broken").exists():
                raise ValueError("no")
            return 1.0

        def standard_error(self, clusters):
            return None
"""


def test_an_aggregation_that_fails(install, make_task, server, tmp_path, capsys):
    install("frail", AGGREGATION, FRAIL)
    task = Path(make_task(docs=4))
    task.write_text(task.read_text().replace("aggregate: mean", "aggregate: frail"))
    (tmp_path / "broken").touch()
    given = ["--tasks", str(task), "--model", MODEL, "--base-url", server.url, "--output", "my run"]
    said = printed(capsys, 2, *given)
    (tmp_path / "broken").unlink()
    assert advised(said) == ["score", "my run"]
    printed(capsys, 0, *advised(said))


def test_an_error_before_the_first_sample_leaves_nothing_to_resume(make_task, tmp_path, capsys):
    with ChatServer(lambda received: HttpError(401, {"message": "bad key"})) as server:
        given = ["--tasks", make_task(docs=1), "--model", MODEL, "--base-url", server.url, "--output", "my run"]
        said = printed(capsys, 2, *given)
    assert (tmp_path / "my run").exists() == bool(COMMAND.search(said))


def test_a_run_of_a_person_is_played(run_in):
    folder = run_in()
    manifest = json.loads((folder / "run.json").read_text())
    manifest["roles"]["target"] = "human/ada"
    assert resume_command(folder, manifest) == "creval play --resume 'my run'"
    manifest["options"]["base_url"] = "https://host/v1?sig=***"
    assert resume_command(folder, manifest).startswith("creval resume 'my run' --base-url 'https://host/v1?sig=***'")
    (folder / "run.json").write_text("{")
    assert (resume_command(folder), score_command(folder)) == ("creval resume 'my run'", "creval score 'my run'")


def test_no_other_module_spells_the_commands_with_a_folder():
    """Quotes, consents and addresses are seen to in one place: texts with a value after the command are made there."""
    sources = [*(ROOT / "core/creval").rglob("*.py"), *(ROOT / "plugins").glob("*/creval_*/**/*.py")]
    assert len(sources) > 300
    for file in sources:
        if file.name == "commands.py" and file.parent.name == "runs":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
                assert not re.search(r"creval (resume|score|play --resume) \{", "".join(map(str, parts))), file


def test_resume_raises_what_it_advises(run_in):
    """The Python call says the same as the command."""
    folder = run_in()
    file = folder / "samples" / "parrot.jsonl"
    file.write_text("{]\n" + file.read_text())
    with pytest.raises(CrevalError) as caught:
        resume(folder)
    assert str(caught.value).endswith(f"Remove the line, then: {resume_command(folder)}")
