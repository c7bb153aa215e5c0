"""Baselines of every task of lm-eval: the task's target, and chance."""

from __future__ import annotations

from creval.plugin import Turn

__all__ = ["AnyText", "Target"]


class Target:
    """Answers with the target: the text, or the index of the right choice."""

    def reply(self, turn: Turn) -> str:
        """Return the target."""
        target = str(turn.doc.get("target", ""))
        labels = [request.label for request in turn.requests]
        if labels and target not in labels:  # only one text is requested, or the choices are not numbered
            return labels[0]
        return target


class AnyText:
    """Answers with one of the texts whose likelihoods are requested, at random; with nothing if a text is generated."""

    def reply(self, turn: Turn) -> str:
        """Return its label, or a full stop."""
        if not turn.requests:
            return "."
        request = turn.requests[turn.random.randrange(len(turn.requests))]
        return request.label
