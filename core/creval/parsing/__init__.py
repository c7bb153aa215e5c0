"""Parsers: answer text -> value, or a reason why there is none. The rule of the chain stands in `chain`."""

from __future__ import annotations

from creval.parsing.chain import MAX_CHARACTERS, ParserChain, build_chain

__all__ = ["MAX_CHARACTERS", "ParserChain", "build_chain"]
