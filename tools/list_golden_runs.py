"""Find the golden run of each game of `kumo_hard_16x20` and list it, for scoring to look up.

    python tools/list_golden_runs.py [--jobs N]

It takes some seconds a game with numba. Run it again when the search, the generation or the task changes: the list is
the same unless one of them changed what optimal play is.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from itertools import islice
from typing import Any

from creval_kumo.domains import PAPER_DOMAINS, load_domain
from creval_kumo.games.generation import Settings, generate
from creval_kumo.search.golden import OptimalPlayer, game_text
from creval_kumo.search.listed_golden import LISTED, digest

COUNT = 10


def games() -> Iterator[Any]:
    """The games of the task."""
    for domain in PAPER_DOMAINS:
        yield from islice(generate(load_domain(domain), Settings(16, 20), 1), COUNT)


def line(game: Any) -> str:
    """The line of a game."""
    found = OptimalPlayer(game, engine="compiled").run()
    row = {
        "id": game.id,
        "game": digest(game_text(game.to_doc())),
        "tests": found.tests,
        "prediction": found.prediction,
    }
    return json.dumps(row, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    with multiprocessing.Pool(parser.parse_args().jobs) as pool:
        lines = list(pool.imap(line, games()))
    LISTED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{LISTED}: {len(lines)} games")


if __name__ == "__main__":
    main()
