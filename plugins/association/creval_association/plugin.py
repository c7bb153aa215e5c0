"""What this plugin registers. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]

_POSITIVE = {"type": "integer", "minimum": 1}
_VARIANT = {"enum": ["paper", "released"]}
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
def creval_commands() -> Mapping[str, str]:
    """Commands under `creval association`."""
    return {"vectors": "creval_association.cli.vectors:vectors"}


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register parsers, scorers, baselines, generators and word lists."""
    _data(registry)
    registry.add(
        "analysis",
        "cdat-gate",
        "creval_association.cdat_gate_command:CdatGate",
        "Which models' answers to CDAT are more appropriate than random nouns, and their CDAT score.",
    )
    _list_scorers(registry)
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
        "parser",
        "uses_list",
        "creval_association.uses_list:UsesList",
        "short phrases separated by semicolons, or a list in another form",
    )
    registry.add(
        "parser",
        "pace_chain",
        "creval_association.chains:PaceChain",
        "the words of one association chain",
    )
    registry.add(
        "protocol",
        "pace",
        "creval_association.chains:PaceProtocol",
        "first associations of a seed, then a chain from each",
        parameters=_object(chains=_POSITIVE),
        provides=("word", "reason"),
    )
    registry.add(
        "wordlist",
        "nouns",
        "creval_association.nouns:open_nouns",
        "common English nouns: nouns/oewn, nouns/wordnet, nouns/auto",
    )
    registry.add(
        "wordlist",
        "english",
        "creval_association.nouns:open_english",
        "English words with their inflected forms: english/scowl-60",
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
    registry.add(
        "scorer",
        "pace",
        "creval_association.scorers.pace:Pace",
        "distance of each word of a chain to all before it (Eq. 4)",
        parameters=_object(
            length={"type": "integer", "minimum": 2},
            minimum={"type": "integer", "minimum": 2},
            variant=_VARIANT,
            out_of_vocabulary={"enum": ["drop", "mean_vector", "drop_chain"]},
        ),
        produces=("pace", "chains", "chain_words", "type_token_ratio", "out_of_vocabulary"),
        uses=("embedding",),
    )
    registry.add(
        "scorer",
        "rat",
        "creval_association.scorers.rat:Rat",
        "whether the first word of the answer is the solution",
        produces=("rat", "rat_lenient"),
    )
    registry.add(
        "scorer",
        "aut",
        "creval_association.scorers.aut:Aut",
        "mean distance of uses to the object",
        parameters=_object(uses=_POSITIVE),
        produces=("aut_originality", "fluency"),
        uses=("embedding",),
    )


def _list_scorers(registry: Registry) -> None:
    for name, target, summary, uses in (
        ("dat", "Dat", "mean pairwise distance of the first valid words (Eq. 1)", ("embedding",)),
        (
            "dat_dictionary",
            "DatDictionary",
            "the same with words validated by a dictionary",
            ("embedding", "wordlist_dictionary"),
        ),
    ):
        registry.add(
            "scorer",
            name,
            f"creval_association.scorers.dat:{target}",
            summary,
            parameters=_object(words={"type": "integer", "minimum": 2}, variant=_VARIANT),
            produces=("dat", "valid_words"),
            uses=uses,
        )
    registry.add(
        "scorer",
        "cdat",
        "creval_association.scorers.cdat:Cdat",
        "novelty and appropriateness of words for a cue (Eqs. 2 and 3)",
        parameters=_object(
            words={"type": "integer", "minimum": 2}, appropriateness_scale={"enum": ["plain", "shifted"]}
        ),
        produces=("cdat_n", "cdat_a"),
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
    players = "creval_association.players"
    lists, both = ("wordlist",), ("embedding", "wordlist")
    for name, target, summary, parameters, uses in (
        ("random_chains", "pace_chains:RandomChains", "random nouns in both stages of PACE", {}, lists),
        (
            "greedy_chains",
            "pace_chains:GreedyChains",
            "nouns far from all before them",
            {"candidates": _POSITIVE},
            both,
        ),
        ("random_noun", "rat_answers:RandomNoun", "one random noun", {}, lists),
        ("solution", "rat_answers:Solution", "the doc's solution", {}, ()),
        ("random_uses", "uses:RandomUses", "random nouns as uses", {"uses": _POSITIVE}, lists),
        (
            "farthest_uses",
            "uses:FarthestUses",
            "the nouns farthest from the object",
            {"uses": _POSITIVE, "candidates": _POSITIVE},
            both,
        ),
    ):
        registry.add("baseline", name, f"{players}.{target}", summary, parameters=_object(**parameters), uses=uses)
