"""Generation settings on the command line: read as in task files, and refused where nobody knows them."""

from __future__ import annotations

from typing import Any

import click
import pytest

from creval.cli.option_values import settings, sweeps
from creval.engine.manifest import options_data, read_options
from creval.engine.run_options import RunOptions
from creval.errors import UsageError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seed=1:30", "1:30"),
        ("seed=0x10", 16),
        ("stop=no", "no"),
        ("stop=on", "on"),
        ("temperature=1e-1", 0.1),
        ("temperature=null", None),
        ("stop=[a, no]", ["a", "no"]),
        ('stop="\\n"', "\n"),
        ("logprobs=true", True),
        ("stop=2024-01-01", "2024-01-01"),
    ],
)
def test_values_are_read_by_the_rules_of_task_files(text: str, value: Any) -> None:
    ((_, read),) = settings([text], "--generation").items()
    assert read == value
    assert type(read) is type(value)


def test_sweeps_are_read_by_the_same_rules() -> None:
    assert sweeps(["temperature=1e-1,0.5"], "--condition") == {"temperature": [0.1, 0.5]}
    assert sweeps(["stop=no,1:30"], "--condition") == {"stop": ["no", "1:30"]}


@pytest.mark.parametrize("text", ["stop=[a", "stop=!!python/name:os x", 'stop="x', "stop=.inf"])
def test_what_is_no_yaml_is_refused_with_the_settings_name(text: str) -> None:
    with pytest.raises(click.UsageError, match="--generation stop: "):
        settings([text], "--generation")


def test_a_slip_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"setting 'temprature'\n.*'temperature'.* extra\.temprature="):
        RunOptions(generation=settings(["temprature=0.7"], "--generation"))


def test_settings_that_creval_does_not_know_are_sent_under_extra() -> None:
    given = settings(["extra.top_a=0.5", "extra.provider={order: [a]}", "top_p=0.9"], "--generation")
    options = RunOptions(generation=given)
    assert options.generation == {"top_p": 0.9, "top_a": 0.5, "provider": {"order": ["a"]}}
    assert read_options(options_data(options)).generation == options.generation


@pytest.mark.parametrize("given", [{"extra": {"top_p": 1}, "top_p": 1}, {"extra": 1}])
def test_extra_is_a_mapping_of_settings_that_stand_nowhere_else(given: Any) -> None:
    with pytest.raises(UsageError, match="extra"):
        RunOptions(generation=given)
