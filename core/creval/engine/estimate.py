"""What a run would take: calls, tokens and price, from the first docs' prompts and the price table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from creval.engine.generation.session import LiveSession, TaskRuntime
from creval.engine.models import TARGET
from creval.engine.options import RunOptions
from creval.engine.planning.plan import TaskPlan, Work
from creval.engine.setup import Setup, open_plans, open_setup
from creval.errors import CrevalError, MissingPartError, UsageError
from creval.models.model import price_of
from creval.models.opening import listed_price
from creval.models.options import ModelOptions
from creval.plugins.loader import load_plugins
from creval.types.messages import GenerateRequest, Message, Origin

__all__ = ["TaskEstimate", "estimate_run"]

Pricing = Callable[[GenerateRequest], float | None]

LOOKED_AT = 50
_CHARACTERS_A_TOKEN = 4
_UNSTATED_ANSWER = 512


class TaskEstimate(NamedTuple):
    """One task's row. `calls` is a lower bound for protocols of several turns; `price` None: no price is known."""

    task: str
    samples: int
    calls: int
    input_tokens: int
    output_tokens: int
    price: float | None


def estimate_run(tasks: Sequence[str], model: str, options: RunOptions) -> list[TaskEstimate]:
    """Estimate every task: each call with the task's first prompt, as many a sample as the protocol expects.

    Raises UsageError where no task or model is named, and as a run does for wrong names.
    """
    if not tasks or not model:
        raise UsageError("a dry run needs --tasks and --model", cure="Add the one that is missing.")
    plugins = load_plugins()
    plans = open_plans(list(tasks), options, plugins)
    setup = open_setup([plan.task for plan in plans], {TARGET: model, **options.roles}, options, plugins)
    price = _pricing(setup, model, options)
    return [_estimate(plan, setup.runtime(plan.task), price) for plan in plans]


def _pricing(setup: Setup, model: str, options: RunOptions) -> Pricing:
    """Return what prices a request: the model, or where a key is missing, which nothing needs here, the table alone."""
    try:
        return setup.models.get(TARGET).estimate
    except MissingPartError:
        model_options = ModelOptions(base_url=options.base_url, offline=options.offline)
        price = listed_price(model, setup.plugins.registry, model_options)
        return lambda request: None if price is None else price_of(request, price)


def _estimate(plan: TaskPlan, runtime: TaskRuntime, pricing: Pricing) -> TaskEstimate:
    works = list(itertools.islice(plan.works(lambda key: False), LOOKED_AT))
    requests = [_request(runtime, work) for work in works]
    share = plan.total / len(works) if works else 0.0
    characters = sum(len(message.content) for request in requests for message in request.messages)
    turns = max(1, int(getattr(runtime.protocol, "expected_calls", 1)))
    calls = plan.total * turns
    answer = int(_settings(runtime).get("max_tokens") or _UNSTATED_ANSWER)
    prices = [pricing(request) for request in requests]
    known = [price for price in prices if price is not None]
    price = sum(known) * share * turns if len(known) == len(prices) else None
    tokens = int(characters / _CHARACTERS_A_TOKEN * share * turns)
    return TaskEstimate(plan.task.name, plan.total, calls, tokens, answer * calls, price)


def _settings(runtime: TaskRuntime) -> dict[str, Any]:
    settings = {**runtime.generation, **runtime.overrides}
    return {name: value for name, value in settings.items() if value is not None}


def _request(runtime: TaskRuntime, work: Work) -> GenerateRequest:
    session = LiveSession(runtime, work)
    messages: list[Message] = []
    for name in runtime.task.prompts:
        try:
            messages = session.prompt(name)
            break
        except CrevalError:
            continue  # a later prompt of a protocol may need what earlier turns gave
    return GenerateRequest(tuple(messages), _settings(runtime), Origin(work.key), 1)
