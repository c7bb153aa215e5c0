"""Reads `roles:` and `human:`: who takes part besides the target.

`roles` are other models with their settings and prompts, `human` is the wording for people who answer the task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.errors import nearest
from creval.plugins.loader import LOCAL
from creval.tasks.sections.prompts import read_messages
from creval.tasks.sections.resource_section import role_behind
from creval.tasks.sections.section_reader import Reading
from creval.tasks.sections.settings import read_settings
from creval.tasks.task_components import FoundComponent, whole
from creval.tasks.task_model import HumanWording, PromptMessage
from creval.tasks.task_paths import names_a_stray
from creval.tasks.yaml.nodes import KeyPath, Node, walk

__all__ = ["Roles", "add_asked", "read_human", "read_roles"]


KEY = "human"


def read_human(reading: Reading, protocol: str | None) -> HumanWording | None:
    """Return a task's wording for people, or None; faults are added to the problems."""
    from creval.tasks.templates.rendering import syntax_problem

    node = reading.section(KEY)
    if node is None or not reading.sound((KEY,)):
        return None
    if protocol is not None and protocol.rpartition("/")[2] != "chat":
        fix = "Leave it out: the protocol defines the questions, and a screen of its plugin how people see them."
        reading.add(node.key or node.place, f"the protocol {protocol!r} asks more than one prompt", (KEY,), fix)
        return None
    content = node.value["prompt"]
    line = content.place.text_line or content.place.line
    message = PromptMessage("user", content.value, line, content.place.file)
    problem = syntax_problem(message, content.place.file, (KEY, "prompt"))
    if problem is not None:
        reading.problems.append(problem)
    words, guide = node.get("words"), node.get("guide")
    return HumanWording(prompt=message, words=int(words.value) if words else 0, guide=str(guide.value) if guide else "")


_TARGET = "target"


@dataclass(slots=True)
class Roles:
    """The roles of a task: those in the file, then others that its components ask. `making` are the protocol's."""

    names: Sequence[str] = ()
    models: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    prompts: dict[str, Mapping[str, Sequence[PromptMessage]]] = field(default_factory=dict)
    making: Sequence[str] = ()

    def prompt_names(self) -> set[str]:
        """Return the names of all prompts of roles."""
        return {name for own in self.prompts.values() for name in own}


def read_roles(reading: Reading, task_prompts: Mapping[str, Sequence[PromptMessage]]) -> Roles:
    """Read the section; a role's prompt may not have the name of one of the task's prompts (`task_prompts`)."""
    roles = Roles()
    node = reading.section("roles")
    if node is None or not reading.sound(("roles",)):
        return roles
    if not node.is_mapping:
        roles.names = [member.value for member in node.value]
        return roles
    roles.names = list(node.value)
    for path, name, member in reading.members("roles"):
        _check_model(reading, name, member, path)
        if member.is_mapping:
            _read_role(reading, roles, (name, member, path), task_prompts)
        elif member.value is not None:
            roles.models[name] = member.value
    return roles


def _check_model(reading: Reading, name: str, member: Node, path: KeyPath) -> None:
    """Refuse, in a task outside all plugins, a model that is an address or a file outside of the task's folder."""
    model = member.get("model") if member.is_mapping else member
    if reading.owner.plugin != LOCAL or model is None or model.value is None:
        return
    if names_a_stray(str(model.value), model.place.file.parent):
        what = f"the model {str(model.value)!r} is outside of the task's folder"
        reading.add(model.place, what, path, f"Users of the task may add: --role {name}=...")


def _read_role(
    reading: Reading,
    roles: Roles,
    role: tuple[str, Node, KeyPath],
    task_prompts: Mapping[str, Sequence[PromptMessage]],
) -> None:
    name, node, path = role
    model, generation, prompts = node.get("model"), node.get("generation"), node.get("prompts")
    if model is not None and model.value is not None:
        roles.models[name] = model.value
    if generation is not None and generation.is_mapping:
        roles.settings[name] = read_settings(reading, generation, (*path, "generation"))
    role_prompts: dict[str, Sequence[PromptMessage]] = {}
    for key, prompt in prompts.value.items() if prompts is not None and prompts.is_mapping else ():
        at = (*path, "prompts", key)
        if key in task_prompts or key in roles.prompt_names():
            message = f"the prompt {key!r} occurs twice"
            reading.add(prompt.key or prompt.place, message, at, "Rename one of the two: prompts are found by name.")
        role_prompts[key] = read_messages(reading, prompt, at)
    if role_prompts:
        roles.prompts[name] = role_prompts


def add_asked(
    reading: Reading, roles: Roles, protocol: FoundComponent | None, components: Sequence[FoundComponent]
) -> None:
    """Add the roles that the task's components ask, and record those of the protocol."""
    asked = _asked_roles(reading, components)
    _check_spelling(reading, roles, components, asked)
    roles.names = tuple(dict.fromkeys([*roles.names, *asked]))
    roles.making = tuple(_asked_roles(reading, [protocol] if protocol is not None else []))


def _check_spelling(reading: Reading, roles: Roles, components: Sequence[FoundComponent], asked: Sequence[str]) -> None:
    """Refuse a role that is missing in `roles` if its name resembles one in `roles` that nothing asks."""
    behind = [
        (role, path, node)
        for path, _, node in reading.members("resources")
        if (role := role_behind(str(node.value))) is not None
    ]
    unasked = [name for name in roles.names if name not in (*asked, *(role for role, _, _ in behind))]
    mentions: list[tuple[str, KeyPath, Node]] = list(behind)
    for component in components if unasked else ():
        written = component.written
        for role in _asked_roles(reading, [component]):
            at, node = next((pair for pair in walk(written.parameters) if pair[1].value == role), ((), written.node))
            mentions.append((role, (*written.path, *at), node))
    for role, path, node in mentions:
        near = nearest(role, unasked) if role not in roles.names else ()
        if near:
            reading.add(node.place, f"the task has no role {role!r}", path, f"Did you mean {near[0]!r}?")


def _asked_roles(reading: Reading, components: Sequence[FoundComponent]) -> list[str]:
    parts = [part for found in components for part in whole(found.component, found.ref, reading.registry)]
    return list(dict.fromkeys(role for part in parts for role in part.roles if role != _TARGET))
