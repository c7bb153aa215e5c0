"""The screen of a game for human players: the book, the observations, the actions and truths to choose from.

Source: paper 002, "Design of the human experiment": the knowledge book on one side, on the other a menu of actions and
the observation that each gave; the same games as for models.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from creval.plugin import ScoreRecord
from creval.plugin.models import GenerateRequest
from creval.plugin.screens import OptionGroup, PastStep, ScreenOption, View
from creval_kumo.games.instance import Instance
from creval_kumo.play.earnings import earnings
from creval_kumo.play.observation_format import shown_observation
from creval_kumo.task.baselines import taken_so_far

__all__ = ["GameScreen"]


class GameScreen:
    """The `Screen` of protocol `kumo.game`."""

    def view(self, request: GenerateRequest) -> View:
        """Return what the player may know: never the valid truth or observations not yet made."""
        doc, key = request.origin.doc, request.origin.key
        instance = Instance.from_doc(doc)
        taken = taken_so_far(request.messages)
        truth, action = doc["truth_noun"], doc["action_noun"]
        return View(
            sample="\x1f".join((key.task, key.doc, key.condition, str(key.repeat))),
            title=doc["title"],
            goal=_goal(doc),
            reading=doc["book"],
            reading_title="Guidebook",
            markdown=True,
            guide=_guide(doc),
            past_title=_capital(f"{action['plural']} taken so far: {len(taken)}"),
            past=tuple(_past(instance, taken)),
            groups=(
                OptionGroup(
                    f"Take one of the {action['plural']}",
                    tuple(ScreenOption(name, "taken" if name in taken else "") for name in instance.action_names),
                ),
                OptionGroup(
                    f"Or name the {truth['singular']} (this ends the game)",
                    tuple(ScreenOption(name) for name in instance.truths),
                    final=True,
                ),
            ),
        )

    def answer(self, value: str) -> str:
        """Return the answer that a model would give."""
        return f"<ANSWER> {value} </ANSWER>"

    def closing(self, scores: Mapping[str, Sequence[ScoreRecord]]) -> list[str]:
        """Return the results of the games, and the earnings by the paper's formula over all of them as one task set.

        If results were not certain, the share of games that named the most probable truth replaces the earnings.
        """
        every = list(itertools.chain.from_iterable(scores.values()))
        found = earnings(every)
        if found.success_rate is None or found.total is None:
            return []
        games = "game" if found.games == 1 else "games"
        right = f"You were right in {found.successes} of {found.games} {games} and took {found.actions:g} actions."
        sound = [score.scores["most_probable_rate"] for score in every if "most_probable_rate" in score.scores]
        if sound:
            named = "You named the most probable truth, or one of them, given what you had seen"
            return [right, f"{named}: in {sum(sound):g} of {len(sound)}."]
        return [
            right,
            f"Earnings by the formula of the paper's study: 25 + {found.success_rate:.2f} x 15 "
            f"- {found.actions:g} x 0.1 = {found.total:.2f}",
        ]


def _past(instance: Instance, taken: Sequence[str]) -> list[PastStep]:
    by_name = {action.name: action for action in instance.actions}
    return [
        PastStep(name, shown_observation(by_name[name], instance.observations[name]))
        for name in taken
        if name in by_name
    ]


def _goal(doc: Mapping[str, Any]) -> str:
    count = len(doc["valid_truths"])
    right = "Be right" if doc.get("reliability", 1) == 1 else "Be right above all"
    truth, action = doc["truth_noun"], doc["action_noun"]
    valid = "Exactly one" if count == 1 else f"Exactly {count}"
    end = "name it" if count == 1 else "name one of them"
    return (
        f"Your goal: {doc['goal']}. {valid} of the {len(doc['truths'])} {truth['plural']} below "
        f"{'is' if count == 1 else 'are'} valid. {right}, and take as few {action['plural']} as you can; then {end}."
    )


def _guide(doc: Mapping[str, Any]) -> str:
    truth, action = doc["truth_noun"], doc["action_noun"]
    if doc.get("reliability", 1) != 1:
        return (
            f"Choose one of the {action['plural']}: you are shown its result. Look up in the guidebook which "
            f"{truth['plural']} this result speaks against; it excludes none, and the guidebook says how results come "
            f"about. Go on until a further result is not worth it, and name the {truth['singular']} that is most "
            f"probable: this ends the game. Each {action['singular']} counts, also one that is taken again."
        )
    return (
        f"Choose one of the {action['plural']}: you are shown its result. Look up in the guidebook which "
        f"{truth['plural']} this result rules out; a result never proves one. Go on until you know which "
        f"{truth['singular']} is valid, and name it: this ends the game. "
        f"Each {action['singular']} counts, also one that is taken again."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
