"""What Tab offers: asked as click's scripts ask, and by a real bash, fish and zsh."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class
from support.imports import imported_by

from creval.cli.main import invoke
from creval.cli.root import cli


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs, one in a folder of runs, and what is none."""
    for name in ("mine", "runs/yesterday", "other/deep/run"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "run.json").write_text(json.dumps({}))
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "notes.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered(*words: str) -> list[str]:
    """What is offered for the last word."""
    made = get_completion_class("bash")
    assert made is not None
    return [
        item.value for item in made(cli, {}, "creval", "_CREVAL_COMPLETE").get_completions(list(words[:-1]), words[-1])
    ]


def test_commands_of_core_and_plugins() -> None:
    assert offered("com") == ["completion", "compare"]
    assert {"kumo", "create", "report"} <= set(offered(""))
    assert {"build", "import"} <= set(offered("create", ""))
    assert "create-table" in offered("analyse", "create-")
    assert "--policy" in offered("gate", "--p") and "--tasks" in offered("--ta")
    assert offered("completion", "") == ["bash", "zsh", "fish"]


def test_tasks_of_a_list_and_models() -> None:
    assert "kumo_easy" in offered("--tasks", "kumo_e") and "create_strategies" in offered("-t", "create_")
    assert "dat,kumo_easy" in offered("--tasks", "dat,kumo_e")
    assert "kumo_easy" in offered("show", "kumo_e")
    assert offered("--model", "baseline/") == ["baseline/ceiling", "baseline/floor"]
    assert "openrouter/" in offered("-m", "openr") or "litellm/" in offered("-m", "litel")


def test_runs_and_the_folders_that_lead_to_them(place: Path) -> None:
    for command in (("report",), ("compare", "mine"), ("resume",), ("score",), ("gate",), ("analyse", "create-table")):
        assert offered(*command, "") == ["mine", "other/", "runs/", "runs/yesterday"]
    assert offered("report", "mi") == ["mine"]
    assert offered("report", "runs/") == ["runs/yesterday"]
    assert offered("report", "other/de") == ["other/deep/"]
    assert offered("report", "nowhere/") == []


def test_a_word_that_is_none_offers_nothing() -> None:
    assert offered("nonsense", "x") == offered("kumo", "nonsense", "x") == offered("analyse", "nonsense", "x") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert invoke(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_CREVAL_COMPLETE={shell}_complete" in script
    program = shutil.which(shell)
    if program is not None:
        (tmp_path / "script").write_text(script)
        assert subprocess.run([program, "-n", str(tmp_path / "script")]).returncode == 0


def test_a_real_bash_completes(place: Path) -> None:
    creval = Path(sys.executable).with_name("creval")
    asked = f"""
    PATH={creval.parent}:$PATH
    eval "$(creval completion bash)"
    COMP_WORDS=(creval report ru); COMP_CWORD=2
    _creval_completion creval; echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, cwd=place)
    assert (done.stdout.strip(), done.stderr) == ("runs/", "")


def with_creval() -> dict[str, str]:
    """The environment of a shell that finds the creval that is tested."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_a_real_fish_completes(place: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("no fish: apt-get install fish")
    lines = ['creval completion fish | source; complete -C "creval report ru"; complete -C "creval samp"']
    asked = ["fish", "--no-config", "-c", *lines]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=place, env=with_creval())
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["runs/", "sample", "samples"], done.stderr


def test_a_real_zsh_completes(place: Path) -> None:
    """Typed at its prompt, as it completes nowhere else."""
    if shutil.which("zsh") is None:
        pytest.skip("no zsh: apt-get install zsh")
    import pexpect  # the kernel of the notebooks' tests brings it

    shell = pexpect.spawn("zsh", ["-f", "-i"], encoding="utf-8", timeout=60, cwd=str(place), env=with_creval())
    try:
        shell.sendline('autoload -Uz compinit; compinit -u -D; eval "$(creval completion zsh)"; echo rea""dy')
        shell.expect_exact("ready")
        shell.send("creval report ru\t")
        shell.expect_exact("runs/")
        shell.sendcontrol("u")
        shell.send("creval samp\t\t")
        shell.expect_exact("List the samples of a run.")
    finally:
        shell.close(force=True)


def test_offering_commands_imports_none_of_them() -> None:
    code = "from click.shell_completion import get_completion_class\nfrom creval.cli.root import cli\n" + (
        "print(get_completion_class('bash')(cli, {}, 'creval', 'X').get_completions(['analyse'], 'c'))"
    )
    loaded = imported_by(code)
    assert not {"numpy", "scipy", "pandas", "jsonschema", "litellm", "rich"} & loaded
    assert "creval.cli.commands.compare" not in loaded


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
