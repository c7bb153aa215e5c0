"""What lm-eval's users type: each option of its command is creval's too, or one line says what to type here."""

from __future__ import annotations

import argparse
import re
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
    for name in ("apply_chat_template", "include_path", "fewshot_as_multiturn", "system_instruction", "num_fewshot"):
        for typed in (f"--{name}", f"--{name.replace('_', '-')}", f"--{name}=x"):
            assert invoke(["--tasks", "lmeval/gsm8k", "--model", "chat/m", typed]) == 2
            last = capsys.readouterr().err.splitlines()[-1]
            assert last == f"Error: {instead_of(typed.partition('=')[0])}"
            named = re.findall(r"--[a-z-]+", last.partition("Here:")[2])
            assert named and set(named) <= OWN
            setting = re.search(r"--condition (\w+)=", last)
            assert setting is None or setting[1] == name


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
