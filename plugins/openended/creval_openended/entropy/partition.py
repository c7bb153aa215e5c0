"""Classes of meaning among texts: greedy clustering by mutual entailment with a class's first member.

Source: paper 004, 3.1 and Appendix C (after Farquhar et al., 2024). A text joins the first class, in order of
creation, whose founder it entails and is entailed by; otherwise it founds one. This module finds the same partition
founder by founder: it compares each founder in turn with all texts that have no class yet, first in one direction, then
in the other only if the first entails. That takes 45 directed predictions for ten unlike texts and 18 for ten
paraphrases; identical texts share a class without any.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence

__all__ = ["Pair", "classes_of", "partition_all", "relabelled"]

Pair = tuple[str, str]
"""(premise, hypothesis)."""

_Search = Generator[Sequence[Pair], Sequence[bool], list[int]]

Judge = Callable[[Sequence[Pair]], Awaitable[Sequence[bool]]]
"""Return for each pair whether its premise entails its hypothesis; called with many pairs at once."""


def classes_of(texts: Sequence[str]) -> Generator[Sequence[Pair], Sequence[bool], list[int]]:
    """Partition texts: yield the pairs to judge, receive one bool per pair, and return the class of each text.

    Classes are numbered from 0 in the order of their founders among the texts.
    """
    distinct = list(dict.fromkeys(texts))
    label: dict[str, int] = {}
    free, number = distinct, 0
    while free:
        founder, *rest = free
        label[founder] = number
        entailed: list[str] = []
        if rest:
            forward = yield [(founder, text) for text in rest]
            entailed = [text for text, holds in zip(rest, forward, strict=True) if holds]
        if entailed:
            backward = yield [(text, founder) for text in entailed]
            label.update({text: number for text, holds in zip(entailed, backward, strict=True) if holds})
        free = [text for text in rest if text not in label]
        number += 1
    return [label[text] for text in texts]


async def partition_all(steps: Sequence[Sequence[str]], judge: Judge) -> list[list[int]]:
    """Partition the candidates of many steps in lockstep, so that the judge sees large batches.

    Returns for each step the class of each candidate. A pair that several steps request at once is judged once.
    """
    results: list[list[int]] = [[] for _ in steps]
    running: dict[int, tuple[_Search, Sequence[Pair]]] = {}
    for index, texts in enumerate(steps):
        search = classes_of(texts)
        _advance(running, results, index, search, None)
    while running:
        wanted = list(dict.fromkeys(pair for _, pairs in running.values() for pair in pairs))
        verdicts = dict(zip(wanted, await judge(wanted), strict=True))
        for index, (search, pairs) in list(running.items()):
            _advance(running, results, index, search, [verdicts[pair] for pair in pairs])
    return results


def _advance(
    running: dict[int, tuple[_Search, Sequence[Pair]]],
    results: list[list[int]],
    index: int,
    search: _Search,
    verdicts: Sequence[bool] | None,
) -> None:
    """Advance one search to its next request, or store its result."""
    try:
        pairs = next(search) if verdicts is None else search.send(verdicts)
    except StopIteration as end:
        running.pop(index, None)
        results[index] = end.value
    else:
        running[index] = (search, pairs)


def relabelled(labels: Sequence[int]) -> list[int]:
    """Return the same partition with classes numbered in the order of their first members."""
    order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return [order[label] for label in labels]
