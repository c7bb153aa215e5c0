#!/usr/bin/env python3
"""How fast KUMO's optimal play is proven, next to Algorithm 3 of the paper to the letter, and how it grows.

    python -m benchmarks.kumo.run [--data FOLDER] [--games N]      (from the repository's root)

1. All hard games (12 truths, 16 actions) of the authors' five domains: each is proven, known values and the authors'
   golden runs are checked. FOLDER is that of the reference data (or `$CREVAL_DATA`); without it games of our own
   domains take their place.
2. The same games by the literal Algorithm 3, the plain Python search and the compiled one, in one run. The literal
   search runs in a process of its own and is stopped after --patience seconds; a size ends with the first such game.
3. Growth with truths and actions, on games of our own domains, as a table and drawn; ends with the first size of which
   no game is proven.

All times are processor seconds of one core.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from creval_kumo.domains import PAPER_DOMAINS, load_domain
from creval_kumo.games.generation import Settings, generate
from creval_kumo.games.instance import Instance
from creval_kumo.published.published_domains import read_domains, read_instances
from creval_kumo.search.golden import OptimalPlayer, puzzle_of
from creval_kumo.search.limits import Limits
from creval_kumo.search.puzzle import Puzzle
from creval_kumo.search.reference import LiteralSearch
from creval_kumo.search.solver import OptimalSearch, Proof

T = TypeVar("T")
AUTHORS_DOMAINS = ("MedicalEnv", "ChemicalEnv", "MusicEnv", "EducationEnv", "FantasyEnv")
OPEN_VALUES = Path(__file__).resolve().parents[2] / "plugins" / "kumo" / "tests" / "data" / "hard_values.json"
SIZES = ((4, 6), (6, 8), (8, 10), (10, 12), (12, 16), (16, 20), (20, 24))


def main() -> None:
    """Run the three parts and print them as markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("CREVAL_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder of the reference data")
    parser.add_argument("--games", type=int, default=10, help="games of each size in part 3")
    parser.add_argument("--growth", action="store_true", help="part 3 alone")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for the literal search on one game")
    options = parser.parse_args()
    OptimalSearch(Puzzle(2, ((1, 2),)), engine="compiled")  # compile or load the kernel before any clock runs
    print(f"memory with the kernel loaded: {peak_mb():.0f} MB\n")
    if not options.growth:
        prove_hard_games(options.data / "kumo")
        side_by_side(options.games, options.patience)
    grow(options.games)


def prove_hard_games(data: Path) -> None:
    """Part 1."""
    print("| hard games | proven | mean s | median s | worst s | nodes, mean | peak MB | checked |")
    print("|---|---|---|---|---|---|---|---|")
    everything: list[float] = []
    for name, games, check in hard_games(data):
        seconds, nodes, proven = [], [], 0
        for game in games:
            player = OptimalPlayer(game, Limits(nodes=None), engine="compiled")
            spent, proof = clock(player.prove)
            seconds.append(spent)
            nodes.append(proof.nodes)
            proven += proof.proven
            check(game, player, proof)
        everything += seconds
        print(f"| {name} | {proven} of {len(games)} | {times(seconds)} | {statistics.mean(nodes):.0f} | "
              f"{peak_mb():.0f} | {check.__doc__} |", flush=True)  # fmt: skip
    print(f"| all | {len(everything)} | {times(everything)} | | {peak_mb():.0f} | |\n")


Check = Callable[[Instance, OptimalPlayer, Proof], None]


def hard_games(data: Path) -> Iterator[tuple[str, Sequence[Instance], Check]]:
    """The authors' games by domain with a check of each, or our own where the data is absent."""
    if not data.is_dir():
        for name in PAPER_DOMAINS:
            yield name, list(itertools.islice(generate(load_domain(name), Settings(12, 16), 1), 50)), nothing
        return
    published = read_domains(data / "seed_configs.jsonl.gz")
    values = {key: row["E_S"] for key, row in keyed(data / "shipped_expected_steps.jsonl.gz")}
    for name, opened in json.loads(OPEN_VALUES.read_text(encoding="utf-8"))["values"].items():
        values |= {(name, "hard", int(seed)): value for seed, value in opened.items()}
    golden = {key: row["golden"] for key, row in keyed(data / "golden_trajectories.jsonl.gz")}

    def check(game: Instance, player: OptimalPlayer, proof: Proof) -> None:
        """known values to 1e-9, golden runs optimal"""
        key = (game.domain, "hard", game.seed)
        if abs(proof.value - values[key]) > 1e-9:
            raise SystemExit(f"{key}: {proof.value} instead of {values[key]}")
        tests = golden[key][:-1]
        for number, action in enumerate(tests):
            if not player.is_optimal(tests[:number], action):
                raise SystemExit(f"{key}: {action} is not optimal after {tests[:number]}")

    for name in AUTHORS_DOMAINS:
        yield name, list(read_instances(data / "instances" / f"{name}.hard.jsonl.gz", published[name])), check


def nothing(game: Instance, player: OptimalPlayer, proof: Proof) -> None:
    """nothing"""


def keyed(path: Path) -> Iterator[tuple[tuple[str, str, int], dict[str, Any]]]:
    """The rows of a reference file by game."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield (row["domain"], row["difficulty"], row["seed"]), row


def side_by_side(games: int, patience: float) -> None:
    """Part 2: the same games by every search."""
    print("| truths x actions | games | literal s | python s | compiled s | literal / python | literal / compiled |")
    print("|---|---|---|---|---|---|---|")
    for truths, actions in SIZES[:5]:
        sums = {"literal": 0.0, "python": 0.0, "compiled": 0.0}
        count, stopped = 0, False
        for puzzle in sample(truths, actions, games):
            if puzzle.ends(puzzle.all_truths, puzzle.all_actions) or stopped:
                continue
            seconds, value = in_time(puzzle, patience)
            stopped = value is None
            if stopped and count:
                break  # the games that were finished give the row
            count += 1
            sums["literal"] += seconds
            for engine in ("python", "compiled"):
                sums[engine] += by_engine(puzzle, engine, value)
        over = ">" if stopped and count == 1 else ""
        means = " | ".join(f"{over if name == 'literal' else ''}{total / count:.5f}" for name, total in sums.items())
        ratios = " | ".join(f"{over}{sums['literal'] / sums[name]:.0f}" for name in ("python", "compiled"))
        print(f"| {truths} x {actions} | {count} | {means} | {ratios} |", flush=True)
        if over:
            break
    print()


def by_engine(puzzle: Puzzle, engine: str, value: float | None) -> float:
    """Processor seconds of an engine; its value must be the one given, where one is."""
    seconds, proof = clock(OptimalSearch(puzzle, Limits(nodes=None), engine).prove)  # type: ignore[arg-type]
    if value is not None and abs(proof.value - value) > 1e-9:
        raise SystemExit(f"{engine} says {proof.value}, Algorithm 3 {value}")
    return seconds


def grow(games: int) -> None:
    """Part 3."""
    print("| truths x actions | compiled: mean s | median s | worst s | proven within the search's limits |")
    print("|---|---|---|---|---|")
    means = {}
    for truths, actions in SIZES:
        seconds, proven = [], 0
        puzzles = sample(truths, actions, games)
        for puzzle in puzzles:
            spent, proof = clock(OptimalSearch(puzzle, engine="compiled").prove)
            seconds.append(spent)
            proven += proof.proven
        print(f"| {truths} x {actions} | {times(seconds)} | {proven} of {len(puzzles)} |", flush=True)
        if not proven:
            break
        means[f"{truths} x {actions}"] = statistics.mean(seconds)
    print(f"\n```text\n{drawn(means)}\n```")
    print(f"\npeak memory of everything: {peak_mb():.0f} MB")


def drawn(means: dict[str, float]) -> str:
    """Mean seconds a game by size as bars of a logarithmic scale; a decade is ten characters wide."""
    least = min(means.values())
    rows = [f"{size:>8} {'#' * round(1 + 10 * math.log10(mean / least))} {mean:.2g} s" for size, mean in means.items()]
    return "\n".join(rows)


def sample(truths: int, actions: int, games: int) -> list[Puzzle]:
    """`games` games of this size, as equally as can be from our five domains."""
    streams = [generate(load_domain(name), Settings(truths, actions), 1) for name in PAPER_DOMAINS]
    return [puzzle_of(next(streams[number % len(streams)])) for number in range(games)]


def in_time(puzzle: Puzzle, patience: float) -> tuple[float, float | None]:
    """Seconds and value of the literal search; `patience` and None where it was stopped."""
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    process = context.Process(target=literally, args=(puzzle, results))
    process.start()
    process.join(patience)
    if process.is_alive():
        process.kill()
        process.join()
        return patience, None
    answer: tuple[float, float] = results.get()
    return answer


def literally(puzzle: Puzzle, results: Any) -> None:
    """Run Algorithm 3 in this process."""
    search = LiteralSearch(puzzle)
    seconds, (value, _) = clock(lambda: search.solve(puzzle.all_truths, puzzle.all_actions))
    results.put((seconds, value))


def clock(action: Callable[[], T]) -> tuple[float, T]:
    """Processor seconds of a call, and its result."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def times(seconds: Sequence[float]) -> str:
    """Mean, median and worst as three cells."""
    return f"{statistics.mean(seconds):.4f} | {statistics.median(seconds):.4f} | {max(seconds):.3f}"


def peak_mb() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)


if __name__ == "__main__":
    main()
