"""Entailment by a sequence-classification model of the transformers library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from creval.plugin import MissingPartError, ResourceOptions, ScoringError, UsageError
from creval_encoders.local_models import find_model, is_local_only, library_absent, not_loaded

__all__ = ["TransformersEntailment", "label_order"]

_CLASSES = ("entail", "neutral", "contradict")
_NEGATED = re.compile(r"(?:not|non)(?![a-z])")
_NO_LIMIT = 1_000_000  # a tokenizer without a limit states a larger number


def label_order(labels: Mapping[int, str], model: str) -> list[int]:
    """Return the positions of (entailment, neutral, contradiction) among a model's labels.

    Models name and order their labels differently, so labels are found by name. For a model with two
    classes (`entailment`, `not_entailment`) it returns two positions, entailment first. Raises UsageError if a
    class has no label or two.
    """
    if len(labels) == 2:
        negated = {_NEGATED.match(label.lower()) is not None: int(i) for i, label in labels.items()}
        if len(negated) == 2 and all(_CLASSES[0] in label.lower() for label in labels.values()):
            return [negated[False], negated[True]]
    order = []
    for stem in _CLASSES:
        hits = [int(i) for i, label in labels.items() if stem in label.lower() and not _NEGATED.match(label.lower())]
        if len(hits) != 1:
            raise UsageError(
                f"labels {sorted(labels.values())} do not name entailment, neutral and contradiction",
                where=f"entailment model {model}",
                fix="Use a natural-language-inference model of these classes, or of entailment and not_entailment.",
            )
        order.append(hits[0])
    return order


def _reads(tokenizer: Any, config: Any) -> int | None:
    """Return the maximum of tokens that a model reads, None if neither tokenizer nor positions limit it."""
    stated = int(getattr(tokenizer, "model_max_length", 0) or 0)
    limits = [stated] if 0 < stated < _NO_LIMIT else []
    positions = getattr(config, "max_position_embeddings", None)
    if positions and not getattr(config, "relative_attention", False):
        limits.append(int(positions))
    return min(limits) if limits else None


class TransformersEntailment:
    """`transformers/<name or folder>`, e.g. `transformers/tasksource/deberta-base-long-nli` or `.../NAME@REVISION`.

    Weights are loaded at the first prediction. `name` contains the revision (hub) or checksum (folder), and says if
    the model has two classes: neutral then means "not entailed".
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        self._source = find_model(model, options)
        self._options = options
        self._tokenizer: Any = None
        self._network: Any = None
        self._order: list[int] = []
        self._limit: int | None = None

    @property
    def name(self) -> str:
        self._load()
        said = " (two classes)" if self.classes == 2 else ""
        return f"transformers/{self._source.title}@{self._source.revision_of(self._network.config)}{said}"

    @property
    def classes(self) -> int:
        """Return how many classes the model distinguishes: 3, or 2 (entailment or not)."""
        self._load()
        return len(self._order)

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities (entailment, neutral, contradiction) of each (premise, hypothesis); shape (n, 3).

        Raises ScoringError if a pair is longer than the model reads.
        """
        self._load()
        import torch

        probabilities = np.zeros((len(pairs), 3))
        lengths = self._lengths(pairs)
        order = sorted(range(len(pairs)), key=lengths.__getitem__)  # similar lengths together: little padding
        size = max(1, self._options.batch_size)
        for start in range(0, len(order), size):
            places = order[start : start + size]
            inputs = self._tokenizer(
                [pairs[place][0] for place in places],
                [pairs[place][1] for place in places],
                return_tensors="pt",
                padding=True,
            ).to(self._network.device)
            with torch.inference_mode():
                logits = self._network(**inputs).logits.double()
            shares = torch.softmax(logits[:, self._order], dim=1).cpu().numpy()
            probabilities[places, : len(self._order)] = shares
        return probabilities

    def _lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """Return how many tokens each pair has. Raises ScoringError for one longer than the model reads."""
        if not pairs:
            return []
        encoded = self._tokenizer([premise for premise, _ in pairs], [hypothesis for _, hypothesis in pairs])
        lengths = [len(tokens) for tokens in encoded["input_ids"]]
        longest = max(range(len(pairs)), key=lengths.__getitem__)
        if self._limit is not None and lengths[longest] > self._limit:
            raise ScoringError(
                f"a pair has {lengths[longest]:,} tokens, and the model reads {self._limit:,}: "
                f"{pairs[longest][0][:60]!r} / {pairs[longest][1][:60]!r}",
                where=f"entailment model {self._source.title}",
                fix="Use a model with a longer context, or shorter texts: nothing is cut silently.",
            )
        return lengths

    def _load(self) -> None:
        if self._network is not None:
            return
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError as error:
            raise library_absent(self._source.title, "transformers torch", error) from error
        local_only = is_local_only(self._source, self._options)
        arguments = {
            "local_files_only": local_only,
            "revision": self._source.revision or "main",
            "trust_remote_code": self._options.trust_remote_code,
        }
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(self._source.place, **arguments)
            network = AutoModelForSequenceClassification.from_pretrained(self._source.place, **arguments)
        except (OSError, ValueError) as error:
            raise not_loaded("entailment model", self._source, self._options, error) from error
        self._order = label_order(network.config.id2label, self._source.title)
        self._limit = _reads(self._tokenizer, network.config)
        try:
            self._network = network.to(self._options.device or "cpu").eval()
        except (RuntimeError, torch.cuda.CudaError) as error:
            raise MissingPartError(
                f"the device {self._options.device!r} cannot be used: {str(error).splitlines()[0]}",
                where=f"entailment model {self._source.title}",
                fix="Name another device, or none for the processor.",
            ) from error
