"""`prompt:` and `prompts:`: the templates of messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from creval.errors import nearest
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_components import FoundComponent, whole_refs
from creval.tasks.task_model import PromptMessage
from creval.tasks.yaml.nodes import KeyPath, Node

__all__ = ["check_prompts", "read_messages", "read_prompts"]

PLAIN = "prompt"
PROMPT_KEY = "x-prompt"
"""In a parameter's JSON Schema: its value names a prompt of the task."""


def read_prompts(reading: Reading) -> Mapping[str, Sequence[PromptMessage]]:
    """Return all prompts by name; `prompt:` is the one of that name."""
    prompts: dict[str, Sequence[PromptMessage]] = {}
    single = reading.section(PLAIN)
    if single is not None and reading.sound((PLAIN,)):
        prompts[PLAIN] = read_messages(reading, single, (PLAIN,))
    for path, name, node in reading.members("prompts"):
        if name == PLAIN and single is not None:
            reading.add(node.key or node.place, f"the prompt {PLAIN!r} stands twice", path, "Remove one of the two.")
            continue
        prompts[name] = read_messages(reading, node, path)
    return prompts


def check_prompts(reading: Reading, components: Sequence[FoundComponent], known: Collection[str]) -> None:
    """Every prompt that a component needs, or that a parameter of it names (`x-prompt`), must be there."""
    if not (reading.sound((PLAIN,)) and reading.sound(("prompts",)) and reading.sound(("roles",))):
        return
    for found in components:
        for part, ref in whole_refs(found.component, found.ref, reading.registry):
            named = [
                (str(ref.parameters[key]), key)
                for key, about in part.parameters.get("properties", {}).items()
                if isinstance(about, Mapping) and about.get(PROMPT_KEY) and key in ref.parameters
            ]
            for name, key in [*((name, None) for name in part.prompts), *named]:
                if name in known:
                    continue
                message = f"the {part.kind} {part.name} needs the prompt {name!r}, which is missing"
                near = nearest(name, known)
                fix = "Add the key prompt." if name == PLAIN else f"Add {name} to prompts, or to those of a role."
                fix = f"Did you mean {near[0]!r}?" if near and key else fix
                place = found.written.node.place if key else reading.root.place
                reading.add(place, message, found.written.path if key else (), fix)


def read_messages(reading: Reading, node: Node, path: KeyPath) -> Sequence[PromptMessage]:
    """Return the messages of one prompt; what is wrong with their syntax joins the problems."""
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
