"""A target and a judge that are served over the loopback address, and what is read of a run."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, Received
from support.forked import Begun, begun

from creval.cli.main import invoke
from creval_create.queries.own import judged_paths, own_queries

__all__ = ["answer_of", "begin", "invoked", "judge_of", "metrics", "path_in", "rows", "serve"]


def path_in(prompt: str) -> list[tuple[str, str, str]]:
    """The path that a judge's prompt ends with."""
    found: list[tuple[str, str, str]] = ast.literal_eval(prompt.rpartition("Path:")[2].strip())
    return found


def judge_of(request: Received) -> str:
    """Verdicts that depend on the triples alone: about one in eight is false, classes have 1 to 9,999 members."""
    path = path_in(request.prompt)
    draws = [int.from_bytes(hashlib.sha256(repr(triple).encode()).digest()[:4], "big") for triple in path]
    if "fact-checking expert" in request.prompt:
        words = ["hallucinated" if draw % 8 == 0 else "not hallucinated" for draw in draws]
        return json.dumps({"explanation": "drawn", "judgments": words})
    return json.dumps([{"explanation": "drawn", "judgment": 10 ** (draw % 5)} for draw in draws])


def answer_of(request: Received) -> str:
    """A target that knows a few of the hand-made paths of the query, other ones in a further round."""
    query = next(row for row in own_queries() if row["query"] in request.prompt)
    known = [made.path for made in judged_paths() if made.query == query["id"] and made.kind == "ceiling"]
    again = len(request.body["messages"]) > 1
    said = known[3:6] if again else known[:4]
    return f"<answer>{json.dumps({str(i): path for i, path in enumerate(said, 1)}, ensure_ascii=False)}</answer>"


def serve(**given: Any) -> ChatServer:
    """A server that is target and judge, told apart by what they are asked."""

    def answer(request: Received) -> str:
        return judge_of(request) if "\nPath: [" in request.prompt else answer_of(request)

    return ChatServer(answer=answer, **given)


def rows(folder: Path, kind: str, task: str = "create") -> list[dict[str, Any]]:
    """The lines of a file of a run: kind `samples` or `scores`."""
    return [json.loads(line) for line in (folder / kind / f"{task}.jsonl").read_text().splitlines()]


def metrics(folder: Path) -> Mapping[str, Any]:
    """The values of the first task's metrics by their names without resources."""
    (task, *_) = json.loads((folder / "results.json").read_text())["tasks"]
    found: Sequence[Mapping[str, Any]] = task["metrics"]
    return {metric["name"].partition("[")[0]: metric["value"] for metric in found}


def invoked(folder: Path, minilm: Any, *arguments: str, **environment: str) -> int:
    """Run one command line in `folder`, in this process and with the encoder that it has open; return the exit code."""
    with _at_home(folder, minilm, environment):
        return invoke(arguments)


def begin(folder: Path, *arguments: str, **environment: str) -> Begun:
    """Begin one command line in `folder`, to be killed."""
    own = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return begun(arguments, folder, {**own, "CREVAL_CACHE": str(folder / "cache"), **environment})


@contextlib.contextmanager
def _at_home(folder: Path, minilm: Any, environment: Mapping[str, str]) -> Iterator[None]:
    from creval_embedded import embeddings

    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.endswith("_API_KEY")]:
            patch.delenv(name)
        for name, value in {"CREVAL_CACHE": str(folder / "cache"), **environment}.items():
            patch.setenv(name, value)
        patch.setitem(embeddings._BY_NAME, "minilm", lambda options: minilm)
        patch.chdir(folder)
        yield
