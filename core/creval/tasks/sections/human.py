"""`human:`: what people are asked in place of the prompt, and how they answer."""

from __future__ import annotations

from creval.tasks.model import HumanWording, PromptMessage
from creval.tasks.sections.section_reader import Reading

__all__ = ["read_human"]

KEY = "human"


def read_human(reading: Reading, protocol: str | None) -> HumanWording | None:
    """Return a task's wording for people, None where it has none. What is wrong joins the problems."""
    from creval.tasks.templates.rendering import syntax_problem

    node = reading.section(KEY)
    if node is None or not reading.sound((KEY,)):
        return None
    if protocol is not None and protocol.rpartition("/")[2] != "chat":
        cure = "Leave it out: the protocol says what is asked, and a screen of its plugin how people see it."
        reading.add(node.key or node.place, f"the protocol {protocol!r} asks more than one prompt", (KEY,), cure)
        return None
    content = node.value["prompt"]
    line = content.place.text_line or content.place.line
    message = PromptMessage("user", content.value, line, content.place.file)
    problem = syntax_problem(message, content.place.file, (KEY, "prompt"))
    if problem is not None:
        reading.problems.append(problem)
    words, guide = node.get("words"), node.get("guide")
    return HumanWording(prompt=message, words=int(words.value) if words else 0, guide=str(guide.value) if guide else "")
