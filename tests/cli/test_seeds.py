"""Every command and analysis that takes a seed says of a negative one that it is none, before it does anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from support.commands import creval, write_spelling

from creval.cli.main import invoke
from creval.cli.root import cli
from creval.errors import UsageError
from creval.plugins.loader import load_plugins


def seeded(group: click.Group, brought: Iterable[str], name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield the commands below a group that have an option --seed, those of plugins and the analyses too."""
    context = click.Context(group)
    for each in [*group.list_commands(context), *brought]:
        command = group.get_command(context, each)
        assert command is not None
        if isinstance(command, click.Group):
            yield from seeded(command, (), f"{name}{each} ")
        elif any("--seed" in option.opts for option in command.params):
            yield f"{name}{each}", command


SEEDED = dict(seeded(cli, load_plugins().commands))


def test_all_that_take_a_seed_are_found() -> None:
    known = ["analyse cdat-gate", "analyse kumo-graph", "analyse validity", "create build", "kumo generate", "play"]
    assert set(known) <= set(SEEDED)
    assert len(SEEDED) > 10


@pytest.mark.parametrize("name", SEEDED)
def test_a_negative_seed_is_a_message(name: str) -> None:
    done = CliRunner().invoke(SEEDED[name], ["--seed", "-1"])
    assert done.exit_code == 2
    assert "Invalid value for '--seed': -1 is not in the range" in " ".join(done.output.split())


def test_a_seed_that_is_too_great_for_what_draws_by_it_is_a_message() -> None:
    done = CliRunner().invoke(SEEDED["analyse kumo-graph"], ["--seed", str(2**32)])
    assert done.exit_code == 2
    assert "4294967296 is not in the range" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--seed", "'x' is not a whole number of at least 0."),
        ("--batch-size", "'x' is not a whole number from 1 to 50000."),
        ("--max-cost", "'x' is not a number."),
    ],
)
def test_a_text_that_is_no_number_is_answered_with_those_that_are(
    capsys: pytest.CaptureFixture[str], option: str, said: str
) -> None:
    assert invoke(["--tasks", "rat", "--model", "baseline/floor", option, "x"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_run_and_its_file(tmp_path: Path) -> None:
    write_spelling(tmp_path, {"a": "b"})
    done = creval(tmp_path, "--tasks", "./spelling.yaml", "--model", "baseline/floor", "--seed", "-1")
    assert done.returncode == 2 and "-1 is not in the range x>=0" in done.stderr
    (tmp_path / "run.yaml").write_text("tasks: [./spelling.yaml]\nmodel: baseline/floor\nseed: -1\n")
    done = creval(tmp_path, "run", "run.yaml")
    assert done.returncode == 2 and "seed" in done.stderr and "Traceback" not in done.stderr


def test_from_python() -> None:
    from creval.engine.run_options import RunOptions

    with pytest.raises(UsageError, match="-1 is not a seed"):
        RunOptions(seed=-1)
