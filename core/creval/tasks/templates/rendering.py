"""Renders prompts, with examples before the question, and finds which fields of a doc a template needs.

The last newline of a template is dropped (so `|` and `|-` in YAML mean the same), and so are the line break after a `{%
... %}` and the blanks before it. Everything else is sent as written.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from creval.errors import Problem, TaskError, nearest
from creval.tasks.task_model import FewShot, PromptMessage, Task
from creval.tasks.yaml.nodes import KeyPath, format_path
from creval.types.content import Media, MediaPart, Part, PartKind, TextPart, media_in, read_data_url
from creval.types.messages import Message

if TYPE_CHECKING:
    from jinja2 import Template, nodes

__all__ = ["SHOTS", "fields_of", "list_fields", "render", "render_prompt", "syntax_problem", "undefined_fields"]


Content = str | tuple[Part, ...]


class ListField(NamedTuple):
    """A field that is used as a list, with the file and line of the use."""

    name: str
    file: Path
    line: int | None


def list_fields(messages: Iterable[PromptMessage], file: Path) -> Iterator[ListField]:
    """Yield the fields of a doc that a prompt indexes (`stems[0]`), iterates over or joins.

    A text in such a field would be used letter by letter. `file` is the file of messages that do not state theirs.
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


_MARKS = ("{{", "{%", "{#")
_MAX_TEXT = 10_000_000

_GUARDS = ("defined", "undefined")

_DEFAULTS = ("default", "d")


def render(messages: Sequence[PromptMessage], fields: Mapping[str, object], file: Path) -> list[Message]:
    """Fill in the templates of a prompt with the fields of a doc.

    Raises TaskError if a field is undefined, the template fails, or it exceeds the bounds of
    `creval.tasks.templates.environment`. The error has the template's line (in `file`, if the message does not state
    its own) and the doc's fields.
    """
    return [
        Message(message.role, _render_parts(message, fields, file) if message.parts else _text(message, fields, file))
        for message in messages
    ]


def _text(message: PromptMessage, fields: Mapping[str, object], file: Path) -> str:
    """Fill in a text. Raises TaskError if it contains the mark of an image, which would be sent as a word."""
    text = _render(message, fields, file)
    if "media:" in text and not media_in(fields).keys().isdisjoint(_MARK.findall(text)):
        fix = 'Write it as a part:  content: [{text: ...}, {image: "{{ field }}"}]'
        raise TaskError([Problem("a text contains a media field", message.file or file, message.line, fix=fix)])
    return text


_NO_MEDIA = frozenset({"", "None", "[]"})

_MARK = re.compile(r"media:([0-9a-f]{64})")

_MARKED = re.compile(r"\[?media:[0-9a-f]{64}(?:, (?:None|media:[0-9a-f]{64}))*\]?")


def _render_parts(message: PromptMessage, fields: Mapping[str, object], file: Path) -> tuple[Part, ...]:
    """Fill in the parts of a message, without those whose field is empty; several media become several parts."""
    parts: list[Part] = []
    found: dict[str, Media] | None = None
    for part in message.parts:
        single = replace(message, template=part.template, line=part.line, parts=())
        if part.kind == "text":
            text = _text(single, fields, file)
            parts += [TextPart(text)] if text.strip() else []
            continue
        text = _render(single, fields, file)
        found = media_in(fields) if found is None else found
        try:
            parts += _media_parts(part.kind, text.strip(), found)
        except ValueError as error:
            what = f"the {part.kind} cannot be sent: {error}"
            fix = "Name a field of the docs that holds it; files are found next to the data file."
            raise TaskError([Problem(what, message.file or file, part.line, fix=fix)]) from None
    return tuple(parts)


def _media_parts(kind: PartKind, text: str, found: Mapping[str, Media]) -> list[MediaPart]:
    """Return the media that a rendered template names: by marks of the doc's media, an address or a data URL."""
    if text in _NO_MEDIA:
        return []
    if _MARKED.fullmatch(text):
        digests = _MARK.findall(text)
        if lacking := next((digest for digest in digests if digest not in found), None):
            raise ValueError(f"the bytes of {lacking[:12]}... are not available")
        return [found[digest].part(kind) for digest in digests]
    if text.startswith(("https://", "http://")):
        return [MediaPart(kind, url=text)]
    data = read_data_url(text)
    if data is None:
        raise ValueError(f"{text[:40]!r} is neither a file of the data, nor an address or data URL")
    return [Media.of(data).part(kind)]


def _render(message: PromptMessage, fields: Mapping[str, object], file: Path) -> str:
    text = message.template
    if not any(mark in text for mark in _MARKS):
        return text.removesuffix("\n")
    try:
        prepared = _prepared(text)
    except Exception as error:
        raise TaskError([_syntax_problem(error, message, file)]) from error
    if prepared.pieces is not None:
        try:
            return "".join([str(fields[piece]) if is_field else piece for is_field, piece in prepared.pieces])
        except Exception:  # Jinja finds the same fault and reports where
            pass
    try:
        return _run(prepared.template, fields)
    except Exception as error:
        raise TaskError([_render_problem(error, message, fields, file)]) from error


def _run(template: Template, fields: Mapping[str, object]) -> str:
    from creval.tasks.templates.environment import BUDGET, WORK

    context = template.new_context({**fields, BUDGET: [WORK]})
    size = 0
    parts: list[str] = []
    for part in template.root_render_func(context):
        size += len(part)
        if size > _MAX_TEXT:
            raise ValueError(f"the prompt is longer than {_MAX_TEXT:,} characters")
        parts.append(part)
    return "".join(parts)


class _Prepared(NamedTuple):
    """A compiled template. `pieces` is set if it only puts fields between texts: (is it a field, name or text)."""

    template: Template
    pieces: Sequence[tuple[bool, str]] | None


@functools.lru_cache(maxsize=4096)
def _prepared(source: str) -> _Prepared:
    from creval.tasks.templates.environment import environment

    jinja = environment()
    tree = jinja.prepare(source)
    pieces = _pieces(tree, jinja.globals)
    return _Prepared(jinja.from_string(jinja.bound(tree)), pieces)


def _pieces(tree: nodes.Template, names_taken: Collection[str]) -> Sequence[tuple[bool, str]] | None:
    from jinja2 import nodes

    pieces = []
    for output in tree.body:
        if not isinstance(output, nodes.Output):
            return None
        for node in output.nodes:
            if isinstance(node, nodes.TemplateData):
                pieces.append((False, node.data))
            elif isinstance(node, nodes.Name) and node.name not in names_taken and node.name != "self":
                pieces.append((True, node.name))
            else:
                return None
    return pieces


def _render_problem(error: Exception, message: PromptMessage, fields: Mapping[str, object], file: Path) -> Problem:
    from jinja2.exceptions import UndefinedError

    what = str(error).rstrip(".") or type(error).__name__
    fix = None
    if isinstance(error, UndefinedError) and what.endswith("is undefined"):
        near = nearest(what.split("'")[1], fields)
        fix = (f"Did you mean {near[0]!r}? " if near else "") + f"The doc has: {', '.join(fields)}."
    line = _file_line(message, _error_line(error))
    return Problem(f"the prompt cannot be rendered: {what}", message.file or file, line, fix=fix)


def _error_line(error: Exception) -> int:
    """Return the line of the template that failed."""
    line = 1
    step = error.__traceback__
    while step is not None:
        template = step.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            line = template.get_corresponding_lineno(step.tb_lineno)
        step = step.tb_next
    return line


def _file_line(message: PromptMessage, line: int) -> int | None:
    return None if message.line is None else message.line + line - 1


def syntax_problem(message: PromptMessage, file: Path, path: KeyPath = ()) -> Problem | None:
    """Return the syntax error of a template, or None."""
    if not any(mark in message.template for mark in _MARKS):
        return None
    try:
        _prepared(message.template)
    except Exception as error:  # too deep for Jinja's parser or Python's compiler, which raise various errors
        return _syntax_problem(error, message, file)._replace(path=format_path(path))
    return None


def _syntax_problem(error: Exception, message: PromptMessage, file: Path) -> Problem:
    from jinja2.exceptions import TemplateSyntaxError

    line, reason = 1, str(error)
    if isinstance(error, TemplateSyntaxError):
        line, reason = error.lineno, error.message or ""
    elif isinstance(error, RecursionError | SyntaxError | MemoryError):
        reason = "it is nested too deeply"
    return Problem(f"the template is faulty: {reason.rstrip('.')}", message.file or file, _file_line(message, line))


def undefined_fields(
    messages: Sequence[PromptMessage],
    fields: Collection[str],
    file: Path,
    provided: Collection[str] = (),
    optional: Collection[str] = (),
) -> list[Problem]:
    """Return a problem for every name in a prompt that neither all docs (`fields`) nor the protocol (`provided`) have.

    `optional` are fields that only some docs have. A name that the template guards (`is defined`, `| default(...)`) may
    be absent.
    """
    problems = []
    for message in messages:
        for name, line in _needed(message.template):
            if name in fields or name in provided:
                continue
            if name in optional:
                text, fix = f"only some docs have the field {name!r}", "Guard it: {{ name | default('') }}."
            else:
                near = nearest(name, [*fields, *provided, *optional])
                hint = f"Did you mean {near[0]!r}? " if near else ""
                text, fix = f"no doc has the field {name!r}", f"{hint}The docs have: {', '.join(fields)}."
            problems.append(Problem(text, message.file or file, _file_line(message, line), fix=fix))
    return problems


def fields_of(template: str) -> set[str]:
    """Return the names that a template takes from outside, including those that it guards."""
    if not any(mark in template for mark in _MARKS):
        return set()
    from jinja2 import meta

    from creval.tasks.templates.environment import environment

    jinja = environment()
    return meta.find_undeclared_variables(jinja.prepare(template)) - set(jinja.globals)


def _needed(source: str) -> Sequence[tuple[str, int]]:
    """Return the names that a template takes from the doc, each with the line of its first use."""
    if not any(mark in source for mark in _MARKS):
        return ()
    from jinja2 import meta, nodes

    from creval.tasks.templates.environment import environment

    jinja = environment()
    tree = jinja.prepare(source)
    names = meta.find_undeclared_variables(tree) - set(jinja.globals) - set(_guarded(tree))
    lines: dict[str, int] = {}
    for node in tree.find_all(nodes.Name):
        if node.ctx == "load" and node.name in names:
            lines.setdefault(node.name, node.lineno)
    return sorted(lines.items(), key=lambda item: item[1])


def _guarded(tree: nodes.Template) -> Iterator[str]:
    from jinja2 import nodes

    for test in tree.find_all(nodes.Test):
        if test.name in _GUARDS and isinstance(test.node, nodes.Name):
            yield test.node.name
    for applied in tree.find_all(nodes.Filter):
        if applied.name in _DEFAULTS and isinstance(applied.node, nodes.Name):
            yield applied.node.name


SHOTS = "shots"
"""The field of a doc that holds the fields of its examples."""

PLAIN = "prompt"


def render_prompt(task: Task, name: str, fields: Mapping[str, Any]) -> list[Message]:
    """Render a prompt of a task for a doc; `prompt` gets the examples that `few_shot` gives the doc.

    An example is the prompt's last message of the user, filled in with the example's fields, and the answer from
    `few_shot`'s template. A protocol that has already shown the examples passes None for `shots`. Raises TaskError as
    `render` does, UnknownNameError if there is no such prompt.
    """
    templates = task.find_prompt(name)
    messages = render(templates, fields, task.file)
    few_shot, shots = task.few_shot, fields.get(SHOTS, ())
    if few_shot is None or name != PLAIN or shots is None or not (shots or few_shot.header):
        return messages
    last = max(place for place, message in enumerate(templates) if message.role == "user")
    pairs = [_pair(templates[last], few_shot, shot, task) for shot in shots]
    header: list[Content] = []
    if few_shot.header is not None:
        header = [render([few_shot.header], fields, task.file)[0].text.rstrip("\n") + "\n\n"]
    if few_shot.turns:
        turns = [turn for ask, say in pairs for turn in (Message("user", ask), Message("assistant", say.strip()))]
        turns.append(messages[last])
        turns[0] = Message("user", _joined([*header, turns[0].content]))
        return [*messages[:last], *turns, *messages[last + 1 :]]
    before: list[Content] = [*header, *(piece for ask, say in pairs for piece in (ask, f"{say}\n\n"))]
    return [*messages[:last], Message("user", _joined([*before, messages[last].content])), *messages[last + 1 :]]


def _pair(question: PromptMessage, few_shot: FewShot, shot: Mapping[str, Any], task: Task) -> tuple[Content, str]:
    asked, said = render([question, few_shot.answer], shot, task.file)
    return asked.content, said.text


def _joined(contents: Sequence[Content]) -> Content:
    """Join contents in order: texts into one text, contents with parts into parts."""
    if all(isinstance(content, str) for content in contents):
        return "".join(map(str, contents))
    parts: list[Part] = []
    for content in contents:
        for part in (TextPart(content),) if isinstance(content, str) else content:
            before = parts[-1] if parts else None
            if isinstance(part, TextPart) and isinstance(before, TextPart):
                parts[-1] = TextPart(before.text + part.text)
            else:
                parts.append(part)
    return tuple(parts)
