"""Reads `prompt:` and `prompts:`, the templates of messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from creval.errors import nearest
from creval.plugins.registry import Component
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_components import FoundComponent, whole_refs
from creval.tasks.task_model import ComponentRef, PromptMessage, PromptPart
from creval.tasks.yaml.nodes import KeyPath, Node

__all__ = ["check_prompts", "media_fields", "named_prompts", "read_messages", "read_prompts"]

PLAIN = "prompt"
PROMPT_KEY = "x-prompt"
"""A mark in a parameter's JSON Schema: the value names a prompt of the task."""


def read_prompts(reading: Reading) -> Mapping[str, Sequence[PromptMessage]]:
    """Return all prompts by name; `prompt:` is the one of that name."""
    prompts: dict[str, Sequence[PromptMessage]] = {}
    single = reading.section(PLAIN)
    if single is not None and reading.sound((PLAIN,)):
        prompts[PLAIN] = read_messages(reading, single, (PLAIN,))
    for path, name, node in reading.members("prompts"):
        if name == PLAIN and single is not None:
            reading.add(node.key or node.place, f"the prompt {PLAIN!r} occurs twice", path, "Remove one of the two.")
            continue
        prompts[name] = read_messages(reading, node, path)
    return prompts


def check_prompts(reading: Reading, components: Sequence[FoundComponent], known: Collection[str]) -> None:
    """Check that every prompt that a component needs, or that its parameter names (`x-prompt`), exists."""
    if not (reading.sound((PLAIN,)) and reading.sound(("prompts",)) and reading.sound(("roles",))):
        return
    for found in components:
        for part, ref in whole_refs(found.component, found.ref, reading.registry):
            for name, key in [*((name, None) for name in part.prompts), *named_prompts(part, ref)]:
                if name in known:
                    continue
                message = f"the {part.kind} {part.name} needs the prompt {name!r}, which is missing"
                near = nearest(name, known)
                fix = "Add the key prompt." if name == PLAIN else f"Add {name} to prompts, or to those of a role."
                fix = f"Did you mean {near[0]!r}?" if near and key else fix
                place = found.written.node.place if key else reading.root.place
                reading.add(place, message, found.written.path if key else (), fix)


def named_prompts(part: Component, ref: ComponentRef) -> Iterator[tuple[str, str]]:
    """Yield the prompts (one or a list) that a component's parameters, or their defaults, name, with the key."""
    for key, about in part.parameters.get("properties", {}).items():
        if isinstance(about, Mapping) and about.get(PROMPT_KEY) and (key in ref.parameters or "default" in about):
            given = ref.parameters.get(key, about.get("default"))
            yield from ((str(name), key) for name in (given if isinstance(given, list) else [given]))


def read_messages(reading: Reading, node: Node, path: KeyPath) -> Sequence[PromptMessage]:
    """Return the messages of one prompt; syntax errors are added to the problems."""
    messages = []
    for index, member in enumerate(node.value):
        content, place = member.value["content"], (*path, index, "content")
        role = member.value["role"].value
        if not content.is_list:
            messages.append(_message(role, content))
            _check_syntax(reading, messages[-1], content, place)
            continue
        parts = []
        for number, part in enumerate(content.value):
            ((kind, template),) = part.value.items()
            single = _message(role, template)
            _check_syntax(reading, single, template, (*place, number, kind))
            parts.append(PromptPart(kind, single.template, single.line))
            if kind != "text" and not _names_media(single.template):
                fix = 'Name a field of the docs that holds it: "{{ picture }}". Files are found next to the data file.'
                reading.add(template.place, f"{single.template[:60]!r} names no {kind}", (*place, number, kind), fix)
        whole = "\n".join(part.template for part in parts)
        messages.append(PromptMessage(role, whole, parts[0].line, content.place.file, tuple(parts)))
    return tuple(messages)


def _message(role: Literal["system", "user", "assistant"], text: Node) -> PromptMessage:
    place = text.place
    return PromptMessage(role, text.value, place.text_line or place.line, place.file)


def _names_media(template: str) -> bool:
    """Whether a part's template uses a field or is an address; a task file does not name files directly."""
    return "{{" in template or template.startswith(("https://", "http://", "data:"))


def media_fields(prompts: Iterable[Sequence[PromptMessage]]) -> Sequence[str]:
    """Return the fields of docs from which prompts take images, audio or files, in order."""
    from creval.tasks.templates.rendering import fields_of

    parts = [part for messages in prompts for message in messages for part in message.parts if part.kind != "text"]
    return tuple(dict.fromkeys(name for part in parts for name in sorted(fields_of(part.template))))


def _check_syntax(reading: Reading, message: PromptMessage, node: Node, path: KeyPath) -> None:
    from creval.tasks.templates.rendering import syntax_problem

    problem = syntax_problem(message, node.place.file, path)
    if problem is not None:
        reading.problems.append(problem)
