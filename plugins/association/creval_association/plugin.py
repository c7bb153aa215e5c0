"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugins import hookimpl

if TYPE_CHECKING:
    from creval.plugins.registry import Registry

__all__ = ["creval_components", "creval_tasks"]

_POSITIVE = {"type": "integer", "minimum": 1}
_GATE: Mapping[str, Any] = {
    "utility": {"enum": ["max", "min", "mean"]},
    "quantile": {"type": "number", "minimum": 0, "maximum": 1},
    "pool": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2},
}


def _object(**properties: Any) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register parsers, scorers, baselines, generators and word lists."""
    _data(registry)
    _scorers(registry)
    _players(registry)


def _data(registry: Registry) -> None:
    registry.add(
        "parser",
        "word_list",
        "creval_association.word_list:WordList",
        "the list of words in an answer: JSON, numbered, comma-separated or plain lines",
        parameters=_object(minimum=_POSITIVE),
    )
    registry.add(
        "generator",
        "drat_anchors",
        "creval_association.banks:DratAnchors",
        "the anchor sets of DRAT",
        parameters=_object(
            bank={"enum": ["scientific", "conceptnet"]}, k={"type": "integer", "minimum": 2, "maximum": 4}
        ),
    )
    registry.add(
        "wordlist",
        "nouns",
        "creval_association.nouns:open_nouns",
        "common English nouns: nouns/oewn, nouns/wordnet, nouns/auto",
    )


def _scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "drat",
        "creval_association.scorers.drat:Drat",
        "distance among the words that are relevant to the anchors (Eqs. 6 to 9)",
        parameters=_object(
            **_GATE, min_survivors={"type": "integer", "minimum": 2}, words={"type": "integer", "minimum": 2}
        ),
        produces=("drat", "survivors", "gate_passed"),
        uses=("embedding",),
    )


def _players(registry: Registry) -> None:
    registry.add(
        "baseline",
        "random_nouns",
        "creval_association.players.random_nouns:RandomNouns",
        "random nouns of the task's word list",
        parameters=_object(words=_POSITIVE),
        uses=("wordlist",),
    )
    registry.add(
        "baseline",
        "greedy_nouns",
        "creval_association.players.greedy_nouns:GreedyNouns",
        "distant nouns by a greedy search, within DRAT's gate where asked",
        parameters=_object(**_GATE, words=_POSITIVE, gate={"enum": ["anchors", "cue"]}, candidates=_POSITIVE),
        uses=("embedding", "wordlist"),
    )
