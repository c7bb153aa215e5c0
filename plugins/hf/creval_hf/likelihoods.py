"""Log-likelihoods of given texts, as lm-eval's `hf` model (0.4.13) splits, truncates and scores them.

The common parts of a batch's texts are computed once: first the prefix of all, then the context of each call, then
each continuation, on copies of the keys and values so far. Models with another kind of cache compute each
text as a whole.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from creval.plugin import TokenLogprob
from creval.plugin.likelihoods import LoglikelihoodCall
from creval.plugin.models import ContextLengthError, FatalModelError
from creval_hf.loading import Loaded
from creval_likelihoods.likelihood_tokens import rolling_windows, split_texts

__all__ = ["TextRow", "score", "text_rows"]

_WORTH_SHARING = 8
"""The fewest shared tokens that are computed once for a whole batch; fewer do not justify a separate step."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """Tokens, scored from `first` on, for a request of a call by its index."""

    request: int
    tokens: tuple[int, ...]
    first: int
    shortened: bool = False
    kind: str = "text"

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def order(self) -> tuple[int, tuple[int, ...]]:
        return self.first, self.tokens  # texts after one context are adjacent


def text_rows(loaded: Loaded, call: LoglikelihoodCall) -> list[TextRow]:
    """Return the texts to score for a call. Raises ContextLengthError."""
    prefix = str(call.settings.get("prefix") or "")
    stated = call.settings.get("context_length")
    # Without a stated length, as in lm-eval: the last token is scored, but is no input.
    room = loaded.length + 1 if stated is None else int(stated) - 1
    if call.output == "loglikelihood_rolling":
        begin = loaded.encode_exactly(prefix) if prefix else [loaded.begin]
        return [
            TextRow(place, (*context, *tokens), len(context))
            for place, request in enumerate(call.requests)
            for context, tokens in rolling_windows(loaded.encode(request.continuation), begin, room)
        ]
    return [_row(loaded, place, *split_texts(request), prefix, room) for place, request in enumerate(call.requests)]


def _row(loaded: Loaded, place: int, context: str, continuation: str, prefix: str, room: int) -> TextRow:
    if context:
        head, whole = loaded.encode(context), loaded.encode(context + continuation)
        rest = whole[len(head) :]
    else:
        rest = loaded.encode_exactly(continuation)
        head = loaded.encode_exactly(prefix) if prefix else [loaded.begin]
        if rest[: len(head)] == head:
            rest = rest[len(head) :]
    if not rest:
        what = f"the text {continuation!r} has no tokens, so it has no likelihood"
        raise FatalModelError(what, fix="Leave the doc out.")
    over = max(0, len(head) + len(rest) - room)
    if over and over >= len(head):
        raise ContextLengthError(
            f"a text of {len(rest)} tokens does not fit into a context of {room}",
            fix="Use a model with a longer context, or leave the doc out.",
        )
    return TextRow(place, (*head[over:], *rest), len(head) - over, over > 0)


def score(loaded: Loaded, rows: Sequence[TextRow]) -> list[tuple[TokenLogprob, ...]]:
    """Return the scored tokens of each row, each with the most probable one at its position if that differs."""
    with torch.inference_mode():
        return _score(loaded, rows)


def _score(loaded: Loaded, rows: Sequence[TextRow]) -> list[tuple[TokenLogprob, ...]]:
    inputs: dict[tuple[int, ...], int] = {}
    """The input: the last token of a text is only scored, so that texts may share the whole input."""
    starts: list[int] = []
    for row in rows:
        place = inputs.setdefault(row.tokens[:-1], len(starts))
        if place == len(starts):
            starts.append(row.first - 1)
        starts[place] = min(starts[place], row.first - 1)
    lines = [_Input(tokens, start) for tokens, start in zip(inputs, starts, strict=True)]
    logits = _shared(loaded, lines) if _shares(loaded.model) else _padded_logits(loaded, lines)
    found = []
    for row in rows:
        place = inputs[row.tokens[:-1]]
        own = logits[place][row.first - 1 - starts[place] :]
        found.append(_scored(loaded, own, row.tokens[row.first :]))
    return found


class _Input(NamedTuple):
    """Input tokens; the scores after those from `start` on are needed."""

    tokens: tuple[int, ...]
    start: int


def _scored(loaded: Loaded, logits: Any, tokens: Sequence[int]) -> tuple[TokenLogprob, ...]:
    if not tokens:
        return ()
    values = torch.log_softmax(logits.float(), dim=-1)
    best, places = values.max(dim=-1)
    own = values.gather(1, torch.tensor(tokens, device=values.device).unsqueeze(1)).squeeze(1)
    name = functools.partial(loaded.tokenizer.decode, clean_up_tokenization_spaces=False)
    return tuple(
        TokenLogprob(name([token]), min(0.0, value), () if token == top else ((name([top]), min(0.0, most)),))
        for token, value, top, most in zip(tokens, own.tolist(), places.tolist(), best.tolist(), strict=True)
    )


def _shares(model: Any) -> bool:
    """Return whether the computation of a prefix can be reused for several texts."""
    from transformers import DynamicCache

    if getattr(model, "_is_stateful", False) or not _takes(model, "position_ids", "attention_mask"):
        return False
    try:
        cache = DynamicCache(config=model.config)
    except Exception:  # an unusual configuration
        return False
    plain = all(type(layer).__name__ == "DynamicLayer" for layer in cache.layers)
    return bool(plain and getattr(_inner(model), "_supports_default_dynamic_cache", bool)())


def _takes(model: Any, *names: str) -> bool:
    return set(names) <= inspect.signature(type(_inner(model)).forward).parameters.keys()


def _inner(model: Any) -> Any:
    """Return the model inside an adapter."""
    base = getattr(model, "get_base_model", None)
    return base() if callable(base) else model


def _padded_logits(loaded: Loaded, lines: Sequence[_Input]) -> list[Any]:
    """Compute each text as a whole, padded on the right."""
    width = max(len(line.tokens) for line in lines)
    ids = [[*line.tokens, *[loaded.padding] * (width - len(line.tokens))] for line in lines]
    mask = [[1] * len(line.tokens) + [0] * (width - len(line.tokens)) for line in lines]
    out = loaded.model(
        input_ids=torch.tensor(ids, device=loaded.device), attention_mask=torch.tensor(mask, device=loaded.device)
    )
    return [out.logits[place, line.start : len(line.tokens)] for place, line in enumerate(lines)]


@dataclass(slots=True)
class _State:
    """The input so far: keys and values, and which positions of each row have a token."""

    cache: Any = None
    mask: list[list[int]] = field(default_factory=list)


def _shared(loaded: Loaded, lines: Sequence[_Input]) -> list[Any]:
    """Compute the prefix of all texts, then the prefix of each group, then the rest of each text."""
    common = _common([line.tokens for line in lines], min(line.start for line in lines))
    common = common if common >= _WORTH_SHARING and len(lines) > 1 else 0
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, line in enumerate(lines):
        groups.setdefault(line.tokens[: line.start], []).append(place)
    state = _State()
    if common:
        state, _ = _read(loaded, state, [0], [lines[0].tokens[:common]])
    heads = [head[common:] for head in groups]
    if any(heads):
        state, _ = _read(loaded, state, [0] * len(heads), heads)
    elif not common:
        state.mask = [[]]
    group_of = {place: number for number, places in enumerate(groups.values()) for place in places}
    from_groups = [group_of[place] if any(heads) else 0 for place in range(len(lines))]
    rests = [line.tokens[line.start :] for line in lines]
    _, logits = _read(loaded, state, from_groups, rests, logits=True)
    return [logits[place, logits.shape[1] - len(rest) :] for place, rest in enumerate(rests)]


def _common(texts: Iterable[tuple[int, ...]], most: int) -> int:
    """Return how many first tokens all texts share."""
    texts = list(texts)
    low, high = min(texts), max(texts)
    return next((i for i, (a, b) in enumerate(zip(low[:most], high[:most], strict=False)) if a != b), most)


def _read(
    loaded: Loaded, state: _State, rows: Sequence[int], blocks: Sequence[tuple[int, ...]], logits: bool = False
) -> tuple[_State, Any]:
    """Process a block of tokens after copies of a state's rows; return the new state and the block's logits.

    Blocks are padded on the left: there may be masked positions between a row's earlier input and its block.
    """
    width = max(len(block) for block in blocks)
    ids = [[loaded.padding] * (width - len(block)) + list(block) for block in blocks]
    before = [state.mask[row] for row in rows] if state.mask else [[] for _ in rows]
    mask = [[*past, *[0] * (width - len(b)), *[1] * len(b)] for past, b in zip(before, blocks, strict=True)]
    places = [
        [0] * (width - len(b)) + list(range(sum(past), sum(past) + len(b)))
        for past, b in zip(before, blocks, strict=True)
    ]
    model, device = loaded.model, loaded.device
    cache = state.cache
    if cache is not None and list(rows) != list(range(len(state.mask))):
        cache.batch_select_indices(torch.tensor(list(rows), device=device))
    keys = "cache" if _takes(model, "cache") else "past_key_values"  # its older name
    how: dict[str, Any] = {keys: cache, "position_ids": torch.tensor(places, device=device)}
    if _takes(model, "logits_to_keep"):
        how["logits_to_keep"] = width if logits else 1
    out = model(
        input_ids=torch.tensor(ids, device=device),
        attention_mask=torch.tensor(mask, device=device),
        use_cache=True,
        **how,
    )
    return _State(out[keys], mask), out.logits
