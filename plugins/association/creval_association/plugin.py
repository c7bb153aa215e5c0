"""Registers the components of this plugin without importing anything heavy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_commands", "creval_components", "creval_tasks"]

_VARIANT = params.one_of("paper", "released")
_GATE: Mapping[str, Any] = {
    "utility": params.one_of("max", "min", "mean"),
    "quantile": params.number(0, 1),
    "pool": params.list_of(params.text(1), minimum=2),
}
_LISTS, _BOTH = ("wordlist",), ("embedding", "wordlist")


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_commands() -> Mapping[str, str]:
    """Return the commands under `creval association`."""
    return {"vectors": "creval_association.cli.vectors:vectors"}


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register parsers, scorers, baselines, generators and word lists."""
    _parsers(registry)
    _data(registry)
    _list_scorers(registry)
    _scorers(registry)
    _list_baselines(registry)
    _baselines(registry)
    registry.add(
        "analysis",
        "cdat-gate",
        "creval_association.cdat_gate_command:CdatGate",
        "Models whose answers to CDAT are more appropriate than random nouns, and their CDAT score.",
    )
    registry.add(
        "analysis",
        "dat-distributions",
        "creval_association.dat_distributions:DatDistributions",
        "DAT scores of people, models and the greedy algorithm (Figure 11).",
    )


def _parsers(registry: Registry) -> None:
    registry.add(
        "parser",
        "word_list",
        "creval_association.word_list:WordList",
        "the list of words in an answer: JSON, numbered, comma-separated or plain lines",
        parameters=params.schema(minimum=params.integer(1), key=params.text(1), field=params.text(1)),
    )
    registry.add(
        "parser",
        "uses_list",
        "creval_association.uses_list:UsesList",
        "short phrases separated by semicolons, or a list in another form",
        parameters=params.schema(key=params.text(1), field=params.text(1)),
    )
    registry.add("parser", "pace_chain", "creval_association.chains:PaceChain", "the words of one association chain")


def _data(registry: Registry) -> None:
    registry.add(
        "generator",
        "drat_anchors",
        "creval_association.banks:DratAnchors",
        "the anchor sets of DRAT",
        parameters=params.schema(bank=params.one_of("scientific", "conceptnet"), k=params.integer(2, 4)),
    )
    registry.add(
        "protocol",
        "pace",
        "creval_association.chains:PaceProtocol",
        "first associations of a seed, then a chain from each",
        parameters=params.schema(chains=params.integer(1)),
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


def _list_scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "dat",
        "creval_association.scorers.dat:Dat",
        "mean pairwise distance of the first valid words (Eq. 1)",
        parameters=params.schema(words=params.integer(2), variant=_VARIANT),
        produces=("dat", "valid_words"),
        ranges={"dat": (0, 200), "valid_words": (0, None)},
        uses=("embedding", "wordlist_dictionary"),
    )
    registry.add(
        "scorer",
        "dat_dictionary",
        "creval_association.scorers.dat:DatDictionary",
        "the same with words validated by a dictionary",
        parameters=params.schema(words=params.integer(2), variant=_VARIANT),
        produces=("dat", "valid_words"),
        ranges={"dat": (0, 200), "valid_words": (0, None)},
        uses=("embedding", "wordlist_dictionary"),
    )
    registry.add(
        "scorer",
        "cdat",
        "creval_association.scorers.cdat:Cdat",
        "novelty and appropriateness of words for a cue (Eqs. 2 and 3)",
        parameters=params.schema(
            words=params.integer(2),
            appropriateness_scale=params.one_of("plain", "shifted"),
            gate_words=params.one_of("first", "all"),
        ),
        produces=("cdat_n", "cdat_a"),
        ranges=_cdat_ranges,
        uses=("embedding",),
    )


def _cdat_ranges(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    shifted = parameters.get("appropriateness_scale") == "shifted"
    return {"cdat_n": (0, 200), "cdat_a": (0, 200) if shifted else (-100, 100)}


def _drat_ranges(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"drat": (0, 200), "survivors": (0, parameters.get("words", 10)), "gate_passed": "0/1"}


def _pace_ranges(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    shares = {"pace": (0, 2), "type_token_ratio": (0, 1)}
    counts = {"chains": (1, None), "chain_words": (1, parameters.get("length", 20)), "out_of_vocabulary": (0, None)}
    return {**shares, **counts}


def _scorers(registry: Registry) -> None:
    registry.add(
        "scorer",
        "drat",
        "creval_association.scorers.drat:Drat",
        "distance among the words that are relevant to the anchors (Eqs. 6 to 9)",
        parameters=params.schema(**_GATE, min_survivors=params.integer(2), words=params.integer(2)),
        produces=("drat", "survivors", "gate_passed"),
        ranges=_drat_ranges,
        uses=("embedding",),
    )
    registry.add(
        "scorer",
        "pace",
        "creval_association.scorers.pace:Pace",
        "distance of each word of a chain to all before it (Eq. 4)",
        parameters=params.schema(
            length=params.integer(2),
            minimum=params.integer(2),
            variant=_VARIANT,
            out_of_vocabulary=params.one_of("drop", "mean_vector", "drop_chain"),
        ),
        produces=("pace", "chains", "chain_words", "type_token_ratio", "out_of_vocabulary"),
        ranges=_pace_ranges,
        uses=("embedding",),
    )
    registry.add(
        "scorer",
        "rat",
        "creval_association.scorers.rat:Rat",
        "whether the first word of the answer is the solution",
        produces=("rat", "rat_lenient"),
        ranges={"rat": "0/1", "rat_lenient": "0/1"},
    )
    registry.add(
        "scorer",
        "aut",
        "creval_association.scorers.aut:Aut",
        "mean distance of uses to the object",
        parameters=params.schema(uses=params.integer(1)),
        produces=("aut_originality", "fluency"),
        ranges={"aut_originality": (0, 2), "fluency": (1, None)},
        uses=("embedding",),
    )


def _list_baselines(registry: Registry) -> None:
    registry.add(
        "baseline",
        "random_nouns",
        "creval_association.baselines.random_nouns:RandomNouns",
        "random nouns of the task's word list",
        parameters=params.schema(words=params.integer(1)),
        uses=_LISTS,
    )
    registry.add(
        "baseline",
        "greedy_nouns",
        "creval_association.baselines.greedy_nouns:GreedyNouns",
        "distant nouns by a greedy search, within DRAT's gate if requested",
        parameters=params.schema(
            **_GATE,
            words=params.integer(1),
            gate=params.one_of("anchors", "cue"),
            candidates=params.integer(1),
        ),
        uses=_BOTH,
    )
    registry.add(
        "baseline",
        "random_chains",
        "creval_association.baselines.pace_chains:RandomChains",
        "random nouns in both stages of PACE",
        uses=_LISTS,
    )
    registry.add(
        "baseline",
        "greedy_chains",
        "creval_association.baselines.pace_chains:GreedyChains",
        "nouns far from all before them",
        parameters=params.schema(candidates=params.integer(1)),
        uses=_BOTH,
    )


def _baselines(registry: Registry) -> None:
    registry.add(
        "baseline",
        "random_noun",
        "creval_association.baselines.rat_answers:RandomNoun",
        "one random noun",
        uses=_LISTS,
    )
    registry.add("baseline", "solution", "creval_association.baselines.rat_answers:Solution", "the doc's solution")
    registry.add(
        "baseline",
        "random_uses",
        "creval_association.baselines.uses:RandomUses",
        "random nouns as uses",
        parameters=params.schema(uses=params.integer(1)),
        uses=_LISTS,
    )
    registry.add(
        "baseline",
        "farthest_uses",
        "creval_association.baselines.uses:FarthestUses",
        "the nouns farthest from the object",
        parameters=params.schema(uses=params.integer(1), candidates=params.integer(1)),
        uses=_BOTH,
    )
