"""Entry point of the command line: runs a command, turns errors into one message and an exit code.

Exit codes: 0 done, 1 done with more errored samples than allowed, 2 usage or invalid task, 3 stopped by
the budget, 130 interrupted (and resumable).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from creval.cli.root import cli
from creval.errors import CrevalError
from creval.report.visible import visible

__all__ = ["invoke", "main"]

INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and exit."""
    sys.exit(invoke(sys.argv[1:]))


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. With `--debug` an error keeps its traceback."""
    debug = "--debug" in arguments
    words = [word for word in arguments if word != "--debug"]
    try:
        code = cli.main(args=words, prog_name="creval", standalone_mode=False)
    except CrevalError as error:
        if debug:
            raise
        _complain(str(error))
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: not an error of ours.
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0


def _complain(message: str) -> None:
    first, *rest = visible(message).splitlines() or ["unknown error"]
    click.echo(click.style("error: ", fg="red", bold=True) + first, err=True)
    for line in rest:
        click.echo(f"  {line}", err=True)
