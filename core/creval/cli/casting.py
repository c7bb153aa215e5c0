"""Who plays which role where a person takes part."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AS_TARGET", "Casting"]

_TARGET = "target"


@dataclass(frozen=True, slots=True)
class Casting:
    """`role` is what people play, `model` who answers where that is another role than the target."""

    role: str = _TARGET
    model: str | None = None

    def of(self, player: str) -> tuple[str, dict[str, str]]:
        """Return the target's model and those of other roles. Raises UsageError where one of the two is missing."""
        from creval.errors import UsageError

        person = f"human/{player}"
        if self.role == _TARGET and self.model is None:
            return person, {}
        if self.role == _TARGET or self.model is None:
            raise UsageError(
                "who plays another role than the target needs answers to play on, and who plays the target gives them",
                where="--as, --model",
                cure="Name both: --as judge --model replay/RUN, or neither.",
            )
        return self.model, {self.role: person}


AS_TARGET = Casting()
"""People answer themselves."""
