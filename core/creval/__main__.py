"""The entry point, of `creval` and of `python -m creval`.

Nothing is imported at the top: importing the command line takes a tenth of a second, and Ctrl-C during that time ends
the command with the word `interrupted`, as it does later. After that `creval.cli.signals` handles signals.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process and exit."""
    try:
        import gc
        import os
        import signal

        gc.disable()  # examining fresh modules would take a fifth of a short run; see creval.garbage
        # The threads of OpenBLAS, which NumPy starts, would each spin for 30 ms before they wait for work.
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # an ignored signal stays ignored
            signal.signal(signal.SIGINT, _end)  # raised within an import, the exception could be swallowed there
        from creval.cli.main import main as command_line
    except KeyboardInterrupt:
        _end()
    command_line()


def _end(*_: object) -> None:
    """End the process at once: nothing has started that would have to be finished."""
    import os

    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
