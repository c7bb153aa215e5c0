"""Tree search over the tokens of a program, guided by the model and the tests.

Zhang et al. 2023, "Planning with Large Language Models for Code Generation" (PG-TD, arXiv:2303.05510): a node is a
prefix of the program, its children the k most probable next tokens; a new node is completed greedily (one beam), the
pass rate of that program is its reward, and every edge above keeps the best reward found below it. Edges are chosen by

    P-UCB(s, a) = Q(s, a) + beta(s) P(a | s) sqrt(ln N(s)) / (1 + N(s, a))
    beta(s) = ln((N(s) + c_base + 1) / c_base) + c

Prefixes of a known completion are not requested again (their sequence cache), so that the most probable
child of a node costs no call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

__all__ = ["Continuation", "Rollout", "Settings", "is_end", "search"]

_SPECIAL = re.compile(r"<\|[^<>|]+\|>|<｜[^<>｜]+｜>|</s>|<eos>|<end_of_turn>|<EOT>")


@dataclass(frozen=True, slots=True)
class Settings:
    """How the tree is searched; the defaults are those of the paper's released settings, except `rollouts`."""

    rollouts: int = 16
    top_k: int = 3
    c_base: float = 10.0
    c: float = 4.0
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Continuation:
    """The continuation of a text: its tokens, at each position the most probable ones with log-probabilities, the end.

    `alternatives` may have one position more than `tokens`: the alternatives to the end. `cut`: the token limit
    ended it.
    """

    tokens: Sequence[str]
    alternatives: Sequence[Sequence[tuple[str, float]]]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Rollout:
    """A complete text of the search, and the share of tests that its program passes. `depth` is that of its node."""

    text: str
    reward: float
    cut: bool
    depth: int


@dataclass(slots=True)
class _Edge:
    token: str
    probability: float
    visits: int = 0
    best: float = 0.0
    node: _Node | None = None


@dataclass(slots=True)
class _Node:
    """A prefix, `depth` tokens long, and the whole `text` that completes it."""

    begin: str
    depth: int
    text: str
    cut: bool
    edges: list[_Edge] = field(default_factory=list)
    visits: int = 1


GoOn = Callable[[str, int], Awaitable[Continuation]]
Reward = Callable[[str], Awaitable[float]]


def is_end(token: str) -> bool:
    """Return whether a token ends the answer: one without text, or with a special token's name."""
    return not token or _SPECIAL.fullmatch(token) is not None


async def search(go_on: GoOn, reward: Reward, settings: Settings) -> list[Rollout]:
    """Return the rollouts in order; the first with the largest reward is the answer.

    `go_on(begin, room)` completes a prefix greedily with at most `room` tokens, `reward(text)` runs its program
    (0 to 1). The search ends early at a reward of 1, which no further rollout can beat, and if the model leaves
    no choice.
    """
    tree = _Tree(go_on, settings)
    root = await tree.node("", 0)
    known: dict[str, float] = {}
    rollouts: list[Rollout] = []
    while len(rollouts) < settings.rollouts:
        path, node = await tree.descend(root)
        if node.text not in known:
            known[node.text] = await reward(node.text)
        rollouts.append(Rollout(node.text, known[node.text], node.cut, node.depth))
        node.visits += 1
        for parent, edge in path:
            parent.visits += 1
            edge.visits += 1
            edge.best = max(edge.best, known[node.text])
        if known[node.text] >= 1.0 or not path:
            break
    return rollouts


class _Tree:
    def __init__(self, go_on: GoOn, settings: Settings) -> None:
        self._go_on = go_on
        self._settings = settings
        self._known: dict[str, tuple[Continuation, int]] = {}

    async def descend(self, root: _Node) -> tuple[list[tuple[_Node, _Edge]], _Node]:
        """Follow the best edges to an unexplored one and make its node, or to a node without edges."""
        path: list[tuple[_Node, _Edge]] = []
        node = root
        while node.edges:
            edge = self._promising(node)
            path.append((node, edge))
            if edge.node is None:
                edge.node = await self._child(node, edge.token)
                return path, edge.node
            node = edge.node
        return path, node

    async def node(self, begin: str, depth: int) -> _Node:
        """Complete a prefix, unless its completion is known, and get the alternatives for the next token."""
        settings = self._settings
        if begin not in self._known:
            if depth >= settings.max_tokens:
                return _Node(begin, depth, begin, cut=True)
            self._learn(begin, await self._go_on(begin, settings.max_tokens - depth))
        found, at = self._known[begin]
        likely = found.alternatives[at] if at < len(found.alternatives) and depth < settings.max_tokens else ()
        edges = [_Edge(token, math.exp(value)) for token, value in likely[: settings.top_k] if "\ufffd" not in token]
        return _Node(begin, depth, begin + "".join(found.tokens[at:]), found.cut, edges)

    async def _child(self, parent: _Node, token: str) -> _Node:
        if is_end(token):
            return _Node(parent.begin, parent.depth + 1, parent.begin, cut=False)
        return await self.node(parent.begin + token, parent.depth + 1)

    def _learn(self, begin: str, found: Continuation) -> None:
        for place in range(len(found.tokens) + 1):
            self._known.setdefault(begin + "".join(found.tokens[:place]), (found, place))

    def _promising(self, node: _Node) -> _Edge:
        """Return the edge with the largest P-UCB; on a tie that of the most probable token."""
        settings = self._settings
        beta = math.log((node.visits + settings.c_base + 1) / settings.c_base) + settings.c
        weight = beta * math.sqrt(math.log(node.visits))
        return max(node.edges, key=lambda edge: edge.best + weight * edge.probability / (1 + edge.visits))
