"""Answers by transformers' own `generate`, each row of a batch with its own sampling, seed, limit and stop texts.

`generate` computes: it manages caches, positions and masks. It takes the most probable token each time; a logits
processor chooses the token of each row first, and leaves no other.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from creval.plugin import TokenLogprob
from creval_hf.loading import Loaded
from creval_hf.settings import Sampling

__all__ = ["Answer", "AnswerRow", "generate"]

_TAIL = 6
"""Tokens of the prompt before an answer: some tokenizers decode a token differently at the start of a text."""
_SLACK = 8


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer to generate: the prompt's tokens, its sampling, and special tokens that stay in its text."""

    prompt: Sequence[int]
    sampling: Sampling
    limit: int
    kept: frozenset[int] = frozenset()
    kind: str = "answer"

    @property
    def length(self) -> int:
        return len(self.prompt) + self.limit

    @property
    def order(self) -> tuple[int, int]:
        return self.length, len(self.prompt)


@dataclass(frozen=True, slots=True)
class Answer:
    """A generated answer. `count` is the number of its tokens, without one that only ended it."""

    text: str
    finish_reason: str
    count: int
    logprobs: tuple[TokenLogprob, ...] | None


def generate(loaded: Loaded, rows: Sequence[AnswerRow], cancelled: Callable[[int], bool]) -> list[Answer]:
    """Generate the answers of one batch; for rows cancelled meanwhile, the text so far."""
    width = max(len(row.prompt) for row in rows)
    pads = [width - len(row.prompt) for row in rows]
    ids = [[loaded.padding] * pad + list(row.prompt) for row, pad in zip(rows, pads, strict=True)]
    mask = [[0] * pad + [1] * len(row.prompt) for row, pad in zip(rows, pads, strict=True)]
    config, ends = _plain_config(loaded, max(row.limit for row in rows))
    drawing = _Drawing(loaded.tokenizer, rows, ends, cancelled)
    loaded.model.generate(
        input_ids=torch.tensor(ids, device=loaded.device),
        attention_mask=torch.tensor(mask, device=loaded.device),
        generation_config=config,
        logits_processor=[drawing.choose],
        stopping_criteria=[drawing.stopped],
    )
    return [line.answer() for line in drawing.lines]


def _plain_config(loaded: Loaded, longest: int) -> tuple[Any, frozenset[int]]:
    """Return the makers' generation config without its sampling and limits, and the tokens that end an answer."""
    config = copy.deepcopy(loaded.model.generation_config)
    for name in ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff", "top_h"):
        setattr(config, name, None)
    config.do_sample, config.num_beams, config.num_return_sequences = False, 1, 1
    config.repetition_penalty = None  # ours ignores the padding
    config.max_length, config.max_new_tokens = None, longest
    config.min_length, config.max_time, config.stop_strings = 0, None, None
    config.return_dict_in_generate = config.output_scores = config.output_logits = False
    config.use_cache, config.pad_token_id = True, loaded.padding
    ends = config.eos_token_id if config.eos_token_id is not None else loaded.tokenizer.eos_token_id
    config.eos_token_id = ends
    return config, frozenset(ends if isinstance(ends, list | tuple) else [] if ends is None else [ends])


class _Line:
    """One answer during generation."""

    def __init__(self, tokenizer: Any, row: AnswerRow) -> None:
        self.row = row
        self.sampling = row.sampling
        self.tokens: list[int] = []
        self.reason: str | None = None
        self.logprobs: list[tuple[float, list[tuple[int, float]]]] = []
        self.random = random.Random(row.sampling.seed)
        self.counts: Counter[int] = Counter()
        self._tokenizer = tokenizer
        self._special = frozenset(tokenizer.all_special_ids) - row.kept
        self._stop_at: int | None = None
        self._ended_by_token = False
        self._tail = [token for token in row.prompt[-_TAIL:] if token not in self._special]

    def add(self, token: int, ends: frozenset[int], cancelled: bool) -> None:
        """Add a token, and check whether the answer ends with it."""
        self.tokens.append(token)
        self.counts[token] += 1
        if token in ends:
            self.reason = "stop"
        elif self.sampling.stop and self._has_stop():
            self.reason = "stop"
            text = self._text(self.tokens)
            self._stop_at = min(place for stop in self.sampling.stop if (place := text.find(stop)) >= 0)
        elif len(self.tokens) >= self.row.limit or cancelled:
            self.reason = "length"
        self._ended_by_token = token in ends

    def _has_stop(self) -> bool:
        """Return whether the new text contains a stop text; the whole is decoded only if the end looks like one."""
        longest = max(len(stop.encode()) for stop in self.sampling.stop)
        end = self._decoded(self.tokens[-longest - _SLACK :])
        return any(stop in end for stop in self.sampling.stop) and any(
            stop in self._text(self.tokens) for stop in self.sampling.stop
        )

    def _decoded(self, tokens: Sequence[int]) -> str:
        kept = [token for token in tokens if token not in self._special]
        return str(self._tokenizer.decode(kept, clean_up_tokenization_spaces=False))

    def _text(self, tokens: Sequence[int]) -> str:
        """Return the text that tokens add to the prompt."""
        head = self._decoded(self._tail)
        whole = self._decoded([*self._tail, *tokens])
        return whole[len(head) :] if whole.startswith(head) else self._decoded(tokens)

    def answer(self) -> Answer:
        """Return the finished answer."""
        body = self.tokens[:-1] if self._ended_by_token else self.tokens
        text = self._text(body)
        text = text if self._stop_at is None else text[: self._stop_at]
        count = len(self.tokens) - (self.reason == "stop")
        return Answer(text, self.reason or "length", count, self._logprobs(text) if self.sampling.logprobs else None)

    def _logprobs(self, text: str) -> tuple[TokenLogprob, ...]:
        """Return the tokens of the text, and the one that ended it, which has no text.

        A token within a character has no text; the token that completes the character has it.
        """
        found: list[TokenLogprob] = []
        before = len(self._tail)
        seen, first, read, written = [*self._tail, *self.tokens], 0, before, 0
        body = len(self.tokens) - self._ended_by_token
        for place, (logprob, top) in enumerate(self.logprobs[: len(self.tokens)]):
            if self._stop_at is not None and written >= len(text):
                break
            piece, end = "", before + place + 1
            if place + 1 == body:
                piece = text[written:]
            elif place < body:
                known, now = self._decoded(seen[first:read]), self._decoded(seen[first:end])
                if len(now) > len(known) and not now.endswith("\ufffd"):
                    piece, first, read = now[len(known) :][: len(text) - written], read, end
            written += len(piece)
            names = tuple((self._decoded([token]), value) for token, value in top)
            found.append(TokenLogprob(piece, min(0.0, logprob), names))
        return tuple(found)


@dataclass(slots=True)
class _Drawing:
    """Chooses a token for each row, and tracks the finished rows."""

    tokenizer: Any
    rows: Sequence[AnswerRow]
    ends: frozenset[int]
    cancelled: Callable[[int], bool]
    lines: list[_Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = [_Line(self.tokenizer, row) for row in self.rows]

    def choose(self, ids: Any, scores: Any) -> Any:
        """Return scores that allow each row only its token (a logits processor of transformers' `generate`)."""
        if all(line.sampling.plain for line in self.lines):
            return scores
        chosen = scores.argmax(dim=-1)
        for place, line in enumerate(self.lines):
            if line.reason is None and not line.sampling.plain:
                chosen[place] = _drawn(line, scores[place].float())
        only = torch.full_like(scores, float("-inf"))
        return only.scatter_(1, chosen.unsqueeze(1), 0.0)

    def stopped(self, ids: Any, scores: Any, **_: Any) -> Any:
        """Record the chosen tokens; return which rows are finished (a stopping criterion of `generate`)."""
        for place, token in enumerate(ids[:, -1].tolist()):
            line = self.lines[place]
            if line.reason is None:
                line.add(token, self.ends, self.cancelled(place))
        return torch.tensor([line.reason is not None for line in self.lines], device=ids.device)


def _drawn(line: _Line, scores: Any) -> int:
    """Return the token of a row, and record its log-probability: the model's, before any setting."""
    sampling = line.sampling
    plain = torch.log_softmax(scores, dim=-1) if sampling.logprobs else None
    scores = _penalised(line, scores)
    if sampling.temperature == 0:
        token = int(scores.argmax())
    else:
        probabilities = _truncated(torch.softmax(scores / sampling.temperature, dim=-1), sampling)
        sums = probabilities.double().cumsum(dim=-1)
        mark = torch.tensor(line.random.random(), dtype=sums.dtype, device=sums.device) * sums[-1]
        token = min(int(torch.searchsorted(sums, mark, right=True)), len(sums) - 1)
        if probabilities[token] == 0:  # rounding at the end
            token = int(probabilities.argmax())
    if plain is not None:
        values, tokens = torch.topk(plain, sampling.top) if sampling.top else (plain[:0], plain[:0])
        top = list(zip(map(int, tokens.tolist()), values.tolist(), strict=True))
        line.logprobs.append((float(plain[token]), top))
    return token


def _penalised(line: _Line, scores: Any) -> Any:
    sampling = line.sampling
    if sampling.bias:
        scores = scores.clone()
        for token, bias in sampling.bias.items():
            scores[token] += bias
    if sampling.repetition != 1.0:  # also for tokens of the question, as in transformers
        seen = torch.tensor(sorted({*line.row.prompt, *line.tokens}), device=scores.device)
        there = scores[seen]
        scores = scores.clone()
        scores[seen] = torch.where(there < 0, there * sampling.repetition, there / sampling.repetition)
    if (sampling.presence or sampling.frequency) and line.counts:
        scores = scores.clone()
        for token, count in line.counts.items():
            scores[token] -= sampling.presence + sampling.frequency * count
    return scores


def _truncated(probabilities: Any, sampling: Sampling) -> Any:
    """Return probabilities without those that top-k, top-p and min-p cut off."""
    if sampling.top_k and sampling.top_k < len(probabilities):
        least = torch.topk(probabilities, sampling.top_k).values[-1]
        probabilities = torch.where(probabilities < least, 0.0, probabilities)
    if sampling.top_p < 1.0:
        values, order = (probabilities / probabilities.sum()).sort(descending=True)
        before = values.cumsum(dim=-1) - values
        probabilities = probabilities.clone()
        probabilities[order[before >= sampling.top_p]] = 0.0
    if sampling.min_p:
        probabilities = torch.where(probabilities < sampling.min_p * probabilities.max(), 0.0, probabilities)
    return probabilities
