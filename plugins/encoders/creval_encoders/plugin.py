"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register encoders, word vectors and an entailment model."""
    registry.add(
        "embedding",
        "sentence-transformers",
        "creval_encoders.sentence_encoder:open_sentence_encoder",
        "any model of the sentence-transformers library, by hub name or folder",
    )
    for name, summary in (
        ("glove", "GloVe word vectors, added once with `creval association vectors add glove-... FILE`"),
        ("fasttext", "fastText word vectors, added once with `creval association vectors add fasttext-... FILE`"),
        ("vectors", "any word vectors, added once with `creval association vectors add NAME FILE`"),
    ):
        registry.add("embedding", name, f"creval_encoders.word_vectors:open_{name}", summary)
    registry.add(
        "entailment",
        "transformers",
        "creval_encoders.entailment_classifier:TransformersEntailment",
        "a natural-language-inference model of the transformers library, by hub name or folder",
    )
    registry.add(
        "entailment",
        "exact",
        "creval_encoders.role_entailment:ExactEntailment",
        "without a model: equal texts entail each other, others are neutral",
    )
    registry.add(
        "entailment",
        "role",
        "creval_encoders.role_entailment:RoleEntailment",
        "a language model in a role: `role/judge` asks the judge",
    )
