"""`creval completion bash|zsh|fish`."""

from __future__ import annotations

import click

__all__ = ["completion"]

_SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="Example: creval completion bash\n\n"
    'bash: eval "$(creval completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc, after compinit. '
    "fish: creval completion fish > ~/.config/fish/completions/creval.fish"
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes commands, options, tasks, models and runs in your shell.

    It asks creval itself, so that tasks of plugins that you install later are offered too.
    """
    from click.shell_completion import get_completion_class

    from creval.cli.root import cli

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(cli, {}, "creval", "_CREVAL_COMPLETE").source())
