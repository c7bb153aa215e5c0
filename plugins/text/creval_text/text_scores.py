"""Scorers for the similarity of an answer to a text of the doc: token F1, ROUGE, BLEU, chrF, edit distance.

Libraries compute all but token F1 (rouge-score, sacrebleu, rapidfuzz). Of several texts the best one counts.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

from creval.plugin import Context, Score, ScorerInput
from creval.plugin.parsing import squad_text

__all__ = ["Bleu", "Chrf", "EditDistance", "Rouge", "TokenF1"]

_MOST_CELLS = 25_000_000
"""Most cells in the table of two texts: ROUGE-L compares every word of one with every word of the other."""
_MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class _Compared(ABC):
    """Base: compares each answer with the texts in the doc's field `field` (one, or a list of which the best counts).

    With several answers of a sample the mean counts, or with `reduce: best` the best one, score by score.
    """

    field: str = "target"
    reduce: str = "mean"

    def score(self, items: Sequence[ScorerInput], context: Context) -> Sequence[Score]:
        return [self._score(item) for item in items]

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be scored: it has no text to compare with; None if it can."""
        if self.field not in fields:
            return f"it has no field {self.field!r}; it has {', '.join(fields)}"
        given = fields[self.field]
        texts = given if isinstance(given, list | tuple) else [given]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            return f"its {self.field!r} is neither a text nor a list of texts"
        return None

    def _score(self, item: ScorerInput) -> Score:
        fault = self.doc_fault(item.doc)
        if fault is not None:
            return Score({}, failure=f"the doc cannot be scored: {fault}", errored=True)
        given = item.doc[self.field]
        wanted = [given] if isinstance(given, str) else [*given]
        if not item.values:
            return Score({}, failure="the sample has no answer")
        found = []
        for value in item.values:
            if not isinstance(value, str):
                what = f"a {type(value).__name__} is not a text to compare: remove the parser, or use another"
                return Score({}, failure=what, errored=True)
            if len(value) > _MOST_CHARACTERS:
                return Score(
                    {}, failure=f"the answer has {len(value)} characters; at most {_MOST_CHARACTERS} are compared"
                )
            try:
                found.append(self.compare(value, wanted))
            except ValueError as error:
                return Score({}, failure=str(error))
        if self.reduce == "mean":
            return Score({name: fmean(each[name] for each in found) for name in found[0]})
        return Score({name: self.best([each[name] for each in found], name) for name in found[0]})

    def best(self, numbers: Sequence[float], name: str) -> float:
        """Return the best of several numbers of one score."""
        return max(numbers)

    @abstractmethod
    def compare(self, answer: str, wanted: Sequence[str]) -> Mapping[str, float]:
        """Return the scores of one answer. Raises ValueError if it is too long to compare."""


@dataclass(frozen=True, slots=True)
class TokenF1(_Compared):
    """Score `token_f1`: the F1 of the words shared by answer and text, with `token_precision` and `token_recall`.

    Source: Rajpurkar et al. 2016 (SQuAD, arXiv:1606.05250), the official evaluation script 1.1 and 2.0: words after
    `normalize: squad` (lower case, without ASCII punctuation and the articles a, an, the). If either has no words,
    all three are 1 if neither has any, else 0. Precision and recall are those of the text with the best F1. With
    `normalize: none` words are separated by white space.
    """

    normalize: str = "squad"

    def compare(self, answer: str, wanted: Sequence[str]) -> Mapping[str, float]:
        said = self._words(answer)
        f1, precision, recall = max(_overlap(said, self._words(text)) for text in wanted)
        return {"token_f1": f1, "token_precision": precision, "token_recall": recall}

    def _words(self, text: str) -> list[str]:
        return (squad_text(text) if self.normalize == "squad" else text).split()


def _overlap(said: Sequence[str], wanted: Sequence[str]) -> tuple[float, float, float]:
    """Return F1, precision and recall of words."""
    if not said or not wanted:
        same = float(said == wanted)
        return same, same, same
    common = sum((Counter(said) & Counter(wanted)).values())
    precision, recall = common / len(said), common / len(wanted)
    return (2 * precision * recall / (precision + recall) if common else 0.0), precision, recall


_ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum")


@dataclass(frozen=True, slots=True)
class Rouge(_Compared):
    """Scores `rouge1`, `rouge2`, `rougeL` and `rougeLsum`: F1 of shared words, pairs of words, and longest sequence.

    Source: Lin 2004, by the library rouge-score. `stemmer` compares the stems of English words. `words: unicode`
    supports the words of every script; rouge-score's own (`ascii`) are runs of a-z and 0-9. `rougeLsum` is by line.
    """

    stemmer: bool = False
    words: str = "ascii"

    def compare(self, answer: str, wanted: Sequence[str]) -> Mapping[str, float]:
        longest = max(len(text.split()) for text in wanted)
        if len(answer.split()) * longest > _MOST_CELLS:
            raise ValueError(f"the answer is too long to be compared with a text of {longest} words")
        found = _rouge_scorer(self.stemmer, self.words).score_multi(wanted, answer)
        return {name: float(found[name].fmeasure) for name in _ROUGE}


class _UnicodeWords:
    """A tokenizer for rouge-score: runs of letters and digits of any script, in lower case."""

    def tokenize(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())


@lru_cache(maxsize=4)
def _rouge_scorer(stemmer: bool, words: str) -> Any:
    from rouge_score import rouge_scorer

    tokenizer = _UnicodeWords() if words == "unicode" else None
    return rouge_scorer.RougeScorer([*_ROUGE], use_stemmer=stemmer, tokenizer=tokenizer)


@dataclass(frozen=True, slots=True)
class Bleu(_Compared):
    """Score `bleu`, 0 to 100: BLEU of one answer against all texts, by sacrebleu's sentence BLEU.

    Source: Papineni et al. 2002; Post 2018 (arXiv:1804.08771). Its mean over samples is not corpus BLEU, which pools
    counts before dividing. `tokenize`, `smooth` and `lowercase` are sacrebleu's.
    """

    tokenize: str = "13a"
    smooth: str = "exp"
    lowercase: bool = False

    def compare(self, answer: str, wanted: Sequence[str]) -> Mapping[str, float]:
        metric = _bleu(self.tokenize, self.smooth, self.lowercase)
        return {"bleu": min(100.0, float(metric.sentence_score(answer, [*wanted]).score))}


@lru_cache(maxsize=8)
def _bleu(tokenize: str, smooth: str, lowercase: bool) -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenize, smooth_method=smooth, lowercase=lowercase, effective_order=True)


@dataclass(frozen=True, slots=True)
class Chrf(_Compared):
    """Score `chrf`, 0 to 100: the F-score of shared sequences of characters, by sacrebleu.

    Source: Popović 2015. `word_order: 2` also counts words and pairs of words (chrF++, Popović 2017); `beta` is the
    weight of recall. As with `bleu`, the mean over samples is not corpus chrF.
    """

    word_order: int = 0
    beta: int = 2
    lowercase: bool = False

    def compare(self, answer: str, wanted: Sequence[str]) -> Mapping[str, float]:
        metric = _chrf(self.word_order, self.beta, self.lowercase)
        return {"chrf": min(100.0, float(metric.sentence_score(answer, [*wanted]).score))}


@lru_cache(maxsize=8)
def _chrf(word_order: int, beta: int, lowercase: bool) -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF(word_order=word_order, beta=beta, lowercase=lowercase)


@dataclass(frozen=True, slots=True)
class EditDistance(_Compared):
    """Scores `edit_distance`, the fewest characters to insert, delete or replace, and `edit_similarity`, 0 to 1.

    Levenshtein 1966, by rapidfuzz; the similarity is 1 minus the distance over the length of the longer text. Of
    several texts the smallest distance and the largest similarity count. `normalize: squad` normalises both first.
    """

    normalize: str = "none"
    ignore_case: bool = False

    def compare(self, answer: str, wanted: Sequence[str]) -> Mapping[str, float]:
        from rapidfuzz.distance import Levenshtein

        said, texts = self._plain(answer), [self._plain(text) for text in wanted]
        return {
            "edit_distance": float(min(Levenshtein.distance(said, text) for text in texts)),
            "edit_similarity": float(max(Levenshtein.normalized_similarity(said, text) for text in texts)),
        }

    def best(self, numbers: Sequence[float], name: str) -> float:
        return min(numbers) if name == "edit_distance" else max(numbers)

    def _plain(self, text: str) -> str:
        plain = squad_text(text) if self.normalize == "squad" else text.strip()
        return plain.casefold() if self.ignore_case else plain
