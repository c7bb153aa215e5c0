"""Parsers: answer text -> value, or a reason why there is none. `chain` states the rules of parser chains."""

from __future__ import annotations

from creval.parsing.chain import MAX_CHARACTERS, ParserChain, build_chain

__all__ = ["MAX_CHARACTERS", "ParserChain", "build_chain"]
