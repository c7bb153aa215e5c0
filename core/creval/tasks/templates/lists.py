"""Which fields of a doc a prompt takes apart as lists."""

from __future__ import annotations

from collections.abc import Sequence

from creval.tasks.model import PromptMessage

__all__ = ["list_fields"]


def list_fields(messages: Sequence[PromptMessage]) -> frozenset[str]:
    """Return the fields of which a prompt takes single items (`stems[0]`) or that it loops over.

    A text in such a field would be asked letter by letter.
    """
    from jinja2 import nodes

    from creval.tasks.templates.environment import environment

    found: set[str] = set()
    for message in messages:
        tree = environment().parse(message.template)
        own = {name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"}
        taken: list[nodes.Node] = [item.node for item in tree.find_all(nodes.Getitem) if _is_place(item.arg)]
        taken += [loop.iter for loop in tree.find_all(nodes.For)]
        found |= {node.name for node in taken if isinstance(node, nodes.Name) and node.name not in own}
    return frozenset(found)


def _is_place(argument: object) -> bool:
    value = getattr(argument, "value", None)
    return isinstance(value, int) and not isinstance(value, bool)
