"""Registers scorers of texts and an analysis, without importing anything heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]

_HOME = "creval_text.text_scores"


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register scorers and an analysis."""
    _register_rules(registry)
    registry.add(
        "analysis",
        "corpus-scores",
        "creval_text.corpus_scores:CorpusScores",
        "BLEU and chrF of all answers of runs together.",
    )
    normalize = params.one_of("squad", "none", about="what is done to both texts before they are compared")
    _add(
        registry,
        "token_f1",
        "TokenF1",
        "F1 of the words that the answer shares with a text, as of SQuAD",
        {"token_f1": (0, 1), "token_precision": (0, 1), "token_recall": (0, 1)},
        normalize=normalize,
    )
    _add(
        registry,
        "rouge",
        "Rouge",
        "ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum, by rouge-score",
        dict.fromkeys(("rouge1", "rouge2", "rougeL", "rougeLsum"), (0, 1)),
        stemmer=params.flag(about="whether stems of English words are compared"),
        words=params.one_of("ascii", "unicode", about="what a word is: a-z and 0-9, or letters of any script"),
    )
    _add(
        registry,
        "bleu",
        "Bleu",
        "sentence BLEU, by sacrebleu",
        {"bleu": (0, 100)},
        tokenize=params.one_of("13a", "intl", "zh", "char", "none", about="sacrebleu's tokenizer"),
        smooth=params.one_of("exp", "floor", "add-k", "none", about="sacrebleu's smoothing"),
        lowercase=params.flag(),
    )
    _add(
        registry,
        "chrf",
        "Chrf",
        "chrF of a sentence, by sacrebleu; with word_order: 2 chrF++",
        {"chrf": (0, 100)},
        word_order=params.integer(0, 4, about="the longest sequence of words that counts"),
        beta=params.integer(1, 10, about="the weight of recall"),
        lowercase=params.flag(),
    )
    _add(
        registry,
        "edit_distance",
        "EditDistance",
        "the edits between answer and text, and their similarity, by rapidfuzz",
        {"edit_distance": (0, None), "edit_similarity": (0, 1)},
        normalize=normalize,
        ignore_case=params.flag(),
    )


def _add(registry: Registry, name: str, attribute: str, summary: str, ranges: dict[str, Any], **own: Any) -> None:
    registry.add(
        "scorer",
        name,
        f"{_HOME}:{attribute}",
        summary,
        parameters=params.schema(
            field=params.text(1, about="the field with a text, or a list of texts of which the best counts (target)"),
            reduce=params.one_of("mean", "best", about="how several answers of a sample are combined"),
            **own,
        ),
        positional="field",
        produces=tuple(ranges),
        ranges=ranges,
        takes=("text",),
        reads_some=lambda parameters: parameters.get("reduce") == "best",
    )


def _register_rules(registry: Registry) -> None:
    share = {"rules": (0, 1), "rules_loose": (0, 1), "rules_each": (0, 1), "rules_each_loose": (0, 1)}
    registry.add(
        "scorer",
        "rules",
        "creval_text.rules_scorer:Rules",
        "whether the answer keeps rules of the task or the doc: length, words, case, JSON ...",
        parameters=params.schema(
            field=params.text(1, about="the field with a doc's own rules (rules)"),
            rules={"type": ["array", "object", "string"], "description": "rules for all docs"},
            instructions=params.text(1, about="the field with identifiers of IFEval's instructions"),
            arguments=params.text(1, about="the field with their arguments (kwargs)"),
        ),
        positional="field",
        produces=(*share, "rules_count"),
        ranges={**share, "rules_count": (0, None)},
        takes=("text",),
    )
