"""Log-probabilities of an answer that is a part of what was sent."""

from __future__ import annotations

from creval.types.messages import TokenLogprob

__all__ = ["kept_tokens"]


def kept_tokens(
    tokens: tuple[TokenLogprob, ...] | None, text: str, spans: list[tuple[int, int]]
) -> tuple[tuple[TokenLogprob, ...] | None, bool]:
    """Return the tokens that lie in the spans of `text`, and whether they had to be left out.

    They are where they do not make up the text, or where one lies across the border of a span.
    """
    if tokens is None:
        return None, False
    if "".join(token.token for token in tokens) != text:
        return None, True
    kept, position = [], 0
    inside = bytearray(len(text))
    for start, end in spans:
        inside[start:end] = b"\x01" * (end - start)
    for token in tokens:
        end = position + len(token.token)
        said = [inside[place] for place in range(position, end) if not text[place].isspace()]
        if said and all(said):
            kept.append(token)
        elif any(said):
            return None, True
        elif not said and any(inside[position:end]):
            kept.append(token)
        position = end
    return tuple(kept), False
