"""Generator `kumo`: task sets by domain and seed, with their knowledge books."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from creval.types.sample import Doc
from creval_kumo.book import write_book
from creval_kumo.domain import Domain
from creval_kumo.domains import domain_names, load_domain
from creval_kumo.generation import Settings, counterfactual, generate
from creval_kumo.instance import Instance

__all__ = ["KumoDocs", "game_doc"]


def game_doc(instance: Instance, domain: Domain) -> dict[str, Any]:
    """Return a game as the fields of a doc: the game, its book, and the domain's words for the prompt."""
    return instance.to_doc() | {
        "id": f"{instance.domain}-{len(instance.truths)}x{len(instance.actions)}-{instance.seed}",
        "title": domain.title,
        "goal": domain.goal,
        "truth_noun": {"singular": domain.truth_noun.singular, "plural": domain.truth_noun.plural},
        "action_noun": {"singular": domain.action_noun.singular, "plural": domain.action_noun.plural},
        "book": write_book(instance, domain),
    }


@dataclass(frozen=True, slots=True)
class KumoDocs:
    """`count` games of each domain. `domains`: names, or `all`. The same parameters give the same bytes everywhere."""

    domains: Sequence[str] | str
    truths: int = 4
    actions: int = 6
    valid: int = 1
    count: int = 50
    seed: int = 0
    counterfactual: bool = False

    def docs(self) -> Iterator[Doc]:
        """Yield the games, domain by domain."""
        names = (
            domain_names()
            if self.domains == "all"
            else [self.domains]
            if isinstance(self.domains, str)
            else self.domains
        )
        settings = Settings(self.truths, self.actions, self.valid)
        for name in names:
            domain = load_domain(name)
            if self.counterfactual:
                domain = counterfactual(domain, self.seed)
            for instance in itertools.islice(generate(domain, settings, self.seed), self.count):
                fields = game_doc(instance, domain)
                yield Doc(fields["id"], fields)
