"""Generator `kumo`: task sets by domain and seed, with their knowledge books."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Doc, UsageError
from creval_kumo.books.book import write_book, write_long_book
from creval_kumo.domains import domain_names, listed, load_domain
from creval_kumo.domains.domain import Domain
from creval_kumo.games.generation import Settings, counterfactual, generate
from creval_kumo.games.instance import Instance

__all__ = ["KumoDocs", "game_doc"]


def game_doc(instance: Instance, domain: Domain) -> dict[str, Any]:
    """Return a game as the fields of a doc: the game, its book, and the domain's words for the prompt.

    A game without a book gets one from the template.
    """
    return instance.to_doc() | {
        "id": instance.id,
        "title": domain.title,
        "goal": domain.goal,
        "about": {name: domain.truth_by_name[name].about for name in instance.truths},
        "truth_noun": {"singular": domain.truth_noun.singular, "plural": domain.truth_noun.plural},
        "action_noun": {"singular": domain.action_noun.singular, "plural": domain.action_noun.plural},
        "book": instance.book or write_book(instance, domain),
    }


@dataclass(frozen=True, slots=True)
class KumoDocs:
    """`count` games of each domain. The same parameters give the same bytes everywhere.

    `domains` are names of shipped domains, paths of domain files (ending in .yaml, taken from the working directory),
    or `all` for every shipped one. `counterfactual` shuffles the truths' names in all exclusions. `reliability` below 1
    makes results evidence only (see `creval_kumo.games.belief`). `long_book` gives each game the book of its whole
    domain, including truths and actions that are not in the game; it requires certain results.

    Raises UsageError and UnknownNameError for invalid parameters, DomainError for a faulty domain file,
    DataError if no further game can be found.
    """

    domains: Sequence[str] | str
    truths: int = 4
    actions: int = 6
    valid: int = 1
    count: int = 50
    seed: int = 0
    counterfactual: bool = False
    reliability: float = 1.0
    long_book: bool = False

    def docs(self) -> Iterator[Doc]:
        """Yield the games, domain by domain."""
        settings = Settings(self.truths, self.actions, self.valid, self.reliability)
        if self.long_book and self.reliability != 1:
            raise UsageError(
                "long_book is for games with certain results", where="generator kumo", fix="Leave out reliability."
            )
        for name in listed(self.domains, domain_names(), "generator kumo"):
            yield from _games(name, settings, self.seed, self.count, self.counterfactual, self.long_book)


@functools.lru_cache(maxsize=32)  # as many as domains are cached: tasks and models of one process use the same games
def _games(
    name: str, settings: Settings, seed: int, count: int, is_counterfactual: bool, has_long_book: bool
) -> Sequence[Doc]:
    domain = load_domain(name)
    if is_counterfactual:
        domain = counterfactual(domain, seed)
    docs = []
    for instance in itertools.islice(generate(domain, settings, seed), count):
        fields = game_doc(instance, domain)
        if has_long_book:
            fields["book"] = write_long_book(instance, domain)
        docs.append(Doc(fields["id"], fields))
    return docs
