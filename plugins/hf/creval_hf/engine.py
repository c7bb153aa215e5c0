"""The work of the computing thread: convert calls to rows, and rows to answers and likelihoods."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch

from creval.plugin import CrevalError, ModelError
from creval.plugin.likelihoods import LoglikelihoodCall
from creval.plugin.models import ContextLengthError, FatalModelError, GenerateRequest
from creval_hf.batches import Row
from creval_hf.chat import Marks, Prompt, render
from creval_hf.generation import AnswerRow, generate
from creval_hf.likelihoods import TextRow, score, text_rows
from creval_hf.loading import Loaded
from creval_hf.settings import read_sampling

__all__ = ["Asked", "Engine", "Worked"]


@dataclass(slots=True)
class Asked:
    """A call, and the facts found when it is read."""

    request: GenerateRequest
    prompt: Prompt | None = None
    tokens: int = 0
    shortened: bool = False
    places: tuple[int, ...] = ()


Worked = Callable[[], Loaded]


class Engine:
    """Computes for one model, which `open` loads at the first call. Used from one thread."""

    def __init__(self, open_model: Worked, where: str) -> None:
        self._open_model = open_model
        self._where = where
        self._loaded: Loaded | None = None
        self._failed: CrevalError | None = None

    def rows(self, asked: Asked) -> Sequence[Row]:
        """Return the rows of a call. Raises FatalModelError."""
        loaded = self._open()
        request = asked.request
        if isinstance(request, LoglikelihoodCall):
            texts = text_rows(loaded, request)
            asked.places = tuple(row.request for row in texts)
            asked.tokens = sum(row.length for row in texts)
            asked.shortened = any(row.shortened for row in texts)
            return texts
        sampling = read_sampling(request.settings, loaded.model.generation_config, self._where)
        prompt = asked.prompt = render(loaded.tokenizer, request.messages, request.settings, self._where)
        tokens = loaded.encode(prompt.text) if prompt.plain else loaded.encode_exactly(prompt.text)
        asked.tokens = len(tokens)
        room = loaded.length - len(tokens)
        if room < 1 or not tokens:
            what = f"the question has {len(tokens)} tokens, and the model takes {loaded.length} with the answer"
            what = what if tokens else "the question is empty"
            raise ContextLengthError(what, where=self._where, fix="Use a model with a longer context.")
        kept = self._special_in(prompt.marks)
        seeds = [None if sampling.seed is None else sampling.seed + i for i in range(request.n)]
        limit = min(sampling.max_tokens, room)
        return [AnswerRow(tokens, replace(sampling, seed=seed), limit, kept) for seed in seeds]

    def compute(self, rows: Sequence[Row], cancelled: Callable[[int], bool]) -> Sequence[Any]:
        """Return the answers or likelihoods of rows of one kind."""
        loaded = self._open()
        if rows[0].kind == "text":
            return score(loaded, [cast(TextRow, row) for row in rows])
        return generate(loaded, [cast(AnswerRow, row) for row in rows], cancelled)

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether a smaller batch may succeed."""
        if isinstance(error, MemoryError | torch.OutOfMemoryError):
            return True
        said = str(error).lower()
        return isinstance(error, RuntimeError) and ("out of memory" in said or "can't allocate memory" in said)

    def release(self) -> None:
        """Free the memory of the failed batch."""
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _open(self) -> Loaded:
        if self._failed is not None:
            raise _for_every_call(self._failed)
        if self._loaded is None:
            try:
                self._loaded = self._open_model()
            except CrevalError as error:
                self._failed = error
                raise _for_every_call(error) from None
        return self._loaded

    def _special_in(self, marks: Marks | None) -> frozenset[int]:
        """Return the special tokens in marks of thinking; others are not part of an answer's text."""
        if marks is None:
            return frozenset()
        loaded = self._open()
        special = frozenset(loaded.tokenizer.all_special_ids)
        return _special_tokens(loaded.encode_exactly, special, marks)


@functools.lru_cache(maxsize=64)
def _special_tokens(encode: Callable[[str], list[int]], special: frozenset[int], marks: Marks) -> frozenset[int]:
    return special & {*encode(marks.opening), *encode(marks.closing)}


def _for_every_call(error: CrevalError) -> ModelError:
    return FatalModelError(error.what, where=error.where, fix=error.fix, closed=True)
