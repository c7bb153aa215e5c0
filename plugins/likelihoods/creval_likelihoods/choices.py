"""Protocol `choices`: the log-likelihoods of given texts after the prompt, or of a whole text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import LoglikelihoodRequest, ScoringError, Session, Turn, UsageError, counted
from creval.plugin.likelihoods import Output

__all__ = ["AnyChoice", "Choices"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROLLING = "loglikelihood_rolling"


@dataclass(frozen=True, slots=True)
class Choices:
    """Asks for the log-likelihood of each choice after the prompt and `delimiter`, or of the whole prompt.

    `choices` is a field of the doc, or the choices themselves: texts, or `{label, text}`. The field contains a list of
    the same, or two lists `{label: [...], text: [...]}`. `labels` is the field with their labels, or the labels;
    otherwise they are the field `letters` (made by `dataset: choices`), or A, B, C; the labels of a list of texts in
    the task file are the texts. The sample's answer is the label of the likeliest choice, its outcome has the numbers.
    `context_length` and `prefix`: see LoglikelihoodCall.
    """

    choices: str | Sequence[Any] = "choices"
    labels: str | Sequence[str] | None = None
    delimiter: str = " "
    output: Output = "loglikelihood"
    context_length: int | None = None
    prefix: str | None = None

    async def run(self, session: Session) -> None:
        """Ask for all texts of the doc in one call."""
        messages = session.prompt()
        text = messages[0].content if len(messages) == 1 else None
        if not isinstance(text, str):
            raise UsageError(
                f"the protocol choices takes a prompt of one message of text, and there are {len(messages)}, or parts",
                where=session.context.task,
                fix="Write context and examples into one message (few_shot: {as: text}).",
            )
        settings = {"context_length": self.context_length, "prefix": self.prefix}
        if self.output == _ROLLING:
            whole = [LoglikelihoodRequest("", text)]
            (found,) = await session.loglikelihood(whole, self.output, **settings)
            session.report(logprob=found.logprob, tokens=found.tokens, **_sizes(text))
            return
        pairs = self._pairs(session.doc.fields, session.doc.id)
        requests = [LoglikelihoodRequest(text, f"{self.delimiter}{choice}", label) for label, choice in pairs]
        likelihoods = await session.loglikelihood(requests, self.output, **settings)
        session.report(
            choices=[
                {"label": label, "logprob": each.logprob, "tokens": each.tokens, "greedy": each.is_greedy}
                | {name: size for name, size in _sizes(choice).items() if name != "words"}
                for (label, choice), each in zip(pairs, likelihoods, strict=True)
            ]
        )
        best = max(range(len(pairs)), key=lambda place: likelihoods[place].logprob)  # the first of equals
        session.answer(pairs[best][0])

    def _pairs(self, fields: Mapping[str, Any], doc: str) -> list[tuple[str, str]]:
        """Return label and text of each choice. Raises ScoringError if the doc has none."""
        given: Any = self.choices
        if isinstance(given, str):
            if given not in fields:
                raise ScoringError(f"the doc has no field {given!r}; it has {', '.join(fields)}", where=doc)
            given = fields[given]
        if isinstance(given, Mapping) and isinstance(given.get("text"), list):
            texts, own = given["text"], given.get("label")
        elif isinstance(given, list | tuple) and given and all(isinstance(each, Mapping) for each in given):
            texts, own = [each.get("text") for each in given], [each.get("label") for each in given]
        else:
            texts, own = given, None if isinstance(self.choices, str) else given
        if not isinstance(texts, list | tuple) or not texts or any(each is None for each in texts):
            raise ScoringError(f"{self.choices!r} contains no list of choices", where=doc)
        labels = fields.get(self.labels) if isinstance(self.labels, str) else self.labels
        labels = labels or own or fields.get("letters") or _LETTERS[: len(texts)]
        if not isinstance(labels, list | tuple | str) or len(labels) != len(texts):
            raise ScoringError(f"the doc has {counted(len(texts), 'choices')}, but not as many labels", where=doc)
        return [(str(label), str(text)) for label, text in zip(labels, texts, strict=True)]


def _sizes(text: str) -> dict[str, int]:
    """Return the lengths of a text; words are separated by white space, as in lm-eval."""
    import re

    return {
        "characters": len(text),
        "bytes": len(text.encode("utf-8", "surrogatepass")),
        "words": len(re.split(r"\s+", text)),
    }


@dataclass(frozen=True)
class AnyChoice:
    """Answers with the label of a random choice."""

    def reply(self, turn: Turn) -> str:
        """Return a label, or the place if there is none. Raises ScoringError outside of the protocol `choices`."""
        if not turn.requests:
            raise ScoringError("any_choice answers only requests for likelihoods", where=turn.key.doc)
        place = turn.random.randrange(len(turn.requests))
        return turn.requests[place].label or str(place)
