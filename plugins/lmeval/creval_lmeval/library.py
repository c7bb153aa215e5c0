"""The parts of lm-eval in use: tasks, documents, requests, filters and metrics. Imports lm-eval when called.

A task is loaded with the seeds of lm-eval's command, so that its random draws are the same.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from creval.plugin import DataError, UnknownNameError, UsageError
from creval_lmeval.adapters import adapted_metrics, with_adapters
from creval_lmeval.code_eval import check_unsafe
from creval_lmeval.groups import Member, find_member
from creval_lmeval.names import need_lm_eval
from creval_lmeval.roots import known, root_of

__all__ = ["Chat", "LoadedTask", "Settings", "load_task", "quiet", "task_entry"]

_SEED, _NUMPY_SEED = 0, 1234
"""lm-eval's default seeds of `random` and NumPy."""
_FIRST = 128
"""Number of documents whose requests are built at first; each further step builds four times as many."""


class Chat(str):
    """A conversation in place of a context: its text is the messages as JSON."""

    __slots__ = ()

    @property
    def messages(self) -> Sequence[Mapping[str, str]]:
        """Return the messages; a final one of the assistant is to be continued."""
        found: Sequence[Mapping[str, str]] = json.loads(self)
        return found


class Settings(NamedTuple):
    """How a task's requests are made: the options of lm-eval's command."""

    num_fewshot: int | None = None
    apply_chat_template: bool = False
    fewshot_as_multiturn: bool = True
    system_instruction: str | None = None
    tokenizer: str | None = None
    seed: int = 1234


class Globals(NamedTuple):
    """The states of the global random generators."""

    python: Any
    numpy: Any

    @classmethod
    def now(cls) -> Globals:
        return cls(random.getstate(), np.random.get_state())

    def restore(self) -> None:
        """Set the generators to this state."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep lm-eval's progress bars, and its log messages, out of creval's output."""
    logger = logging.getLogger("lm_eval")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stderr(nowhere):  # noqa: PTH123
            yield
    finally:
        logger.setLevel(level)


@dataclass
class LoadedTask:
    """A task of lm-eval with its documents."""

    name: str
    task: Any
    docs: Sequence[Any]
    _after: Globals
    _built: dict[Settings, list[list[Any]]] = field(default_factory=dict)

    @property
    def filters(self) -> Sequence[Any]:
        """Return the filter pipelines, each with its name."""
        found: Sequence[Any] = self.task._filters
        return found

    @property
    def repeats(self) -> int:
        """Return the number of repeats of each request."""
        return int(getattr(self.task.config, "repeats", 1) or 1)

    def requests(self, doc: int, settings: Settings) -> Sequence[Any]:
        """Return lm-eval's instances of a document, in order."""
        built = self._built.get(settings, [])
        if doc >= len(built):
            built = self._built[settings] = self._build(min(len(self.docs), _enough(doc)), settings)
        return built[doc]

    def _build(self, count: int, settings: Settings) -> list[list[Any]]:
        """Build the requests of the first documents: examples are drawn from one stream, document by document."""
        task, before = self.task, Globals.now()
        own = task.get_config("num_fewshot")
        chat_template = None
        if settings.apply_chat_template:
            chat_template = _as_chat if settings.tokenizer is None else _as_text(settings.tokenizer)
        try:
            self._after.restore()
            wanted = settings.num_fewshot
            task.set_config(key="num_fewshot", value=own or 0 if wanted is None or own == 0 else wanted)
            task.set_fewshot_seed(seed=settings.seed)
            with quiet():
                task.build_all_requests(
                    limit=count,
                    system_instruction=settings.system_instruction,
                    apply_chat_template=settings.apply_chat_template,
                    fewshot_as_multiturn=settings.fewshot_as_multiturn,
                    chat_template=chat_template,
                )
        finally:
            task.set_config(key="num_fewshot", value=own)
            before.restore()
        found: list[list[Any]] = [[] for _ in range(count)]
        for instance in task.instances:
            found[instance.doc_id].append(instance)
        task._instances = None
        return [sorted(each, key=lambda instance: int(instance.idx)) for each in found]

    def process(
        self, doc: int, kinds: Sequence[str], responses: Sequence[Sequence[Any]]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each filter with a document's metrics. `responses` are those of the document's requests, in order."""
        from lm_eval.api.instance import Instance

        content = self.docs[doc]
        about = (self.name, doc, self.repeats)
        instances = [Instance(kind, content, (), place, about) for place, kind in enumerate(kinds)]
        for instance, given in zip(instances, responses, strict=True):
            instance.resps = list(given)
        for pipeline in self.filters:
            pipeline.apply(instances)
            given = [instance.filtered_resps[pipeline.name] for instance in instances]
            yield pipeline.name, self.task.process_results(content, given)

    def aggregation(self, metric: str) -> Callable[[Sequence[Any]], Any]:
        """Return lm-eval's function that aggregates a metric's values; the mean if the task names none."""
        from lm_eval.api.metrics import mean

        found: Callable[[Sequence[Any]], Any] = self.task.aggregation().get(metric, mean)
        return found if getattr(found, "__module__", "") == mean.__module__ else with_adapters(found)


def _enough(doc: int) -> int:
    count = _FIRST
    while count <= doc:
        count *= 4
    return count


def _as_chat(messages: Sequence[Mapping[str, str]], add_generation_prompt: bool = True) -> Chat:
    return Chat(json.dumps(messages, ensure_ascii=False))


@lru_cache(maxsize=4)
def _as_text(tokenizer: str) -> Callable[..., str]:
    """Return the function that applies a tokenizer's chat template, as lm-eval does for one of its own models."""
    from transformers import AutoTokenizer

    try:
        made = AutoTokenizer.from_pretrained(tokenizer)
    except Exception as error:
        raise UsageError(f"the tokenizer {tokenizer!r} cannot be opened: {error}", where="lmeval") from error

    def applied(messages: Sequence[Mapping[str, str]], add_generation_prompt: bool = True) -> str:
        continues = not add_generation_prompt
        return str(
            made.apply_chat_template(
                messages,
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                continue_final_message=continues,
            )
        )

    return applied


def task_entry(name: str) -> Any:
    """Return lm-eval's own index entry of a task."""
    from lm_eval.tasks._index import Entry, Kind

    found = known().get(name)
    if found is None or found.kind != "task":
        raise UnknownNameError("task of lm-eval", name, [each.name for each in known().values() if each.kind == "task"])
    return Entry(name, Kind.TASK, Path(found.file))


@lru_cache(maxsize=128)
def load_task(name: str, sources: str = "") -> LoadedTask:
    """Load a task with its documents. `sources`: see `roots`. Raises DataError if its data cannot be loaded.

    A task that a group changes is named `GROUP::TASK`.
    """
    need_lm_eval()
    root_of(name, sources)
    before = Globals.now()
    try:
        random.seed(_SEED)
        np.random.seed(_NUMPY_SEED)
        with quiet(), adapted_metrics():
            task = _build_task(name)
            check_unsafe(name, task)
            _check_media(name, task)
            docs = list(task.eval_docs)
        after = Globals.now()
    except (DataError, UsageError, UnknownNameError):
        raise
    except Exception as error:  # whatever a task's own code or `datasets` raises
        raise _not_loaded(name, error) from error
    finally:
        before.restore()
    return LoadedTask(name, task, docs, after)


def _build_task(name: str) -> Any:
    from lm_eval.tasks._factory import TaskFactory

    factory = TaskFactory(meta={})
    if "::" not in name:
        return factory.build(task_entry(name), overrides=None, registry={})
    member: Member = find_member(name, known(), functions=True)
    if member.base is None:
        from lm_eval.api.task import ConfigurableTask

        return ConfigurableTask(config={"metadata": {}, **member.overrides, "task": name})
    return factory.build(task_entry(member.base), overrides={"task": member.base, **member.overrides}, registry={})


def _check_media(name: str, task: Any) -> None:
    """Raise DataError if a task uses images or audio."""
    if getattr(task, "MULTIMODAL", False):
        raise DataError(
            "the task asks with images or audio, which creval-lmeval does not send",
            where=f"lmeval/{name}",
            fix="Leave it out, or write a task of creval, whose prompts may show images (docs/task-yaml.md).",
        )


def _not_loaded(name: str, error: Exception) -> DataError:
    said = " ".join(str(error).split())[:300]
    fix = "Its data come from the Hugging Face Hub, or from a folder of that name where the command runs."
    if isinstance(error, ModuleNotFoundError):
        fix = f"Install what it imports: pip install {(error.name or '').partition('.')[0]}"
    return DataError(f"the task cannot be loaded: {type(error).__name__}: {said}", where=f"lmeval/{name}", fix=fix)
