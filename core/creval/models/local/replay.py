"""The provider of `replay/FILE` and `replay/RUN`: recorded answers from JSON Lines files."""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import orjson

from creval.errors import DataError, FatalModelError
from creval.format import counted
from creval.models.local.choice_likelihoods import certain
from creval.models.model_options import ProviderOptions
from creval.models.provider_traits import ProviderTraits
from creval.opener import open_plain, parse_json
from creval.types.content import content_digest
from creval.types.likelihoods import LoglikelihoodCall
from creval.types.messages import GenerateRequest, Origin, Reply
from creval.types.reply_json import reply_from_json
from creval.types.sample import SampleKey

__all__ = ["AnswerIndex", "LinePosition", "Replay", "replay"]

_MAX_LINE_BYTES = 64 * 1024 * 1024


class LinePosition(NamedTuple):
    """The position of a line: the number of its file, and the offset of its first byte."""

    file: int
    start: int


class AnswerIndex:
    """Lines by the hash of the sample or question that they answer: 18 bytes each.

    Hashes may collide, so a look-up reads the line and compares.
    """

    def __init__(self) -> None:
        self._hashes, self._starts, self._files = array("q"), array("q"), array("H")

    def add(self, key: tuple[Any, ...], position: LinePosition) -> None:
        """Add a line. The parts of keys are texts and numbers."""
        self._hashes.append(hash(key))
        self._files.append(position.file)
        self._starts.append(position.start)

    def __len__(self) -> int:
        return len(self._starts)

    def sort(self) -> None:
        """Sort the index, which look-ups require."""
        order = np.argsort(np.frombuffer(self._hashes, dtype=np.int64), kind="stable")
        for column in (self._hashes, self._starts, self._files):
            view = np.frombuffer(column, dtype=column.typecode)
            view[:] = view[order]

    def colliding(self) -> list[list[LinePosition]]:
        """Return the lines whose hashes are equal, in their order."""
        hashes = np.frombuffer(self._hashes, dtype=np.int64)
        equal = np.flatnonzero(hashes[1:] == hashes[:-1])
        starts = [int(index) for index in equal if index == 0 or hashes[index - 1] != hashes[index]]
        return [list(self._matches_from(index, self._hashes[index])) for index in starts]

    def find(self, key: tuple[Any, ...]) -> Iterator[LinePosition]:
        """Yield the lines that may match."""
        target = hash(key)
        return self._matches_from(bisect_left(self._hashes, target), target)

    def _matches_from(self, index: int, target: int) -> Iterator[LinePosition]:
        while index < len(self._hashes) and self._hashes[index] == target:
            yield LinePosition(self._files[index], self._starts[index])
            index += 1


class Replay:
    """A `Provider` that replays the answers in a file, or in all samples/*.jsonl of a run folder.

    One line per sample: {"task", "doc", "condition" ("default" where left out), "repeat" (0), "role" ("target"),
    "answers": [...]}. Call k of the role within the sample gets answers[k]; an answer is a completion, or a list of
    them for a call that asks for several (if one call asks for all answers, they may also be written one by one). A
    completion is a text, or {"text", "finish_reason", "reasoning", "refusal", "logprobs": [[token, number], ...],
    "tool_calls": [{"name", "arguments"}, ...]}.
    A line of an earlier run's samples/<task>.jsonl is accepted too, and replayed call by call. The run's
    calls/<role>.jsonl answer a role that gets the messages that scorers sent in that run.

    Only the position of each line is kept in memory. A sample or call that is missing from the file raises
    FatalModelError with its name. Raises DataError if the file is missing or malformed.
    """

    traits = ProviderTraits(remote=False, cacheable=False, free=True, continues=True)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index = AnswerIndex()
        self._ledger_positions: dict[bytes, tuple[BinaryIO, int]] = {}
        self._files: list[BinaryIO] = []
        self._paths: dict[int, Path] = {}
        self._ready = False
        with self._closing_on_error():
            for file in _answer_files(path):
                self._open_recorded(file).close()  # a missing one is reported at once

    def _open_recorded(self, file: Path) -> BinaryIO:
        """Open a regular file; in a run folder links are not followed. Raises RunError, OSError."""
        return os.fdopen(open_plain(file if self._path.is_dir() else file.resolve()), "rb")

    def prepare(self) -> None:
        """Index the position of each answer. Raises DataError if a file is malformed."""
        if self._ready:
            return
        self._ready = True
        with self._closing_on_error():
            for file in sorted((self._path / "calls").glob("*.jsonl")):
                self._files.append(self._open_recorded(file))
                self._index_calls(self._files[-1], file)
            for file in _answer_files(self._path):
                self._index_file(file)
            self._index.sort()
            self._check_duplicates()

    @contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        """Close the files if an error is raised; turn an OSError into a DataError."""
        try:
            yield
        except OSError as error:
            self._close_files()
            raise DataError(
                f"the answers cannot be read: {error.strerror}",
                where=str(self._path),
                fix="Write replay/ and the path of a JSONL file of answers, or of an earlier run.",
            ) from error
        except BaseException:
            self._close_files()
            raise

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the recorded reply."""
        self.prepare()
        origin = request.origin
        if self._ledger_positions:
            messages = [message.to_json() for message in request.messages]
            ledger_position = self._ledger_positions.get(_question_digest(origin.role, messages, _draw(origin)))
            if ledger_position is not None:
                ledger_position[0].seek(ledger_position[1])
                return self._read_reply(json.loads(ledger_position[0].readline())["reply"], request)
        key = (origin.key, origin.role)
        lines = (json.loads(self._read_line(position)) for position in self._index.find(key))
        line = next((line for line in lines if key in _answered_keys(line)), None)
        if line is None:
            raise self._missing_answer(request, "no line for this sample")
        if "answers" in line and "calls" not in line:
            return self._from_answers(line["answers"], request)
        return self._from_calls(line["calls"], request)

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply:
        """Return the recorded likelihoods; for a recorded answer, those of a model that is certain of it."""
        reply = await self.generate(call)
        if len(reply.completions) == len(call.requests) and all(c.logprobs is not None for c in reply.completions):
            return reply
        return replace(certain(call, reply.text), model=reply.model)

    def rest(self) -> None:
        """Release the index; it is built again if another answer is requested."""
        self._close_files()
        self._ready, self._index = False, AnswerIndex()
        self._ledger_positions, self._files, self._paths = {}, [], {}

    async def close(self) -> None:
        """Close the files."""
        self._close_files()

    def _close_files(self) -> None:
        for file in self._files:
            file.close()

    def _read_line(self, position: LinePosition) -> bytes:
        file = self._files[position.file]
        file.seek(position.start)
        return file.readline()

    def _index_file(self, path: Path) -> None:
        file = self._open_recorded(path)
        self._files.append(file)
        self._paths[len(self._files) - 1] = path
        offset, number, file_number = 0, 0, len(self._files) - 1
        while text := file.readline(_MAX_LINE_BYTES):
            number += 1
            if len(text) == _MAX_LINE_BYTES:
                raise DataError(f"a line is longer than {_MAX_LINE_BYTES:,} bytes", where=f"{path}:{number}")
            if text.strip():
                for key in self._keys(text, f"{path}:{number}"):
                    self._index.add(key, LinePosition(file_number, offset))
            offset += len(text)

    def _check_duplicates(self) -> None:
        """Raise DataError, with the position of the later line, if two lines answer the same sample."""
        duplicates = []
        for positions in self._index.colliding():
            earlier_keys: set[tuple[SampleKey, str]] = set()
            for position in positions:
                keys = set(_answered_keys(json.loads(self._read_line(position))))
                duplicates += [(position, key) for key in keys & earlier_keys]
                earlier_keys |= keys
        if duplicates:
            position, key = min(duplicates)
            file = self._files[position.file]
            file.seek(0)
            number = file.read(position.start).count(b"\n") + 1
            raise DataError(
                f"the sample {_sample_text(*key)} is there twice",
                where=f"{self._paths[position.file]}:{number}",
                fix="Keep one of the two lines.",
            )

    def _index_calls(self, file: BinaryIO, path: Path) -> None:
        """Index the answers of a ledger; the last readable one to a question counts."""
        offset, keys = 0, dict[str, bytes]()
        for number, text in enumerate(iter(lambda: file.readline(_MAX_LINE_BYTES), b""), 1):
            if len(text) == _MAX_LINE_BYTES:
                raise DataError(f"a line is longer than {_MAX_LINE_BYTES:,} bytes", where=f"{path}:{number}")
            try:
                line = parse_json(text.decode("utf-8", "surrogatepass"))
                if "unreadable" in line:
                    self._ledger_positions.pop(keys.get(line["key"], b""), None)
                elif "reply" in line and line["asked"]["step"] != "generation":  # those are in the samples
                    keys[line["key"]] = _question_digest(line["role"], line["messages"], line["draw"])
                    self._ledger_positions[keys[line["key"]]] = (file, offset)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                if text.endswith(b"\n"):  # otherwise the process was killed while it wrote the line
                    raise DataError(f"the line is not a recorded call ({error})", where=f"{path}:{number}") from error
            offset += len(text)

    def _keys(self, text: bytes, where: str) -> list[tuple[SampleKey, str]]:
        """Return the samples and roles that a line answers: one, or for a line of a run each role that was called."""
        try:
            try:
                line = orjson.loads(text)
            except ValueError:
                line = parse_json(text.decode("utf-8", "surrogatepass"))
            if type(line) is dict and type(line.get("doc_id", line.get("doc"))) is not str:
                line = parse_json(text.decode("utf-8", "surrogatepass"))  # a large whole number may have lost digits
            return _answered_keys(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise DataError(
                f"the line is not a recorded sample ({type(error).__name__}: {error})",
                where=where,
                fix='A line is {"task": ..., "doc": ..., "condition": ..., "repeat": 0, "answers": ["..."]}.',
            ) from error

    def _from_answers(self, answers: list[Any], request: GenerateRequest) -> Reply:
        call, count = request.origin.call, request.n
        if count > 1 and call == 0 and len(answers) >= count and not any(isinstance(a, list) for a in answers):
            return self._written_reply(answers[:count], request)
        if call >= len(answers):
            raise self._missing_answer(request, f"{counted(len(answers), 'answers')}, and this is call {call + 1}")
        answer = answers[call]
        completions = answer if isinstance(answer, list) else [answer]
        if len(completions) < count:
            raise self._missing_answer(request, f"{len(completions)} completions instead of {count}")
        return self._written_reply(completions[:count], request)

    def _written_reply(self, completions: list[Any], request: GenerateRequest) -> Reply:
        """Return a reply from completions as written: texts or objects."""
        items = [{"text": item} if isinstance(item, str) else item for item in completions]
        items = [{"text": "", **item} if isinstance(item, dict) and item.get("tool_calls") else item for item in items]
        if not all(isinstance(item, dict) and isinstance(item.get("text"), str) for item in items):
            raise self._missing_answer(request, "an answer that is not a text")
        reply = self._read_reply({"completions": items, "usage": {}, "cost": 0.0}, request)
        return replace(reply, model=self._path.name)

    def _from_calls(self, calls: list[Mapping[str, Any]], request: GenerateRequest) -> Reply:
        role_calls = [call for call in calls if call.get("role") == request.origin.role]
        if request.origin.call >= len(role_calls):
            raise self._missing_answer(
                request, f"{counted(len(role_calls), 'calls')}, and this is call {request.origin.call + 1}"
            )
        recorded = role_calls[request.origin.call]
        if recorded.get("reply") is None:
            raise self._missing_answer(request, f"a call that failed ({recorded.get('error')})")
        return self._read_reply(recorded["reply"], request)

    def _read_reply(self, data: Mapping[str, Any], request: GenerateRequest) -> Reply:
        try:
            reply = reply_from_json(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._missing_answer(request, f"a reply that cannot be read ({error})") from error
        if len(reply.completions) < request.n:
            raise self._missing_answer(request, f"{len(reply.completions)} completions instead of {request.n}")
        return reply

    def _missing_answer(self, request: GenerateRequest, content: str) -> FatalModelError:
        return FatalModelError(
            f"no recorded answer for {_sample_text(request.origin.key, request.origin.role)}: the file has {content}",
            where=str(self._path),
            fix="Add the answer to the file, or run the samples that it has.",
        )


def _answered_keys(line: Any) -> list[tuple[SampleKey, str]]:
    """Return the samples and roles that a line answers. Raises ValueError, KeyError, TypeError, AttributeError."""
    doc = line["doc_id"] if "doc_id" in line else line["doc"]
    if isinstance(doc, dict):
        raise TypeError("doc is not a name")
    condition, repeat = str(line.get("condition", "default")), int(line.get("repeat", 0))
    key = SampleKey(str(line["task"]), str(doc), condition, repeat)
    if "calls" in line:
        return [(key, role) for role in dict.fromkeys(str(call["role"]) for call in line["calls"])]
    if not isinstance(line["answers"], list):
        raise TypeError("answers is not a list")
    return [(key, str(line.get("role", "target")))]


def _answer_files(path: Path) -> list[Path]:
    """Return the file itself, or the samples of a run folder."""
    if not path.is_dir():
        return [path]
    folder = path / "samples" if (path / "samples").is_dir() else path
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise DataError(
            "the folder has no recorded samples",
            where=str(path),
            fix="Name a run folder, or a JSONL file of answers.",
        )
    return files


def _draw(origin: Origin) -> int:
    """Return the number of the independent answer that is requested; in the identity the attempt follows it."""
    return int(origin.identity[-2]) if origin.identity is not None else 0


def _question_digest(role: str, messages: Any, draw: int) -> bytes:
    contents = [[message["role"], message.get("digest") or content_digest(message["content"])] for message in messages]
    text = json.dumps([role, contents, draw])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _sample_text(key: SampleKey, role: str) -> str:
    text = f"task {key.task!r}, doc {key.doc!r}, condition {key.condition!r}, repeat {key.repeat}"
    return text if role == "target" else f"{text}, role {role!r}"


def replay(model: str, options: ProviderOptions) -> Replay:
    """Component `replay`: `model` is the path of a file or run folder."""
    return Replay(Path(model).expanduser())
