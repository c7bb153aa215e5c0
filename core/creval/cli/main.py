"""The entry point of the command line: runs a command, and turns errors into one message and an exit code.

Exit codes: 0 done, 1 done with more errored samples than allowed, 2 usage or invalid task, 3 stopped by
the budget, 4 batches are pending, 130 interrupted (and resumable; 143 by SIGTERM, 129 by SIGHUP).
`creval gate`: 10 no-go, 11 undecided.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shlex
import sys
from collections.abc import Sequence

import click

from creval.cli.process_end import ProcessEnd, is_program
from creval.cli.root import cli
from creval.cli.signals import exit_code, listening
from creval.errors import CrevalError, DetachedError, UsageError
from creval.escape import visible

__all__ = ["invoke", "main"]

_LONGEST_NAME = 200
SIGNALLED = 128
"""Exit codes above this one are 128 and the signal that ended the command."""


def main() -> None:
    """Run the command line of this process and exit."""
    process_end = ProcessEnd()
    if is_program():
        process_end.register()
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a character unknown to the terminal must not fail the command
    with listening():
        code = invoke(sys.argv[1:])
    if code > SIGNALLED:  # threads may still be running; everything is on disk
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    process_end.code = code
    sys.exit(code)


def invoke(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. With `--debug` an error also shows its traceback."""
    words = [word for word in arguments if word != "--debug"]
    if "--debug" in arguments:
        _show_faults_of_parts()
    try:
        code = cli.main(args=words, prog_name="creval", standalone_mode=False)
        sys.stdout.flush()
    except DetachedError as error:
        click.echo(visible(str(error)), err=True)
        return error.exit_code
    except CrevalError as error:
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        _complain("\n".join([_message_of(error, words), *getattr(error, "__notes__", ())]))
        return error.exit_code
    except click.ClickException as error:
        _show(error)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return exit_code()
    except BrokenPipeError:
        return _handle_closed_output()
    except SystemExit:
        if not type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):  # click's exit code for the same error
            raise
        return _handle_closed_output()
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            _complain("too many files are open\nRaise the limit (ulimit -n 4096), or lower --concurrency.")
            return UsageError.exit_code
        if error.filename is not None:
            if "--debug" in arguments:
                import traceback

                traceback.print_exc()
            _complain(f"{_shortened(error.filename)}: {error.strerror or error}\nName another path, or fix this one.")
            return UsageError.exit_code
        _leave_output()
        _complain(f"the output cannot be written: {error.strerror or error}\nWhat a run has written is in its folder.")
        return 2
    return code if isinstance(code, int) else 0


def _message_of(error: CrevalError, words: Sequence[str]) -> str:
    """Return the message; if trust is missing, it has the user's command line with `--trust` added."""
    advise = getattr(error, "advise", None)
    if advise is not None:
        advise(shlex.join(["creval", *words]))
    return str(error)


def _show(error: click.ClickException) -> None:
    """Show an error of click: with creval's equivalent of lm-eval's options, and with the numbers that are valid."""
    if isinstance(error, click.NoSuchOption):
        from creval.cli.lm_eval_options import instead_of

        instead = instead_of(error.option_name)
        error = error if instead is None else click.UsageError(instead, error.ctx)
    elif isinstance(error, click.BadParameter) and error.param is not None:
        kind, whole = error.param.type, isinstance(error.param.type, click.types.IntParamType)
        low, high = getattr(kind, "min", None), getattr(kind, "max", None)
        limits = "" if low is None else f" of at least {low}" if high is None else f" from {low} to {high}"
        if whole or isinstance(kind, click.types.FloatParamType):
            words = error.message.replace(f"a valid {kind.name}", f"a {'whole ' if whole else ''}number{limits}")
            error = click.BadParameter(words, error.ctx, error.param, error.param_hint)
    error.show()


def _handle_closed_output() -> int:
    """Handle a closed output (head, less), which is not an error."""
    sys.stderr.close()
    return 0


def _shortened(name: object) -> str:
    """Return a file's name, cut if it is too long to be one."""
    text = os.fsdecode(name) if isinstance(name, bytes) else str(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."


def _open_streams() -> None:
    """Replace an output that the shell closed (`>&-`) by the null device."""
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")


def _show_faults_of_parts() -> None:
    """Print the traceback of each fault of a plugin's component when it occurs; its sample is errored nevertheless."""
    import logging

    log = logging.getLogger("creval.parts")
    log.setLevel(logging.DEBUG)
    log.addHandler(logging.StreamHandler())
    log.propagate = False


def _leave_output() -> None:
    """Send further output to the null device, since the interpreter would report the broken output again at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _complain(message: str) -> None:
    first, *rest = visible(message).splitlines() or ["unknown error"]
    with contextlib.suppress(OSError):
        click.echo(click.style("error: ", fg="red", bold=True) + first, err=True)
        for line in rest:
            click.echo(f"  {line}", err=True)
