"""`creval analyse corpus-scores`: corpus BLEU and chrF over all answers of a run, as in papers on translation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from creval.plugin import (
    AnalysisOutput,
    FieldSpec,
    Run,
    Sample,
    ScoreRecord,
    ScoringError,
    Status,
    UsageError,
    open_runs,
)

__all__ = ["CorpusScores"]

_TOKENIZERS = ("13a", "intl", "zh", "char", "none")
_COLUMNS = ("model", "task", "answers", "of them failed", "BLEU", "chrF")


class _Pair(NamedTuple):
    """An answer and its reference texts."""

    answer: str
    texts: Sequence[str]


class CorpusScores:
    """Kind `analysis`: sacrebleu's corpus scores of runs, task by task, with the signatures of both metrics.

    The answer is the parsed value if it is a text, else the model's output. An answer that failed counts as an empty
    one; errored samples are left out. Of several answers of a sample the first counts; conditions and repeats are
    pooled.
    """

    def options(self) -> Sequence[FieldSpec]:
        """Return the options of `creval analyse corpus-scores`."""
        return (
            FieldSpec("field", "string", "target", "The field of the docs with a text, or a list of texts."),
            FieldSpec("tokenize", "string", "13a", f"sacrebleu's tokenizer: {', '.join(_TOKENIZERS)}."),
            FieldSpec("lowercase", "boolean", False, "Compare in lower case."),
            FieldSpec("word_order", "integer", 0, "Of chrF: the longest sequence of words (2: chrF++).", minimum=0),
        )

    def run(self, runs: Sequence[str], **options: Any) -> AnalysisOutput:
        """Score the runs. Raises UsageError for an unknown tokenizer, ScoringError if a doc has no text."""
        from sacrebleu.metrics import BLEU, CHRF

        if options["tokenize"] not in _TOKENIZERS:
            raise UsageError(
                f"there is no tokenizer {options['tokenize']!r}", fix=f"There are: {', '.join(_TOKENIZERS)}."
            )
        bleu = BLEU(tokenize=options["tokenize"], lowercase=options["lowercase"])
        chrf = CHRF(word_order=options["word_order"], lowercase=options["lowercase"])
        rows: list[Sequence[Any]] = []
        for run in open_runs(runs):
            for task in run.tasks:
                pairs, failed = _pairs(run, task, options["field"])
                if not pairs:
                    rows.append((run.model, task, 0, 0, None, None))
                    continue
                answers = [pair.answer for pair in pairs]
                streams = [list(stream) for stream in zip_longest(*(pair.texts for pair in pairs))]
                scores = bleu.corpus_score(answers, streams).score, chrf.corpus_score(answers, streams).score
                rows.append((run.model, task, len(pairs), failed, *scores))
        notes = [f"BLEU {bleu.get_signature()}", f"chrF {chrf.get_signature()}"] if rows else []
        return AnalysisOutput("BLEU and chrF of all answers together", _COLUMNS, rows, notes)


def _pairs(run: Run, task: str, field: str) -> tuple[list[_Pair], int]:
    """Return the answers of a task with their texts, and the number of failed answers."""
    found, failed = [], 0
    for sample, score in _counted(run, task):
        given = sample.doc.get(field)
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ScoringError(
                f"the doc {sample.key.doc!r} has no text in the field {field!r}",
                where=task,
                fix=f"Name the field with --field; the doc has {', '.join(sample.doc) or 'no fields here'}.",
            )
        failed += score.status.is_failure
        found.append(_Pair(_text_of(sample, score), texts))
    return found, failed


def _counted(run: Run, task: str) -> Iterator[tuple[Sample, ScoreRecord]]:
    return (pair for pair in run.scored(task) if pair[1].status is Status.SCORED or pair[1].status.is_failure)


def _text_of(sample: Sample, score: ScoreRecord) -> str:
    if score.status.is_failure:
        return ""
    value = score.value[0] if isinstance(score.value, list) and score.value else score.value
    return value if isinstance(value, str) else next(iter(sample.answers), "")
