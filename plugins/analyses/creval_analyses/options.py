"""Options of commands and analyses that use models and resources: `--role`, `--resource`, `--max-cost` and others.

Promised: these names follow semantic versioning. It imports click, but not the engine, so that `--help` stays fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from creval.plugin import FieldSpec

if TYPE_CHECKING:
    from creval_analyses.workbench import Workbench

__all__ = ["click_option", "command_options", "open_workbench", "part_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

_ROLE = FieldSpec("role", "string", (), "ROLE=M: the model of a role, e.g. judge=openai/gpt-5-mini.", True)

_RESOURCE = FieldSpec("resource", "string", (), "NAME=R: use another resource, e.g. embedding=embedded/minilm.", True)

_TRUST = FieldSpec(
    "trust_remote_code", "boolean", False, "Allow encoders and models to run code from their own repository."
)

_CALLS = (
    FieldSpec("base_url", "string", None, "URL of an OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1."),
    FieldSpec("generation", "string", (), "K=V: a generation setting, e.g. max_tokens=16000.", True),
    FieldSpec("timeout", "number", 600.0, "Timeout of one request, in seconds."),
    FieldSpec("max_cost", "number", None, "Stop when this many US dollars are spent."),
    FieldSpec("max_calls", "integer", None, "Stop after this many requests."),
    FieldSpec("cache", "boolean", False, "Read responses from the cache and store new ones there."),
)

_OFFLINE = FieldSpec("offline", "boolean", False, "Do not use the network.")

_PLAIN = ("offline", "base_url", "timeout", "max_cost", "max_calls", "cache", "trust_remote_code")

_TYPES: dict[str, Any] = {
    "string": click.STRING,
    "integer": click.INT,
    "number": click.FLOAT,
    "path": click.Path(exists=True),
    "file": click.Path(),
}


def part_options(roles: bool = False, models: bool = False, resources: bool = False) -> tuple[FieldSpec, ...]:
    """Return options for commands that open models and resources, the same as those of `creval`, for `open_workbench`.

    `models`: options of models and their cost (`--base-url`, `--max-cost` ...). `roles`: these and `--role`.
    `resources`: `--resource` and `--trust-remote-code`. All include `--offline`.
    """
    found = ((_ROLE,) if roles else ()) + ((_RESOURCE, _TRUST) if resources else ())
    return (*found, *(_CALLS if models or roles else ()), _OFFLINE)


def click_option(spec: FieldSpec) -> click.Option:
    """Return the command-line option of a field."""
    flag = f"--{spec.name.replace('_', '-')}"
    if spec.type == "boolean":
        return click.Option([flag, spec.name], is_flag=True, default=bool(spec.default), help=spec.help)
    return click.Option(
        [flag, spec.name],
        type=_type(spec),
        default=spec.default,
        multiple=spec.multiple,
        show_default=spec.default not in (None, (), [], ""),
        help=spec.help,
    )


def _type(spec: FieldSpec) -> Any:
    """Return the type of an option; for a number, with its bounds."""
    low, high = spec.minimum, spec.maximum
    if low is None and high is None:
        return _TYPES.get(spec.type, click.STRING)
    if spec.type == "integer":
        return click.IntRange(None if low is None else int(low), None if high is None else int(high))
    return click.FloatRange(low, high)


def command_options(specs: Sequence[FieldSpec]) -> Callable[[Command], Command]:
    """Return a decorator that adds these options to a click command, in their order.

    Example:
        @click.command()
        @command_options(part_options(models=True))
        def propose(**given): ...
    """

    def add(command: Command) -> Command:
        for spec in reversed(specs):
            option = click_option(spec)
            kept = {name: getattr(option, name) for name in ("default", "help", "is_flag", "multiple", "show_default")}
            command = click.option(*option.opts, option.name, type=option.type, **kept)(command)
        return command

    return add


def open_workbench(given: Mapping[str, Any], addressed: str = "target", seed: int = 0) -> Workbench:
    """Return the workbench for the options of `part_options`; other options in `given` are ignored.

    `role`, `resource` and `generation` are texts NAME=VALUE or a mapping. `base_url` and `generation` apply to the role
    `addressed`; `seed` is the seed of models in this process. Raises UsageError (click's for a malformed text).
    """
    from creval import RunOptions
    from creval.plugin.commands import read_roles, settings, texts
    from creval_analyses.workbench import Workbench

    def pairs(name: str, read: Callable[[Sequence[str], str], Mapping[str, Any]]) -> Mapping[str, Any]:
        value = given.get(name) or ()
        return value if isinstance(value, Mapping) else read(value, f"--{name}")

    plain = {name: given[name] for name in _PLAIN if given.get(name) is not None}
    options = RunOptions(
        roles=pairs("role", read_roles),
        resources=pairs("resource", texts),
        generation=pairs("generation", settings),
        seed=seed,
        **plain,
    )
    return Workbench(options, addressed)
