"""Scores of log-likelihoods: the likeliest choice, the most probable first token, perplexity of texts."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import Context, Score, ScorerInput
from creval.plugin.completions import Clusters, Floats, Mean, as_clusters

__all__ = ["ChoiceMass", "FirstToken", "LikeliestChoice", "Perplexity", "PerplexityMean"]

_NORMS = {"acc": None, "acc_norm": "characters", "acc_norm_bytes": "bytes", "acc_norm_tokens": "tokens"}
_LARGEST = 700.0  # largest argument whose exp is a float


def _targets(item: ScorerInput, field: str) -> Sequence[Any]:
    target = item.doc[field]
    return target if isinstance(target, list) else [target]


def _field_fault(fields: Mapping[str, Any], name: str) -> str | None:
    return None if name in fields else f"it has no field {name!r}; it has {', '.join(fields)}"


def _places(targets: Sequence[Any], labels: Sequence[str]) -> set[int]:
    """Return the indices of the right choices: by label, or by index from 0."""
    by_label = {labels.index(str(each)) for each in targets if str(each) in labels}
    if by_label:
        return by_label
    return {each for each in targets if type(each) is int and 0 <= each < len(labels)}


@dataclass(frozen=True)
class _OfChoices:
    """Scores the log-likelihoods of choices by the indices of the right ones."""

    field: str = "target"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: it lacks the field."""
        return _field_fault(fields, self.field)

    def _score(self, item: ScorerInput) -> Score:
        choices = item.outcome.get("choices")
        if not choices:
            return Score({}, failure="there are no likelihoods of choices (protocol: choices)", errored=True)
        targets = _targets(item, self.field)
        right = _places(targets, [each["label"] for each in choices])
        if not right:
            return Score({}, failure=f"the target {str(targets)[:60]} is none of the choices", errored=True)
        return Score(self._scores(choices, right))

    def _scores(self, choices: Sequence[Mapping[str, Any]], right: Collection[int]) -> Mapping[str, float]:
        raise NotImplementedError


@dataclass(frozen=True)
class LikeliestChoice(_OfChoices):
    """1 if the choice with the highest log-likelihood is the doc's target (a label, or a place from 0).

    `acc` compares the sums; `acc_norm` the sums divided by the choice's length in characters, like lm-eval's acc_norm;
    `acc_norm_bytes` (lm-eval's acc_bytes) and `acc_norm_tokens` divide by its length in UTF-8 bytes and in the model's
    tokens. The first of equals counts. The delimiter counts toward tokens, but not toward characters and bytes.
    """

    def _scores(self, choices: Sequence[Mapping[str, Any]], right: Collection[int]) -> Mapping[str, float]:
        return {name: float(_likeliest(choices, by) in right) for name, by in _NORMS.items()}


@dataclass(frozen=True)
class ChoiceMass(_OfChoices):
    """The right choices' share of the probability of all: TruthfulQA's MC2, if several choices are right."""

    def _scores(self, choices: Sequence[Mapping[str, Any]], right: Collection[int]) -> Mapping[str, float]:
        highest = max(each["logprob"] for each in choices)  # avoids underflow for long choices
        worth = [math.exp(each["logprob"] - highest) for each in choices]
        return {"choice_mass": math.fsum(worth[place] for place in right) / math.fsum(worth)}


def _likeliest(choices: Sequence[Mapping[str, Any]], by: str | None) -> int:
    worth = [each["logprob"] / max(1, each[by]) if by else each["logprob"] for each in choices]
    return max(range(len(worth)), key=worth.__getitem__)


@dataclass(frozen=True)
class Perplexity:
    """Negative log-likelihood of a whole text per word and byte, in nats and bits, and the weights `words`, `bytes`.

    `field` is the doc field whose words and bytes are counted; the default is the scored text.
    """

    field: str | None = None

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: it lacks the field."""
        return None if self.field is None else _field_fault(fields, self.field)

    def _score(self, item: ScorerInput) -> Score:
        logprob = item.outcome.get("logprob")
        if logprob is None:
            return Score({}, failure="there is no likelihood of a text (output: loglikelihood_rolling)", errored=True)
        words, size = item.outcome["words"], item.outcome["bytes"]
        if self.field is not None:
            text = str(item.doc[self.field])
            words, size = len(re.split(r"\s+", text)), len(text.encode("utf-8", "surrogatepass"))
        if not size:
            return Score({}, failure="the text is empty", errored=True)
        nats = -float(logprob)
        by_byte = {"byte_nll": nats / size, "bits_per_byte": nats / size / math.log(2)}
        return Score({"word_nll": nats / words, **by_byte, "words": words, "bytes": size})


@dataclass(frozen=True)
class FirstToken:
    """1 if the most probable label, among the candidates for the first token, is the doc's target.

    Uses the log-probabilities of the answer's first token and its alternatives (`logprobs`, `top_logprobs`). Tokens
    equal to a label up to blanks around it count together; a label without a token has probability 0.
    `first_token_probability` is the target's share of the probability of all labels, `first_token_mass` that total. An
    answer without log-probabilities, such as a baseline's, counts as certain of its first word.
    """

    field: str = "target"
    labels: str = "letters"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: it lacks a field."""
        return _field_fault(fields, self.field) or _field_fault(fields, self.labels)

    def _score(self, item: ScorerInput) -> Score:
        labels = [str(label) for label in item.doc[self.labels]]
        right = _places(_targets(item, self.field), labels)
        if not right:
            return Score({}, failure=f"the target is none of the labels {', '.join(labels)}", errored=True)
        chances = dict.fromkeys(labels, 0.0)
        for token, logprob in _first_tokens(item).items():
            if token.strip() in chances:
                chances[token.strip()] += math.exp(logprob)
        mass = sum(chances.values())
        if not mass:
            return Score({}, failure=f"none of {', '.join(labels)} is among the most probable first tokens")
        best = max(range(len(labels)), key=lambda place: chances[labels[place]])
        share = sum(chances[labels[place]] for place in right) / mass
        scores = {"first_token": float(best in right), "first_token_probability": share}
        return Score(scores | {"first_token_mass": min(1.0, mass)})


def _first_tokens(item: ScorerInput) -> Mapping[str, float]:
    """Return the first token of the last answer of the target and its alternatives, with their log-probabilities."""
    replies = [call.reply for call in item.calls if call.role == "target"]
    completion = next((reply.completions[0] for reply in reversed(replies) if reply is not None), None)
    if completion is None:
        return {}
    if completion.logprobs is None:
        return dict.fromkeys(completion.text.split()[:1], 0.0)
    return {name: at for token in completion.logprobs[:1] for name, at in [(token.token, token.logprob), *token.top]}


@dataclass(frozen=True)
class PerplexityMean:
    """exp of the mean: for `word_nll` weighted by `words`, the perplexity per word over all texts, as in lm-eval.

    The standard error is that of the mean times the perplexity (delta method).
    """

    def value(self, clusters: Sequence[Floats]) -> float | None:
        """Return the perplexity, None if it is undefined or too large for a float."""
        mean = Mean().value(as_clusters(clusters))
        return None if mean is None or mean > _LARGEST else math.exp(mean)

    def standard_error(self, clusters: Sequence[Floats]) -> float | None:
        """Return the standard error, None below two docs."""
        value, error = self.value(clusters), Mean().standard_error(clusters)
        return None if value is None or error is None else value * error

    def degrees_of_freedom(self, clusters: Clusters) -> float:
        """Return the degrees of freedom of the standard error."""
        return Mean().degrees_of_freedom(clusters)
