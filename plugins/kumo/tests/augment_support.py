"""What the tests of the augmenter share: a model behind a loopback server, and a configuration as a model writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from support.chat_server import ChatServer

from creval.models.model import Model
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.plugins import builtin as builtin_models
from creval.plugins.registry import Registry
from creval_kumo.augment.asking import Augmenter
from creval_kumo.domains import load_domain
from creval_kumo.domains.domain import Domain, Interval, Noun, State

Result = TypeVar("Result")


def ask_server(server: ChatServer, work: Callable[[Augmenter], Awaitable[Result]]) -> Result:
    """Let `work` ask the model behind the server; failed calls are not tried again."""
    registry = Registry()
    builtin_models.register_providers(registry.scoped("core"))

    async def asking() -> Result:
        model: Model = open_model("openai/test", registry, ModelOptions(base_url=server.url, max_retries=0))
        try:
            return await work(Augmenter(model, "test"))
        finally:
            await model.close()

    return asyncio.run(asking())


def messages(server: ChatServer, number: int) -> list[dict[str, str]]:
    """The messages of a request."""
    sent: list[dict[str, str]] = server.requests[number].body["messages"]
    return sent


def configuration(domain: Domain) -> str:
    """A domain as the Python that a model would write, in a fence."""
    outcomes = []
    for action in domain.actions:
        states = ", ".join(f"{_state(one.state)}: {_names(sorted(one.rules_out))}" for one in action.outcomes)
        outcomes.append(f"    {action.name!r}: {{'type': {action.type!r}, 'states': {{{states}}}}},  # a test\n")
    truths = "".join(f"    {truth.name!r},\n" for truth in domain.truths)
    actions = "".join(f"    {action.name!r},\n" for action in domain.actions)
    code = f"Truths = [\n{truths}]\n\nActions = [\n{actions}]\n\nOutcomes = {{\n{''.join(outcomes)}}}\n"
    return f"Here it is:\n\n```python\n{code}```\n\nI hope that it fits."


def _state(state: State) -> str:
    return repr((state.lo, state.hi)) if isinstance(state, Interval) else repr(state)


def _names(names: list[str]) -> str:
    return f"set({names!r})" if len(names) % 2 else "{" + ", ".join(map(repr, names)) + "}" if names else "set()"


def proposal_row(name: str = "medicine_two") -> dict[str, Any]:
    """A proposal as plain data."""
    domain = load_domain("medical")
    return {
        "Name": name,
        "Goal": domain.goal,
        "Truths": "Diseases",
        "Actions": "Diagnostic tests / laboratory tests",
        "Truth noun": ["disease", "diseases"],
        "Action noun": ["diagnostic test", "diagnostic tests"],
    }


def as_written(domain: Domain) -> Domain:
    """What of a domain a configuration can tell: no descriptions and units."""
    from dataclasses import replace

    return replace(
        domain,
        name="medicine_two",
        title="Medicine two",
        truth_noun=Noun("disease", "diseases"),
        action_noun=Noun("diagnostic test", "diagnostic tests"),
        truths=tuple(replace(truth, about="") for truth in domain.truths),
        actions=tuple(replace(action, about="", unit="") for action in domain.actions),
    )
