"""`create/shipped`: a judge without a key that replays our own verdicts on the hand-made paths of our own queries.

It is no model and judges nothing: any other path is an error, never a verdict.
"""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache

from creval.plugin import Completion, Reply, UnknownNameError
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, ProviderTraits
from creval_create.paths.triples import Path, as_path, identity
from creval_create.queries.own import JudgedPath, judged_paths

__all__ = ["ShippedVerdicts"]

_NAME = "shipped"
_EXPLANATION = "Hand-made judgement that ships with creval-create; no model was asked."
_MARK = "Path:"


@cache
def _paths_by_identity() -> dict[Path, JudgedPath]:
    return {identity(made.path): made for made in judged_paths()}


def _digest() -> str:
    said = repr([(made.path, made.class_sizes, made.factual) for made in judged_paths()])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


class ShippedVerdicts:
    """The provider `create`, whose only model is `shipped`."""

    def __init__(self, model: str, options: ProviderOptions) -> None:
        if model != _NAME:
            raise UnknownNameError("model", f"create/{model}", [f"create/{_NAME}"])
        self.traits = ProviderTraits(remote=False, cacheable=False, free=True, identity={"verdicts": _digest()})

    async def generate(self, request: GenerateRequest) -> Reply:
        """Answer Prompt D.1 or D.2. Raises FatalModelError for a path that was not judged by hand."""
        asked = request.messages[-1].text
        path = _path_in(asked)
        made = _paths_by_identity().get(identity(path)) if path else None
        if made is None:
            raise FatalModelError(
                "create/shipped has verdicts on the hand-made paths of our own queries only, and this path is none",
                where=f"path {asked.rpartition(_MARK)[2].strip()[:200]}",
                fix="Name a model as judge: --role judge=openrouter/openai/gpt-oss-120b",
            )
        return Reply([Completion(_factuality(made) if '"judgments"' in asked else _class_sizes(made))])

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _path_in(asked: str) -> Path | None:
    """Return the path at the end of a prompt, in the form that judges read."""
    try:
        return as_path(ast.literal_eval(asked.rpartition(_MARK)[2].strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _factuality(made: JudgedPath) -> str:
    words = ["not hallucinated" if true else "hallucinated" for true in made.factual]
    return json.dumps({"explanation": _EXPLANATION, "judgments": words})


def _class_sizes(made: JudgedPath) -> str:
    return json.dumps([{"explanation": _EXPLANATION, "judgment": size} for size in made.class_sizes])
