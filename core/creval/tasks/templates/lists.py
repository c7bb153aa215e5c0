"""Which fields of a doc a prompt takes apart as lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from creval.tasks.model import PromptMessage

if TYPE_CHECKING:
    from jinja2 import nodes

__all__ = ["ListField", "list_fields"]


class ListField(NamedTuple):
    """A field that is taken as a list, with the file and line of the use."""

    name: str
    file: Path
    line: int | None


def list_fields(messages: Iterable[PromptMessage], file: Path) -> Iterator[ListField]:
    """Yield the fields of a doc of which a prompt takes single items (`stems[0]`), walks over them or joins them.

    A text in such a field would be asked letter by letter. `file` is the file of messages that know none.
    """
    from jinja2 import meta, nodes

    from creval.tasks.templates.environment import environment

    for message in messages:
        if "{{" not in message.template and "{%" not in message.template:
            continue
        tree = environment().prepare(message.template)
        names = meta.find_undeclared_variables(tree)
        used: list[tuple[nodes.Node | None, int]] = [
            *((item.node, item.lineno) for item in tree.find_all(nodes.Getitem) if _is_place(item.arg)),
            *((loop.iter, loop.lineno) for loop in tree.find_all(nodes.For)),
            *((each.node, each.lineno) for each in tree.find_all(nodes.Filter) if each.name == "join"),
        ]
        for node, line in used:
            if isinstance(node, nodes.Name) and node.name in names:
                place = None if message.line is None else message.line + line - 1
                yield ListField(node.name, message.file or file, place)


def _is_place(node: nodes.Node) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, int) and not isinstance(value, bool)
