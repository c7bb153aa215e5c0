"""The provider of `baseline/floor` and `baseline/ceiling`, and baselines that need no code.

The floor is what chance reaches, the ceiling what the best known solver reaches, both without a language model. The
baselines give a fixed answer, the doc's target, or one of its choices at random.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from creval.errors import CrevalError, FatalModelError, ScoringError, UnknownNameError, UsageError
from creval.models.local.choice_likelihoods import certain
from creval.models.model_options import BaselineFinder, ProviderOptions
from creval.models.provider_traits import ProviderTraits
from creval.numerals import number_text
from creval.tasks.task_model import PromptMessage
from creval.tasks.templates.rendering import render
from creval.types.code_location import line_of, source_of
from creval.types.components import Baseline, Context, Turn
from creval.types.likelihoods import LoglikelihoodCall
from creval.types.messages import Completion, GenerateRequest, Origin, Reply
from creval.types.sample import Condition

__all__ = ["BaselineProvider", "Fixed", "OneOf", "Target", "baseline", "check_baseline_name"]


def _field(turn: Turn, name: str) -> Any:
    if name not in turn.doc:
        raise ScoringError(f"the doc has no field {name!r}; it has {', '.join(turn.doc)}", where=turn.key.doc)
    return turn.doc[name]


def _missing_field_text(fields: Mapping[str, Any], name: str) -> str:
    return f"it has no field {name!r}; it has {', '.join(fields)}"


def _render_answer(form: str, value: Any, doc: Mapping[str, Any]) -> str:
    """Render an answer in the form that the task expects."""
    text = number_text(value) if isinstance(value, float) else str(value)
    if form == "{{ answer }}":
        return text
    return render([PromptMessage("assistant", form)], {**doc, "answer": text}, Path("baselines"))[0].text


@dataclass(frozen=True)
class Fixed:
    """Answers every doc with the same text."""

    text: str

    def reply(self, turn: Turn) -> str:
        """Return the text."""
        return self.text


@dataclass(frozen=True)
class Target:
    """Answers with the doc's target (the first of a list), in the form that the task's parsers read."""

    field: str = "target"
    form: str = "{{ answer }}"

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be answered (it lacks the field), or None."""
        return None if self.field in fields else _missing_field_text(fields, self.field)

    def reply(self, turn: Turn) -> str:
        """Return the target. Raises ScoringError if the doc has none."""
        target = _field(turn, self.field)
        value = target[0] if isinstance(target, list) and target else target
        return _render_answer(self.form, value, turn.doc)


@dataclass(frozen=True)
class OneOf:
    """Answers with one item of a field at random, like a guess among the choices."""

    field: str = "letters"
    form: str = "{{ answer }}"

    def doc_fault(self, fields: Mapping[str, Any]) -> str | None:
        """Return why a doc cannot be answered (it lacks the field, or the field has no choices), or None."""
        if self.field not in fields:
            return _missing_field_text(fields, self.field)
        items = fields[self.field]
        return None if isinstance(items, list) and items else f"its {self.field!r} holds no list to choose from"

    def reply(self, turn: Turn) -> str:
        """Return one item. Raises ScoringError if the field has none."""
        items = _field(turn, self.field)
        if not isinstance(items, list) or not items:
            raise ScoringError(f"the field {self.field!r} holds no list to choose from", where=turn.key.doc)
        return _render_answer(self.form, turn.random.choice(items), turn.doc)


_BASELINE_NAMES = ("floor", "ceiling")
_TARGET = "target"


class BaselineProvider:
    """A `Provider` that lets a task's own baseline answer.

    `find` returns the baseline of a task. Each call gets its own random stream, derived from the run's seed and the
    sample's key, so that the order of samples does not matter. Baselines run one at a time in a thread.
    """

    traits = ProviderTraits(remote=False, cacheable=False, concurrency=1, free=True, verbatim=True)

    def __init__(self, name: str, find: BaselineFinder) -> None:
        self._name = name
        self._find = find
        self._baselines: dict[str, tuple[Baseline, Context]] = {}

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the baseline's answer.

        Raises UsageError if the task has no such baseline or a part that it needs is missing, FatalModelError if the
        baseline fails on this doc.
        """
        answerer, context = self._baseline(request.origin.key.task)
        turns = [self._turn(request, context, index) for index in range(request.n)]
        completions = [await self._reply(answerer, turn, request.origin.role) for turn in turns]
        return Reply(tuple(completions), model=f"baseline/{self._name}", cost=0.0)

    async def loglikelihood(self, call: LoglikelihoodCall) -> Reply:
        """Return the likelihoods of a baseline that is certain of its answer. Raises as `generate` does."""
        answerer, context = self._baseline(call.origin.key.task)
        turn = replace(self._turn(call, context, 0), requests=call.requests)
        answer = await self._reply(answerer, turn, call.origin.role)
        return replace(certain(call, answer.text), model=f"baseline/{self._name}")

    async def close(self) -> None:
        """Do nothing: nothing is open."""

    async def _reply(self, answerer: Baseline, turn: Turn, role: str) -> Completion:
        try:
            answer = await asyncio.to_thread(answerer.reply, turn)
            if isinstance(answer, Completion):
                return answer
            if not isinstance(answer, str):
                raise TypeError(f"it returned a {type(answer).__name__}, not a text ({source_of(answerer.reply)})")
            return Completion(answer)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:
            if role != _TARGET:  # the question to a role may not be about the doc
                what = f"baseline/{self._name} of {turn.key.task!r} answers docs, not the questions to this role"
                fix = f"Name a model: --role {role}=<provider>/<model>"
                raise UsageError(what, where=f"--role {role}", fix=fix) from error
            if isinstance(error, CrevalError):
                raise FatalModelError(f"the {self._name} baseline failed: {error}", where=turn.key.task) from error
            raise FatalModelError(
                f"the {self._name} baseline failed on doc {turn.key.doc!r}: {type(error).__name__}: {error} "
                f"({line_of(error)})",
                where=turn.key.task,
                fix="The fault is in the baseline; report it to the plugin that adds the task.",
            ) from error

    def _baseline(self, task: str) -> tuple[Baseline, Context]:
        if task not in self._baselines:
            try:
                self._baselines[task] = self._find(task, self._name)
            except KeyError:
                raise UsageError(
                    f"the task {task!r} has no {self._name} baseline",
                    fix=f"Leave the task out, or name one in its YAML:  baselines: {{{self._name}: <component>}}",
                ) from None
        return self._baselines[task]

    def _turn(self, request: GenerateRequest, context: Context, index: int) -> Turn:
        origin = request.origin
        return Turn(
            doc=origin.doc,
            condition=origin.condition or Condition(origin.key.condition, request.settings),
            messages=request.messages,
            key=origin.key,
            call=origin.call,
            random=_random_stream(context.seed, self._name, origin, index),
            context=context,
            completion=index,
        )


def _random_stream(seed: int, name: str, origin: Origin, index: int) -> random.Random:
    """Return the random stream of one completion."""
    text = "\x1f".join(str(part) for part in (seed, name, *origin.key, origin.role, origin.call, index))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def check_baseline_name(name: str) -> None:
    """Raise UnknownNameError for a name other than `floor` and `ceiling`."""
    if name not in _BASELINE_NAMES:
        raise UnknownNameError("baseline", name, _BASELINE_NAMES, hint="Use baseline/floor or baseline/ceiling.")


def baseline(model: str, options: ProviderOptions) -> BaselineProvider:
    """Component `baseline`: `floor` or `ceiling`."""
    check_baseline_name(model)
    if options.find_baseline is None:
        raise UsageError(
            f"baseline/{model} answers only as the target of a task",
            fix="Give it as --model, or call it through creval.run.",
        )
    return BaselineProvider(model, options.find_baseline)
