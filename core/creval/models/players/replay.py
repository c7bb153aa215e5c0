"""`replay/FILE` and `replay/RUN`: answers that were given before, from JSONL files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from creval.errors import DataError, FatalModelError
from creval.models.options import ProviderOptions
from creval.models.reply_json import reply_from_json
from creval.models.traits import ProviderTraits
from creval.types.messages import Completion, GenerateRequest, Reply
from creval.types.sample import SampleKey

__all__ = ["Replay", "replay"]

_LONGEST_LINE = 64 * 1024 * 1024


class Replay:
    """A `Provider` that gives back what a file holds, or all samples/*.jsonl of a run folder.

    One line a sample: {"task", "doc", "condition" ("default" where left out), "repeat" (0), "role" ("target"),
    "answers": [...]}. Call k of the role within the sample gets answers[k]; an answer is a text, or a list of texts
    for a call that asks for several completions (one call that asks for all of them may also have them as
    plain texts). A line of an earlier run's samples/<task>.jsonl does as well: it is replayed call by call.

    Only the place of each line is held in memory. A sample or call that the file lacks is a FatalModelError
    that names it. Raises DataError where the file is missing or malformed.
    """

    traits = ProviderTraits(remote=False, cacheable=False, free=True)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[tuple[SampleKey, str], tuple[BinaryIO, int]] = {}
        self._files: list[BinaryIO] = []
        try:
            for file in _files(path):
                self._files.append(file.open("rb"))
                self._index(self._files[-1], file)
        except OSError as error:
            self._shut()
            raise DataError(
                f"the answers cannot be read: {error.strerror}",
                where=str(path),
                cure="Write replay/ and the path of a JSONL file of answers, or of an earlier run.",
            ) from error
        except BaseException:
            self._shut()
            raise

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the recorded reply."""
        origin = request.origin
        place = self._places.get((origin.key, origin.role))
        if place is None:
            raise self._lacking(request, "no line for this sample")
        file, offset = place
        file.seek(offset)
        line = json.loads(file.readline())
        if "answers" in line and "calls" not in line:
            return self._from_answers(line["answers"], request)
        return self._from_calls(line["calls"], request)

    async def close(self) -> None:
        """Close the files."""
        self._shut()

    def _shut(self) -> None:
        for file in self._files:
            file.close()

    def _index(self, file: BinaryIO, path: Path) -> None:
        offset, number = 0, 0
        while text := file.readline(_LONGEST_LINE):
            number += 1
            if text.strip():
                for key in self._keys(text, f"{path}:{number}"):
                    if key in self._places:
                        raise DataError(
                            f"the sample {_named(*key)} is there twice",
                            where=f"{path}:{number}",
                            cure="Keep one of the two lines.",
                        )
                    self._places[key] = (file, offset)
            offset += len(text)

    def _keys(self, text: bytes, where: str) -> list[tuple[SampleKey, str]]:
        """What the line answers: one role, or in a line of a run each role that was called."""
        try:
            line = json.loads(text)
            doc = line["doc_id"] if "doc_id" in line else line["doc"]
            if isinstance(doc, dict):
                raise TypeError("doc is no name")
            condition, repeat = str(line.get("condition", "default")), int(line.get("repeat", 0))
            key = SampleKey(str(line["task"]), str(doc), condition, repeat)
            if "calls" in line:
                return [(key, role) for role in dict.fromkeys(str(call["role"]) for call in line["calls"])]
            if not isinstance(line["answers"], list):
                raise TypeError("answers is no list")
            return [(key, str(line.get("role", "target")))]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(
                f"the line is no recorded sample ({type(error).__name__}: {error})",
                where=where,
                cure='A line is {"task": ..., "doc": ..., "condition": ..., "repeat": 0, "answers": ["..."]}.',
            ) from error

    def _from_answers(self, answers: list[Any], request: GenerateRequest) -> Reply:
        call, wanted = request.origin.call, request.n
        if wanted > 1 and call == 0 and len(answers) >= wanted and all(isinstance(a, str) for a in answers):
            return Reply(tuple(Completion(text) for text in answers[:wanted]), model=self._path.name, cost=0.0)
        if call >= len(answers):
            raise self._lacking(request, f"{len(answers)} answers, and this is call {call + 1}")
        answer = answers[call]
        texts = answer if isinstance(answer, list) else [answer]
        if not all(isinstance(text, str) for text in texts):
            raise self._lacking(request, "an answer that is no text")
        if len(texts) < wanted:
            raise self._lacking(request, f"{len(texts)} completions where {wanted} are asked for")
        return Reply(tuple(Completion(text) for text in texts[:wanted]), model=self._path.name, cost=0.0)

    def _from_calls(self, calls: list[Mapping[str, Any]], request: GenerateRequest) -> Reply:
        own = [call for call in calls if call.get("role") == request.origin.role]
        if request.origin.call >= len(own):
            raise self._lacking(request, f"{len(own)} calls, and this is call {request.origin.call + 1}")
        recorded = own[request.origin.call]
        if recorded.get("reply") is None:
            raise self._lacking(request, f"a call that failed ({recorded.get('error')})")
        try:
            reply = reply_from_json(recorded["reply"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._lacking(request, f"a reply that cannot be read ({error})") from error
        if len(reply.completions) < request.n:
            raise self._lacking(request, f"{len(reply.completions)} completions where {request.n} are asked for")
        return reply

    def _lacking(self, request: GenerateRequest, found: str) -> FatalModelError:
        return FatalModelError(
            f"no recorded answer for {_named(request.origin.key, request.origin.role)}: the file has {found}",
            where=str(self._path),
            cure="Add the answer to the file, or run the samples that it has.",
        )


def _files(path: Path) -> list[Path]:
    """The file itself, or the samples of a run folder."""
    if not path.is_dir():
        return [path]
    folder = path / "samples" if (path / "samples").is_dir() else path
    found = sorted(folder.glob("*.jsonl"))
    if not found:
        raise DataError(
            "the folder has no recorded samples",
            where=str(path),
            cure="Name a run folder, or a JSONL file of answers.",
        )
    return found


def _named(key: SampleKey, role: str) -> str:
    place = f"task {key.task!r}, doc {key.doc!r}, condition {key.condition!r}, repeat {key.repeat}"
    return place if role == "target" else f"{place}, role {role!r}"


def replay(model: str, options: ProviderOptions) -> Replay:
    """Component `replay`: `model` is the path of a file or run folder."""
    return Replay(Path(model).expanduser())
