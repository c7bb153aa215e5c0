"""The entry point, of `creval` and of `python -m creval`.

Nothing is imported at its top: the command line takes a tenth of a second to import, and Ctrl-C within that time ends
the command in one word, as it does later. From then on `creval.cli.signals` takes the signals.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process and exit."""
    try:
        import gc
        import signal

        gc.disable()  # a fifth of a short run would go into looking through fresh modules; see creval.garbage

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # one that is ignored stays ignored
            signal.signal(signal.SIGINT, _end)  # raised within an import, the exception could be swallowed there
        from creval.cli.main import main as command_line
    except KeyboardInterrupt:
        _end()
    command_line()


def _end(*_: object) -> None:
    """End the process at once: nothing has begun that would have to be finished."""
    import os

    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
