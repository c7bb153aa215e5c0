"""Entailment by a sequence-classification model of the transformers library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from creval.errors import MissingPartError, UsageError
from creval.resources.local_models import find_model, library_absent, model_absent
from creval.resources.options import ResourceOptions

__all__ = ["TransformersEntailment", "label_order"]

_CLASSES = ("entail", "neutral", "contradict")


def label_order(labels: Mapping[int, str], model: str) -> list[int]:
    """Return the positions of (entailment, neutral, contradiction) among a model's labels.

    Models name and order their labels differently, so they are read by name. Raises UsageError where a
    class has no label or two.
    """
    order = []
    for stem in _CLASSES:
        hits = [int(i) for i, label in labels.items() if stem in label.lower() and not label.lower().startswith("not")]
        if len(hits) != 1:
            raise UsageError(
                f"labels {sorted(labels.values())} do not name entailment, neutral and contradiction",
                where=f"entailment model {model}",
                cure="Use a natural-language-inference model with three named classes.",
            )
        order.append(hits[0])
    return order


class TransformersEntailment:
    """`transformers/<name or folder>`, e.g. `transformers/tasksource/deberta-base-long-nli`.

    Weights are loaded at the first prediction. `name` carries the revision (hub) or checksum (folder).
    """

    def __init__(self, model: str, options: ResourceOptions) -> None:
        self._source = find_model(model, options)
        self._options = options
        self._tokenizer: Any = None
        self._network: Any = None
        self._order: list[int] = []

    @property
    def name(self) -> str:
        self._load()
        return f"transformers/{self._source.title}@{self._source.revision_of(self._network.config)}"

    def predict(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return probabilities (entailment, neutral, contradiction) of each (premise, hypothesis); shape (n, 3)."""
        self._load()
        import torch

        rows = []
        size = max(1, self._options.batch_size)
        for start in range(0, len(pairs), size):
            batch = pairs[start : start + size]
            inputs = self._tokenizer(
                [premise for premise, _ in batch],
                [hypothesis for _, hypothesis in batch],
                return_tensors="pt",
                padding=True,
                truncation=True,
            ).to(self._network.device)
            with torch.inference_mode():
                logits = self._network(**inputs).logits.double()
            rows.append(torch.softmax(logits[:, self._order], dim=1).cpu().numpy())
        return np.concatenate(rows) if rows else np.zeros((0, 3))

    def _load(self) -> None:
        if self._network is not None:
            return
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError as error:
            raise library_absent(self._source.title, "transformers torch", error) from error
        arguments = {"local_files_only": self._options.offline or self._source.local}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(self._source.place, **arguments)
            network = AutoModelForSequenceClassification.from_pretrained(self._source.place, **arguments)
        except (OSError, ValueError) as error:
            raise model_absent("entailment model", self._source, self._options, error) from error
        self._order = label_order(network.config.id2label, self._source.title)
        try:
            self._network = network.to(self._options.device or "cpu").eval()
        except (RuntimeError, torch.cuda.CudaError) as error:
            raise MissingPartError(
                f"the device {self._options.device!r} cannot be used: {str(error).splitlines()[0]}",
                where=f"entailment model {self._source.title}",
                cure="Name another device, or none for the processor.",
            ) from error
