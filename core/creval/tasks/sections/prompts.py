"""`prompt:` and `prompts:`: the templates of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from creval.plugins.registry import Component
from creval.tasks.model import PromptMessage
from creval.tasks.sections.reading import Reading
from creval.tasks.yaml.nodes import KeyPath, Node

__all__ = ["read_prompts"]

PLAIN = "prompt"


def read_prompts(reading: Reading, protocol: Component | None) -> Mapping[str, Sequence[PromptMessage]]:
    """Return all prompts by name; `prompt:` is the one of that name."""
    prompts: dict[str, Sequence[PromptMessage]] = {}
    single = reading.section(PLAIN)
    if single is not None and reading.sound((PLAIN,)):
        prompts[PLAIN] = _messages(reading, single, (PLAIN,))
    for path, name, node in reading.members("prompts"):
        if name == PLAIN and single is not None:
            reading.add(node.key or node.place, f"the prompt {PLAIN!r} stands twice", path, "Remove one of the two.")
            continue
        prompts[name] = _messages(reading, node, path)
    for name in protocol.prompts if protocol is not None else ():
        if name not in prompts and reading.sound((PLAIN,)) and reading.sound(("prompts", name)):
            cure = "Add the key prompt." if name == PLAIN else f"Add {name} to prompts."
            message = f"the protocol {protocol.name if protocol else ''} needs the prompt {name!r}, which is missing"
            reading.add(reading.root.place, message, (), cure)
    return prompts


def _messages(reading: Reading, node: Node, path: KeyPath) -> Sequence[PromptMessage]:
    messages = []
    for index, member in enumerate(node.value):
        content = member.value["content"]
        message = PromptMessage(
            role=member.value["role"].value,
            template=content.value,
            line=content.place.text_line or content.place.line,
            file=content.place.file,
        )
        messages.append(message)
        _check_syntax(reading, message, content, (*path, index, "content"))
    return tuple(messages)


def _check_syntax(reading: Reading, message: PromptMessage, node: Node, path: KeyPath) -> None:
    from creval.tasks.templates.rendering import syntax_problem

    problem = syntax_problem(message, node.place.file, path)
    if problem is not None:
        reading.problems.append(problem)
