"""`python -m creval` is the same as `creval`."""

from __future__ import annotations

from creval.cli.main import main

if __name__ == "__main__":
    main()
