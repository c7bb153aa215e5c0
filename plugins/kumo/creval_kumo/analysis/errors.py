"""Parse-error rates and tokens per game, by model and difficulty.

Source: paper 002, "Statistical study of KUMO", Fig. 6a and b. Both are averaged over domains, so each domain has the
same weight, regardless of its number of games. Tokens are the input and output of all calls of a game. As in the
released code, a parse error is an answer that could not be parsed, was cut at the token limit, or was refused.

The published runs reproduce the paper's numbers (2,937.00 to 8,121.88 tokens, mean 6,126.35, in easy games; 5,395.78 to
22,605.71, mean 16,002.93, in hard ones, where we get .92), but the paper's text attributes them to other models than
the runs do: the smallest number, for instance, belongs to Qwen2.5-3B-Instruct.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

__all__ = ["GameCost", "Rates", "rates"]


@dataclass(frozen=True, slots=True)
class GameCost:
    """The tokens of one try at one game, and whether it ended with a parse error."""

    model: str
    difficulty: str
    domain: str
    unread: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class Rates:
    """Means over domains for one model and difficulty: `parse_errors` is a share, 0 to 1; `tokens` is per game."""

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
