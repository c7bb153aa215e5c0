"""Baselines of every task of lm-eval: what it calls right, and chance."""

from __future__ import annotations

from creval.plugin import Turn

__all__ = ["AnyText", "Target"]


class Target:
    """Says the target: the text, or the place of the right choice."""

    def reply(self, turn: Turn) -> str:
        """Return it."""
        target = str(turn.doc.get("target", ""))
        labels = [request.label for request in turn.requests]
        if labels and target not in labels:  # one text alone is asked for, or the choices are not numbered
            return labels[0]
        return target


class AnyText:
    """Says one of the texts whose likelihoods are asked for, at random; where a text is to be written, nothing."""

    def reply(self, turn: Turn) -> str:
        """Return its label, or a full stop."""
        if not turn.requests:
            return "."
        request = turn.requests[turn.random.randrange(len(turn.requests))]
        return request.label
