"""The session of a sample that is being made."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from creval.engine.planning.seeds import derive, sample_seed
from creval.engine.roles.context import TaskContext
from creval.engine.roles.ledger import CallOrigin, Ledger, question_key
from creval.engine.roles.role_models import TARGET, RoleModels
from creval.errors import BudgetError, CrevalError, FatalModelError, ModelError, RunError, UsageError
from creval.models.answers.flags import AT_LIMIT, ENDLESS_THINKING
from creval.models.model import Model
from creval.models.secrets import redact
from creval.parsing.chain import ParserChain
from creval.tasks.prompt_overrides import with_system
from creval.tasks.task_model import Task
from creval.tasks.templates.rendering import render_prompt
from creval.types.components import Parsed, TaskProtocol
from creval.types.content import MediaPart
from creval.types.execution import WorkItem
from creval.types.likelihoods import Loglikelihood, LoglikelihoodCall, LoglikelihoodRequest, Output
from creval.types.messages import GenerateRequest, Message, Origin, Reply
from creval.types.reply_json import lost_to_json, reply_to_json
from creval.types.sample import CallRecord, Condition, Doc, Status
from creval.types.tools import Tool

__all__ = ["LiveSession", "SampleEnd", "TaskRuntime"]

_SEED_LIMIT = 2**31 - 1
_TOLERABLE = frozenset({"length", "refusal", "empty"})
BY_SAMPLE = "sample"
"""The value of the generation setting `seed` for a separate seed of each sample."""


class SampleEnd(Exception):
    """Ends a sample early with a status; raised through the protocol."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class TaskRuntime(NamedTuple):
    """The state that the samples of one task share. `generation` are the settings of the task, without conditions.

    `own_tags` and `keep_reasoning`: see GenerateRequest. `answers`: how many the protocol asks for in one call.
    `system`: what the user puts before the messages of every call of the target.
    """

    task: Task
    protocol: TaskProtocol
    chain: ParserChain
    context: TaskContext
    models: RoleModels
    ledger: Ledger
    generation: Mapping[str, Any]
    overrides: Mapping[str, Any]
    condition_names: frozenset[str]
    seed: int
    own_tags: frozenset[str] = frozenset()
    keep_reasoning: bool = False
    answers: int = 1
    system: str | None = None


class LiveSession:
    """The `Session` of one sample; it records what happens."""

    def __init__(self, runtime: TaskRuntime, work: WorkItem) -> None:
        self._runtime = runtime
        self._work = work
        self._last_messages: dict[str, list[dict[str, Any]]] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}
        self._counts: dict[str, int] = {}
        self._draws: dict[str, int] = {}
        self._random: random.Random | None = None
        self.seed = sample_seed(runtime.seed, work.key)
        self.calls: list[CallRecord] = []
        self.answers: list[str] = []
        self.outcome: dict[str, Any] = {}
        self.media: dict[str, MediaPart] = {}
        self.end: SampleEnd | None = None
        self.stop: CrevalError | None = None

    @property
    def doc(self) -> Doc:
        return self._work.doc

    @property
    def condition(self) -> Condition:
        return self._work.condition

    @property
    def repeat(self) -> int:
        return self._work.repeat

    @property
    def random(self) -> random.Random:
        if self._random is None:
            self._random = random.Random(self.seed)
        return self._random

    @property
    def context(self) -> TaskContext:
        return self._runtime.context

    def prompt(self, name: str = "prompt", **extra: Any) -> list[Message]:
        """Render a prompt of the task for this doc, with the fields in `extra` added to the doc's."""
        task = self._runtime.task
        return render_prompt(task, name, {**self.doc.fields, **extra} if extra else self.doc.fields)

    async def ask(
        self,
        messages: Sequence[Message],
        role: str = TARGET,
        tolerate: Collection[str] = (),
        tools: Sequence[Tool] | None = None,
        **settings: Any,
    ) -> Reply:
        """Ask a model and record the call. Once the sample has ended, every further call ends it again."""
        if self.end is not None:
            raise self.end
        if tolerate and (unknown := sorted(set(tolerate) - _TOLERABLE)):
            raise ValueError(f"tolerate takes {' and '.join(sorted(_TOLERABLE))}, not {unknown[0]!r}")
        request = self._request(messages, role, settings)
        if tools is None and role == TARGET:
            tools = self._runtime.task.tools
        if tools:
            request = replace(request, tools=tuple(tools))
        model = self._runtime.models.get(role, self._runtime.task.role_models.get(role))
        if role == TARGET:
            request = self._seeded(request, model.traits.remote)
        asking = model.generate(request) if role == TARGET else self._through_ledger(model, request)
        reply = await self._recorded(request, asking)
        if role == TARGET:
            self._check_reply(request, reply, tolerate, model.traits.verbatim)
            blank = request.n == 1 and not model.traits.verbatim and not reply.text.strip()
            if blank and "empty" not in tolerate and not (request.tools and reply.tool_calls):
                self._end(Status.UNPARSED, _why_empty(reply))
        return reply

    async def loglikelihood(
        self, requests: Sequence[LoglikelihoodRequest], output: Output = "loglikelihood", **settings: Any
    ) -> Sequence[Loglikelihood]:
        """Ask the target how likely given texts are, those after one context in one call, and record the calls."""
        if self.end is not None:
            raise self.end
        model = self._runtime.models.get(TARGET)
        places: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            places.setdefault(request.context, []).append(place)
        likelihoods: dict[int, Loglikelihood] = {}
        for context, group in places.items():
            base_request = self._request([Message("user", context)] if context else [], TARGET, settings)
            known = self._runtime.condition_names  # settings of sampling have no meaning here
            call = LoglikelihoodCall(
                base_request.messages,
                {name: value for name, value in base_request.settings.items() if name not in known},
                base_request.origin,
                by_reference=base_request.by_reference,
                requests=tuple(requests[place] for place in group),
                output=output,
            )
            reply = await self._recorded(call, model.loglikelihood(call))
            likelihoods.update(zip(group, map(Loglikelihood.of, reply.completions), strict=True))
        return [likelihoods[place] for place in range(len(requests))]

    async def _recorded(self, request: GenerateRequest, asking: Awaitable[Reply]) -> Reply:
        """Wait for a reply and record the call, or why it failed."""
        try:
            reply = await asking
        except ModelError as error:
            self._record(request, error)
            raise
        except (BudgetError, RunError, UsageError) as error:
            self.stop = error
            raise
        self._record(request, reply)
        return reply

    async def _through_ledger(self, model: Model, request: GenerateRequest) -> Reply:
        """Ask another role than the target; a repeated question within the sample is its next draw."""
        asking = CallOrigin("generation", about_sample=True)
        question = question_key(model, request, asking)
        asking = asking._replace(draw=self._draws.get(question, 0))
        self._draws[question] = asking.draw + 1
        return await self._runtime.ledger.ask(model, request, asking)

    def _check_reply(self, request: GenerateRequest, reply: Reply, tolerate: Collection[str], verbatim: bool) -> None:
        """End the sample where the target was cut or declined. Raises where it lacks what the task requires."""
        for completion in reply.completions:
            refused = completion.refusal or completion.finish_reason == "content_filter"
            if refused and "refusal" not in tolerate:
                self._end(Status.REFUSED, completion.refusal or "stopped by the provider's content filter")
            if completion.finish_reason == "length" and "length" not in tolerate:
                contradiction = " although the server reports it as whole" if AT_LIMIT in reply.flags else ""
                self._end(Status.TRUNCATED, f"the answer was cut at the token limit{contradiction}")
            missing = completion.logprobs is None and completion.text and request.settings.get("logprobs")
            if missing and not verbatim:
                self._end_without_logprobs()

    def _end_without_logprobs(self) -> None:
        if "logprobs" in self._runtime.task.requires:
            raise FatalModelError(
                "the model returns no log-probabilities, which the task needs",
                where=self._runtime.task.name,
                fix="Use a model or provider that returns them, or leave the task out.",
                every_call=True,
            )

    def _end(self, status: Status, reason: str) -> NoReturn:
        self.end = SampleEnd(status, reason)
        raise self.end

    def parse(self, text: str) -> Parsed:
        """Read a text with the task's parser chain."""
        return self._runtime.chain.parse(text)

    def answer(self, text: str) -> None:
        """Append a final answer."""
        self.answers.append(text)

    def report(self, **outcome: Any) -> None:
        """Add plain data to the sample's outcome."""
        self.outcome.update(outcome)

    def unparsed(self, reason: str) -> None:
        """End as unparsed."""
        self._end(Status.UNPARSED, reason)

    def _request(self, messages: Sequence[Message], role: str, call_settings: Mapping[str, Any]) -> GenerateRequest:
        runtime = self._runtime
        settings = {**runtime.task.role_settings.get(role, {}), **call_settings, **runtime.models.settings(role)}
        if role == TARGET:
            messages = with_system(messages, runtime.system)
            cell = {k: v for k, v in self.condition.settings.items() if k in runtime.condition_names}
            settings = {**runtime.generation, **cell, **call_settings, **runtime.overrides}
        n = int(settings.pop("n", 1) or 1)
        call = self._counts.get(role, 0)
        self._counts[role] = call + 1
        origin = Origin(self._work.key, role, call, self.doc.fields, self.condition)
        effective = {name: value for name, value in settings.items() if value is not None}
        reading = (runtime.own_tags, runtime.keep_reasoning)
        return GenerateRequest(tuple(messages), effective, origin, n, *reading, runtime.task.by_reference)

    def _seeded(self, request: GenerateRequest, remote: bool) -> GenerateRequest:
        """Set the call's own seed: always for a model in this process, for others if the setting is `seed: sample`."""
        seed_setting = request.settings.get("seed", None if remote else BY_SAMPLE)
        if seed_setting != BY_SAMPLE:
            return request
        seed = derive(self.seed, "call", request.origin.call) % _SEED_LIMIT
        return replace(request, settings={**request.settings, "seed": seed})

    def _record(self, request: GenerateRequest, outcome: Reply | ModelError) -> None:
        role = request.origin.role
        messages = [message.to_json() for message in request.messages]
        for message in request.messages:
            if not message.plain:
                self.media |= {part.digest: part for part in message.media if part.data}
        before = self._last_messages.get(role, [])
        repeated = 0
        while repeated < min(len(before), len(messages)) and before[repeated] == messages[repeated]:
            repeated += 1
        self._last_messages[role] = messages
        settings = {**request.settings, "n": request.n} if request.n > 1 else request.settings
        data = reply_to_json(outcome) if isinstance(outcome, Reply) else None
        error = redact(str(outcome)) if isinstance(outcome, ModelError) else None
        lost = lost_to_json(outcome.lost) if outcome.lost is not None else None
        tools = [tool.to_json() for tool in request.tools] if request.tools != self._tools.get(role, ()) else ()
        self._tools[role] = request.tools
        output = request.output if isinstance(request, LoglikelihoodCall) else None
        self.calls.append(CallRecord(role, repeated, messages[repeated:], data, error, settings, lost, tools, output))


def _why_empty(reply: Reply) -> str:
    """Return why a reply with an empty text is not an answer."""
    if ENDLESS_THINKING in reply.flags:
        return "the model's thinking never ends, so there is no answer"
    if reply.completions and reply.completions[0].finish_reason == "tool_calls":
        return "the model called a tool in place of an answer"
    if reply.completions and reply.completions[0].reasoning:
        return "the model reasoned, but gave no answer"
    return "the model gave an empty answer"
