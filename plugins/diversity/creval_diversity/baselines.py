"""Baselines: the same answer in every repeat, and a different one in each."""

from __future__ import annotations

import json

from creval.plugin import Turn

__all__ = ["OtherAnswers", "SameAnswer"]

_SENTENCES = (
    "The ferry leaves the northern harbour before anybody in the village is awake.",
    "My grandmother kept her violin strings in a biscuit tin under the stairs.",
    "Basalt cools into columns with six sides if nothing disturbs it.",
    "Nobody at the tax office could explain the second signature.",
    "Swifts sleep in the air and land only to raise their young.",
    "Add the vinegar last, or the dumplings fall apart in the broth.",
    "The goalkeeper studied law at night and failed every exam but one.",
    "Light from that galaxy left before there were any oceans.",
    "Please return the blue ladder to the theatre by Thursday noon.",
    "A compiler that cannot fail quickly is worse than none at all.",
)


class SameAnswer:
    """Answers every repeat with one sentence: one class, similarity 1."""

    def reply(self, turn: Turn) -> str:
        """Return the sentence."""
        return _answer_text(_SENTENCES[0], turn)


class OtherAnswers:
    """Answers each of ten repeats with an unrelated sentence, then with numbered ones: as many classes as repeats."""

    def reply(self, turn: Turn) -> str:
        """Return the sentence of this repeat."""
        again, place = divmod(turn.key.repeat, len(_SENTENCES))
        return _answer_text(_SENTENCES[place] + (f" Once more, part {again + 1}." if again else ""), turn)


def _answer_text(sentence: str, turn: Turn) -> str:
    """Return a sentence in the form that the condition requires."""
    if not turn.condition.settings.get("verbalised", False):
        return sentence
    return json.dumps([{"answer": sentence, "probability": 1.0}])
