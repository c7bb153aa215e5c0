"""Embeddings, entailment models and word lists of the core."""

from __future__ import annotations

from creval.plugins.registry import Registry

__all__ = ["register"]


def register(registry: Registry) -> None:
    """Add them to the registry."""
    registry.add(
        "embedding",
        "sentence-transformers",
        "creval.resources.sentence_encoder:open_sentence_encoder",
        "any model of the sentence-transformers library, by hub name or folder",
    )
    for name, summary in (
        ("glove", "GloVe word vectors, added once with `creval association vectors add glove-... FILE`"),
        ("fasttext", "fastText word vectors, added once with `creval association vectors add fasttext-... FILE`"),
        ("vectors", "any word vectors, added once with `creval association vectors add NAME FILE`"),
    ):
        registry.add("embedding", name, f"creval.resources.word_vectors:open_{name}", summary)
    registry.add(
        "entailment",
        "transformers",
        "creval.resources.entailment.classifier:TransformersEntailment",
        "a natural-language-inference model of the transformers library, by hub name or folder",
    )
    registry.add(
        "entailment",
        "exact",
        "creval.resources.entailment.exact:ExactEntailment",
        "without a model: equal texts entail each other, others are neutral",
    )
    registry.add(
        "entailment",
        "role",
        "creval.resources.entailment.role:RoleEntailment",
        "a language model in a role: `role/judge` asks the judge",
    )
    registry.add("wordlist", "file", "creval.resources.wordlists:open_word_file", "a text file, one word a line")
