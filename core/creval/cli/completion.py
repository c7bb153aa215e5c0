"""`creval completion bash|zsh|fish`, and the completions that the shell offers: tasks, runs, models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

__all__ = ["completion", "tasks"]


def tasks(_: click.Context, __: click.Parameter, incomplete: str) -> Sequence[Any]:
    """Offer tasks and suites; after a comma the next one."""
    from creval.plugins.loader import load_plugins
    from creval.tasks.index import TaskIndex

    before, comma, word = incomplete.rpartition(",")
    headers = TaskIndex(load_plugins()).headers()
    return [
        _item(f"{before}{comma}{name}", title)
        for name, title in sorted({(header.name, header.title) for header in headers})
        if name.startswith(word)
    ]


def runs(_: click.Context, __: click.Parameter, incomplete: str) -> Sequence[Any]:
    """Offer run folders and folders that may contain some; at first also those under `runs/`."""
    from pathlib import Path

    head, slash, start = incomplete.rpartition("/")
    folders = [Path(f"{head}{slash}" or "."), *([Path("runs")] if not incomplete else [])]
    items: list[Any] = []
    for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir())):
        if not path.name.startswith(start) or (path.name.startswith(".") and not start):
            continue
        if (path / "run.json").is_file():
            items.append(_item(str(path), "a run"))
        elif path.is_dir():
            items.append(_item(f"{path}/", None))
    return items


def models(_: click.Context, __: click.Parameter, incomplete: str) -> Sequence[Any]:
    """Offer providers as the beginning of a model's name, and complete names of baselines."""
    from creval.plugins.loader import load_plugins

    registry = load_plugins().registry
    named = [f"{name}/" for name in registry.names("provider") if name != "baseline"]
    return _starting(["baseline/floor", "baseline/ceiling", *named], incomplete)


def _starting(names: Iterable[str], incomplete: str) -> list[Any]:
    return [_item(name, None) for name in sorted(set(names)) if name.startswith(incomplete)]


def _item(value: str, about: str | None) -> Any:
    from click.shell_completion import CompletionItem

    return CompletionItem(value, help=about)


_SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="Example: creval completion bash\n\n"
    'bash: eval "$(creval completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after compinit. '
    "fish: creval completion fish > ~/.config/fish/completions/creval.fish"
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes commands, options, tasks, models and runs in your shell.

    The script calls creval, so it also completes the tasks of plugins that you install later.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(click.get_current_context().find_root().command, {}, "creval", "_CREVAL_COMPLETE").source())
