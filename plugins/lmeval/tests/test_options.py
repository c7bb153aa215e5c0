"""What lm-eval's users type: each option of its command is creval's too, or one line says what to type here."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from creval import RunOptions, run
from creval.cli.lm_eval_options import instead_of
from creval.cli.main import invoke
from creval.cli.root import cli
from creval.errors import UsageError

pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
OWN = {name for each in cli.params for name in each.opts}
NOT_HERE = {"help", "config", "max-batch-size", "check-integrity", "verbosity", "write-out", "predict-only"} | {
    "metadata",
    *(f"{tool}-args" for tool in ("wandb", "wandb-config", "trackio", "hf-hub-log")),
}
"""Files of settings, logging elsewhere, and what only finds faults."""


def test_each_option_of_lm_eval_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    from lm_eval._cli.run import Run

    parser = Run(argparse.ArgumentParser().add_subparsers())._parser
    theirs = {name for action in parser._actions for name in action.option_strings if name.startswith("--")}
    assert len(theirs) > 30
    for name in theirs:
        words = name.lstrip("-").replace("_", "-")
        said = instead_of(name)
        assert (name in OWN) or said or words in NOT_HERE, name
    assert invoke(["--tasks", "lmeval/gsm8k", "--model", "chat/m", "--gen_kwargs=x"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == f"Error: {instead_of('--gen_kwargs')}" and "--generation NAME=VALUE" in last


def conditions_of(typed: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The conditions of the run that a command line begins."""

    def begin(_: Any, __: Any, options: RunOptions, *___: Any) -> None:
        found.append(options.conditions)
        raise UsageError("it would begin")

    found: list[Any] = []
    monkeypatch.setattr("creval.engine.run.run_new", begin)
    assert invoke(["--tasks", "lmeval/gsm8k", *typed, "--model", "chat/m"]) == 2
    return found[0]


@pytest.mark.parametrize("form", [str, lambda name: name.replace("_", "-")])
def test_what_changes_the_prompt_is_a_condition_as_typed(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"apply_chat_template": "true", "fewshot_as_multiturn": "false", "num_fewshot": "2"}
    given["system_instruction"] = "Be brief, please."
    wanted = {"apply_chat_template": [True], "fewshot_as_multiturn": [False], "num_fewshot": [2]}
    wanted["system_instruction"] = ["Be brief, please."]
    apart = [word for name, value in given.items() for word in (f"--{form(name)}", value)]
    assert conditions_of(apart, monkeypatch) == wanted
    assert conditions_of([f"--{form(name)}={value}" for name, value in given.items()], monkeypatch) == wanted
    assert conditions_of([f"--{form('apply_chat_template')}"], monkeypatch) == {"apply_chat_template": [True]}


def test_one_condition_is_stated_once(capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["--num_fewshot", "2", "--condition", "num_fewshot=1"]
    assert invoke(["--tasks", "lmeval/gsm8k", "--model", "chat/m", *typed]) == 2
    assert "--num-fewshot and --condition num_fewshot: state it once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "given", "said"),
    [
        ("gsm8k", {"few_shot": 2}, "Use --condition num_fewshot=N."),
        ("piqa", {"system": "Be brief."}, "Use --condition system_instruction=TEXT."),
    ],
)
def test_creval_s_own_options_name_the_condition(task: str, given: dict[str, Any], said: str, home: Path) -> None:
    options = RunOptions(base_url="http://127.0.0.1:1/v1", output=home / "refused", **given)
    with pytest.raises(UsageError) as raised:
        run([f"lmeval/{task}"], "chat/m", options)
    assert raised.value.fix == said
