"""How often answers cannot be read, and how many tokens a game takes, by model and difficulty.

Source: paper 002, "Statistical study of KUMO", Fig. 6a and b: both are averaged over domains, so each domain counts the
same however many games it has. Tokens are input and output of all calls of a game. A parse error is, as in the
released code, an answer that could not be read, was cut at the token limit, or was refused.

The published runs give the paper's numbers (2,937.00 to 8,121.88 tokens, mean 6,126.35, in easy games; 5,395.78 to
22,605.71, mean 16,002.93, in hard ones, where .92 comes out), but its text puts them to other models than the runs: the
least, for instance, belong to Qwen2.5-3B-Instruct.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

__all__ = ["GameCost", "Rates", "rates"]


@dataclass(frozen=True, slots=True)
class GameCost:
    """What one try at one game took, and whether it ended with an answer that could not be read."""

    model: str
    difficulty: str
    domain: str
    unread: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class Rates:
    """Means over domains for one model and difficulty. `parse_errors` is a share, 0 to 1; `tokens` a mean a game."""

    model: str
    difficulty: str
    domains: int
    games: int
    parse_errors: float
    tokens: float


def rates(games: Iterable[GameCost]) -> list[Rates]:
    """Return the rates by difficulty and model, sorted."""
    groups: dict[tuple[str, str], dict[str, list[GameCost]]] = defaultdict(lambda: defaultdict(list))
    for game in games:
        groups[game.difficulty, game.model][game.domain].append(game)
    return [
        Rates(
            model=model,
            difficulty=level,
            domains=len(domains),
            games=sum(map(len, domains.values())),
            parse_errors=fmean(fmean(float(game.unread) for game in of_domain) for of_domain in domains.values()),
            tokens=fmean(fmean(game.tokens for game in of_domain) for of_domain in domains.values()),
        )
        for (level, model), domains in sorted(groups.items())
    ]
