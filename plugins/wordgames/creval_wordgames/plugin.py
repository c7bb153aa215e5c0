"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components", "creval_tasks"]


@hookimpl
def creval_tasks() -> Sequence[Path]:
    """Return the folders of task YAML."""
    return [Path(__file__).parent / "tasks"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register parsers, scorers and baselines."""
    _connections(registry)
    _clues(registry)
    _clue_baselines(registry)
    _words_apart(registry)


def _connections(registry: Registry) -> None:
    home = "creval_wordgames.connections"
    registry.add(
        "parser",
        "word_groups",
        "creval_wordgames.groups:WordGroups",
        "groups of words: JSON, a group a line, labelled lists, tables",
        parameters=params.schema(size=params.integer(2, about="words of a group (4)")),
        gives="list",
    )
    registry.add(
        "scorer",
        "connections",
        f"{home}:ConnectionsScore",
        "groups of a puzzle that the answer has, and whether it has all",
        produces=("groups_found", "solved"),
        ranges={"groups_found": (0, 4), "solved": "0/1"},
        takes=("list",),
    )
    registry.add("baseline", "random_groups", f"{home}:RandomGroups", "the words of a puzzle, dealt at random")
    registry.add("baseline", "right_groups", f"{home}:RightGroups", "the groups of a puzzle")


def _clues(registry: Registry) -> None:
    registry.add(
        "parser",
        "clue_and_number",
        "creval_wordgames.clue_forms:ClueAndNumber",
        "a clue and a number: JSON, labelled, or a line such as `ocean: 2`",
        gives="object",
    )
    registry.add(
        "parser",
        "guessed_words",
        "creval_wordgames.clue_forms:GuessedWords",
        "the words of each paragraph: between commas, on lines, in brackets",
        gives="list",
    )
    registry.add(
        "scorer",
        "clue_given",
        "creval_wordgames.clues:ClueGiven",
        "what a guesser by embedding finds with a clue",
        produces=("points", "reach"),
        ranges={"points": (0, None), "reach": (0, None)},
        uses=("embedding",),
        takes=("object",),
    )
    registry.add(
        "scorer",
        "clue_guesses",
        "creval_wordgames.clues:ClueGuesses",
        "how many of the words that are named to a clue are own ones",
        produces=("share", "all_right"),
        ranges={"share": (0, 1), "all_right": "0/1"},
        takes=("list",),
    )


def _clue_baselines(registry: Registry) -> None:
    home = "creval_wordgames.clues"
    registry.add("baseline", "random_clue", f"{home}:RandomClue", "a random legal clue for one word")
    registry.add("baseline", "best_clue", f"{home}:BestClue", "the clue with the greatest reach", uses=("embedding",))
    registry.add("baseline", "random_words", f"{home}:RandomWords", "words of the board at random")
    registry.add("baseline", "intended_words", f"{home}:IntendedWords", "the words that the clue is meant for")
    registry.add(
        "baseline", "nearest_words", f"{home}:NearestWords", "the words nearest to the clue", uses=("embedding",)
    )


def _words_apart(registry: Registry) -> None:
    home = "creval_wordgames.words_apart"
    registry.add(
        "scorer",
        "valid_words",
        f"{home}:ValidWords",
        "different single words that are not given ones",
        parameters=params.schema(words=params.integer(1, about="words that count (25)")),
        produces=("valid_words",),
        ranges=lambda parameters: {"valid_words": (0, parameters.get("words", 25))},
        takes=("list",),
    )
    registry.add("baseline", "given_words", f"{home}:GivenWords", "the given words, over and over")
    registry.add("baseline", "varied_words", f"{home}:VariedWords", "25 different words at random")
