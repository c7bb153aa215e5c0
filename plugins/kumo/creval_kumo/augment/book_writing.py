"""Stage d: a model writes the knowledge book of a game, and revises it while errors are detected (paper 002, Fig. 2d).

Errors are detected twice: by the model, as in the paper, and by `book_check`, which decides. A book that fails the
check is never returned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from creval.plugin import DataError, Message
from creval_kumo.augment.asking import Augmenter
from creval_kumo.augment.prompting import fill
from creval_kumo.books.book import chance_rule
from creval_kumo.books.book_check import book_faults
from creval_kumo.domains.domain import Domain
from creval_kumo.games.instance import Instance
from creval_kumo.trajectories.conversation import symbolic_book

__all__ = ["WrittenBook", "write_book_by_model"]

MAX_ROUNDS = 3
_FENCED = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)
_NO_ERRORS = re.compile(r"\bNO ERRORS?\b")
_MAX_ERRORS = 60


@dataclass(frozen=True, slots=True)
class WrittenBook:
    """The text, the number of revisions, and the errors found in each round."""

    text: str
    revisions: int
    errors: tuple[str, ...]


async def write_book_by_model(
    augmenter: Augmenter, instance: Instance, domain: Domain, rounds: int = MAX_ROUNDS
) -> WrittenBook:
    """Return a book that passes the check.

    At most `rounds` revisions are requested. Objections of the model after the last are ignored if the check finds no
    faults. Raises DataError if the check still finds faults, ModelError if a call fails.
    """
    shared = _shared(instance, domain)
    rules = _chance(instance, domain)
    book = _unfenced(await augmenter.ask([Message("user", fill("book_write", goal=domain.goal, **shared) + rules)]))
    errors: list[str] = []
    for revisions in range(rounds + 1):
        faults = book_faults(book, instance)
        if revisions == rounds:
            break
        found = list(
            dict.fromkeys([*faults, *await _detected(augmenter, fill("book_detect", book=book, **shared) + rules)])
        )
        if not found:
            return WrittenBook(book, revisions, tuple(errors))
        errors += found
        listed = "\n".join(f"- {error}" for error in found[:_MAX_ERRORS])
        revised = fill("book_revise", book=book, errors=listed, **shared) + rules
        book = _unfenced(await augmenter.ask([Message("user", revised)]))
    if faults:
        shown = "\n".join(f"  {fault}" for fault in faults[:10])
        raise DataError(
            f"after {rounds} revisions the book still has {len(faults)} faults:\n{shown}",
            where=f"{instance.domain} {instance.seed}, written by {augmenter.model.spec}",
            fix="Allow more --rounds, use another model, or leave --augmenter out for books by template.",
        )
    return WrittenBook(book, rounds, tuple(errors))


async def _detected(augmenter: Augmenter, prompt: str) -> list[str]:
    """Return the errors that the model finds; an answer that is not a list counts as no errors."""
    answer = await augmenter.ask([Message("user", prompt)])
    if _NO_ERRORS.search(answer):
        return []
    return [line.strip()[2:].strip() for line in answer.splitlines() if line.strip().startswith("- ")]


def _shared(instance: Instance, domain: Domain) -> dict[str, str]:
    return {
        "truths": ", ".join(instance.truths),
        "truths_noun": domain.truth_noun.plural,
        "actions_noun": domain.action_noun.plural,
        "config": symbolic_book(instance),
    }


def _chance(instance: Instance, domain: Domain) -> str:
    """Return the text added to every prompt if results are not certain."""
    if instance.reliability == 1:
        return ""
    return "\n\n" + fill("book_chance", truths_noun=domain.truth_noun.plural, rule=" ".join(chance_rule(instance)))


def _unfenced(answer: str) -> str:
    found = _FENCED.match(answer)
    return (found[1] if found else answer).strip() + "\n"
