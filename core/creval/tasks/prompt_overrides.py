"""Applies what a user changes in the prompts of tasks: the number of examples, and a system message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from creval.errors import UsageError
from creval.plugins.registry import Component, Registry
from creval.tasks.sections.settings import varied_settings
from creval.tasks.task_model import FewShot, PromptMessage, Task
from creval.types.content import TextPart
from creval.types.messages import Message

__all__ = ["check_system", "with_examples", "with_system"]

_FEW_SHOT = "--few-shot"
_PROMPT = "prompt"


def with_examples(task: Task, number: int | None, registry: Registry) -> Task:
    """Return the task with this number of examples before the question (None: unchanged).

    A task that states `few_shot` keeps everything but the number. For others the examples are the first docs of the
    task's data, as turns of the conversation, with the answers of the task's ceiling. Raises UsageError if the task
    cannot have examples.
    """
    if number is None:
        return task
    few_shot = None
    if number or (
        task.few_shot is not None and task.few_shot.header is not None
    ):  # the header is shown without examples, too
        few_shot = _examples(task, registry) if task.few_shot is None else task.few_shot
        few_shot = replace(few_shot, number=number)
    return replace(task, dataset=replace(task.dataset, few_shot=few_shot))


def _examples(task: Task, registry: Registry) -> FewShot:
    """Return the `few_shot` of a task that does not state it."""
    protocol = registry.get("protocol", task.protocol.name)
    roles = [message.role for message in task.prompts.get(_PROMPT, ())]
    if _PROMPT not in protocol.prompts or "user" not in roles:
        what = f"{task.name!r} takes no examples: its protocol {task.protocol.name!r} has its own prompts"
        raise UsageError(what, where=_FEW_SHOT, fix=_alternative(protocol, "num_fewshot", "N"))
    unknown = UsageError(
        f"{task.name!r} does not define the answer of an example",
        where=_FEW_SHOT,
        fix="Write few_shot: {n: 1, answer: ...} into its YAML (docs/task-yaml.md), or leave the task out.",
    )
    if protocol.protocol_traits(task.protocol.parameters).loglikelihood:
        if task.dataset.choices is None:
            raise unknown
        delimiter = task.protocol.parameters.get("delimiter", " ")
        return FewShot(1, turns=False, answer=PromptMessage("assistant", f"{delimiter}{{{{ target_text }}}}"))
    ceiling = task.baselines.get("ceiling")
    if ceiling is None:
        return FewShot(1)
    field = str(ceiling.parameters.get("field", "target"))
    if ceiling.name != "target" or not field.isidentifier():
        raise unknown
    single = f"{field} if {field} is string or {field} is number else {field} | first"
    form = ceiling.parameters.get("form", "{{ answer }}")
    return FewShot(1, answer=PromptMessage("assistant", f"{{% set answer = {single} %}}{form}"))


def check_system(tasks: Sequence[Task], registry: Registry, people: bool) -> None:
    """Raise UsageError if a task or a person cannot get a system message."""
    if people:
        raise UsageError("people see no system message", where="--system", fix="Leave it out.")
    for task in tasks:
        protocol = registry.get("protocol", task.protocol.name)
        if protocol.protocol_traits(task.protocol.parameters).loglikelihood:
            what = f"{task.name!r} asks how likely texts are, and a text has no system message"
            raise UsageError(what, where="--system", fix=_alternative(protocol, "system_instruction", "TEXT"))


def _alternative(protocol: Component, setting: str, value: str) -> str:
    """Return what to use instead of an option: the protocol's own setting if conditions can vary it."""
    varies = varied_settings(protocol)
    return f"Use --condition {setting}={value}." if setting in varies else "Leave the task or the option out."


def with_system(messages: Sequence[Message], system: str | None) -> Sequence[Message]:
    """Return messages with a text as system message, put before their own system message if there is one."""
    if system is None:
        return messages
    if not messages or messages[0].role != "system":
        return [Message("system", system), *messages]
    own = messages[0].content
    before = f"{system}\n\n"
    content = f"{before}{own}" if isinstance(own, str) else (TextPart(before), *own)
    return [replace(messages[0], content=content), *messages[1:]]
