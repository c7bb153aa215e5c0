"""Convert a plain task to `eval.yaml` of a Hub dataset, which inspect-ai runs, or list every reason against it.

The form allows one question per doc, inspect's own solvers and scorers, and no conditions, roles or resources
(the Hub's documentation of `eval.yaml`, and inspect-ai's task model, which forbids other keys).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creval.plugin.hub import ComponentRef, Task

__all__ = ["HubForm", "hub_form"]

_FIELD = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}")
_PLAIN_SOURCES = ("huggingface", "package", "file", "url")


@dataclass(slots=True)
class HubForm:
    """`data` is the file's content, None if there are `reasons` against it. `notes` list small changes."""

    data: Mapping[str, Any] | None = None
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def hub_form(task: Task) -> HubForm:
    """Return a task's `eval.yaml`, or the reasons why it cannot be one."""
    form = HubForm()
    _check_whole(task, form)
    names = _Columns(task, form)
    solvers = _solvers(task, names, form)
    scorers = _scorers(task, form)
    if form.reasons:
        return form
    parameters = task.dataset.parameters
    entry: dict[str, Any] = {"id": task.name}
    entry |= {key: parameters[key] for key in ("config", "split") if key in parameters}
    if "split" not in entry:
        entry["split"] = "test"
        form.notes.append(f"put {parameters.get('file', 'the data')} into the dataset repository as its split test")
    entry["field_spec"] = names.spec
    if task.dataset.choices is not None and task.dataset.choices.seed is not None:
        entry["shuffle_choices"] = True
        form.notes.append("inspect shuffles the choices in its own order")
    if task.repeats > 1:
        entry |= {"epochs": task.repeats, "epoch_reducer": "mean"}
    entry |= {"solvers": solvers, "scorers": scorers}
    if task.generation:
        form.notes.append(f"settings are given on inspect's command line: {dict(task.generation)}")
    form.data = {
        "name": task.title,
        "description": " ".join(task.description.split()) or task.title,
        "evaluation_framework": "inspect-ai",
        "tasks": [entry],
    }
    return form


def _check_whole(task: Task, form: HubForm) -> None:
    """Add a reason for everything that the form cannot express."""
    dataset = task.dataset
    without = {
        "several conditions": len(task.conditions) > 1,
        "few-shot examples": task.few_shot is not None,
        f"the protocol {task.protocol.name}": task.protocol.name not in ("chat", "core/chat"),
        "several answers a call (n)": bool(task.protocol.parameters.get("n") or task.generation.get("n", 1) != 1),
        "resources": bool(task.resources),
        "roles": bool(task.roles),
        "readings": bool(task.readings),
        "a fixed subset of the data": dataset.sample is not None,
        f"data from the source {dataset.source}": dataset.source not in _PLAIN_SOURCES,
        "several prompts": set(task.prompts) != {"prompt"},
    }
    form.reasons += [f"the form has no place for {what}" for what, there in without.items() if there]
    for ref in dataset.fields:
        if ref.pattern is not None or ref.number:
            form.reasons.append(f"the form cuts nothing out of a field: write {ref.name!r} into the data")
    if dataset.choices is not None and not isinstance(dataset.choices.source, str):
        form.reasons.append("the form takes the choices from one field: write them into the data as a list")
    if dataset.choices is not None and (
        dataset.choices.answer_is not in ("index", "letter") or dataset.choices.labels is not None
    ):
        form.reasons.append(
            "the form knows the right choice by its place from 0 or its letter: write that into the data"
        )


class _Columns:
    """The columns of the data for the question, the target and the choices."""

    def __init__(self, task: Task, form: HubForm) -> None:
        self._made = {ref.name: ref for ref in task.dataset.fields}
        self.spec: dict[str, str] = {}
        choices = task.dataset.choices
        if choices is not None:
            self.spec = {"target": self.of(choices.answer), "choices": self.of(str(choices.source))}
        elif task.score:
            self.spec = {"target": self.of(str(task.score[0].parameters.get("field", "target")))}

    def of(self, name: str) -> str:
        """Return the column behind a field of the docs."""
        ref = self._made.get(name)
        if ref is None:
            return name
        return ref.source if ref.source is not None else f"literal:{ref.value}"


def _solvers(task: Task, names: _Columns, form: HubForm) -> list[dict[str, Any]]:
    """Return inspect's solvers for the prompt: a system message, a template around the question, and the answer."""
    messages = task.prompts.get("prompt", ())
    solvers: list[dict[str, Any]] = []
    roles = [message.role for message in messages]
    if roles not in (["user"], ["system", "user"]):
        form.reasons.append("the form has one message of the user, perhaps after one of the system")
        return solvers
    if roles[0] == "system":
        if "{{" in messages[0].template or "{%" in messages[0].template:
            form.reasons.append("the form's system message is the same for every doc")
        solvers.append({"name": "system_message", "args": {"template": _escaped(messages[0].template.rstrip("\n"))}})
    text = messages[-1].template.removesuffix("\n")
    own = ("options",) if task.dataset.choices is not None else ()
    fields = _FIELD.findall(text)
    asked = [name for name in fields if name not in own]
    if (
        "{%" in text
        or "|" in "".join(re.findall(r"\{\{.*?\}\}", text))
        or len(asked) != 1
        or len(set(fields)) != len(fields)
    ):
        form.reasons.append("the form puts one field of the data into the prompt, as it is")
        return solvers
    names.spec = {"input": names.of(asked[0]), **names.spec}
    before, after = re.split(r"\{\{\s*" + asked[0] + r"\s*\}\}", text)
    if own:
        return [*solvers, _multiple_choice(before, after, form)]
    if before or after:
        solvers.append(
            {"name": "prompt_template", "args": {"template": f"{_escaped(before)}{{prompt}}{_escaped(after)}"}}
        )
    return [*solvers, {"name": "generate"}]


def _multiple_choice(before: str, after: str, form: HubForm) -> dict[str, Any]:
    parts = re.split(r"\{\{\s*options\s*\}\}", after)
    if len(parts) != 2:
        form.reasons.append("inspect's template of a multiple choice has the choices once, after the question")
        return {}
    form.notes.append("inspect writes the choices as A) text, and reads the line ANSWER: LETTER")
    text = f"{_escaped(before)}{{question}}{_escaped(parts[0])}{{choices}}{_escaped(parts[1])}"
    return {"name": "multiple_choice", "args": {"template": text}}


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _scorers(task: Task, form: HubForm) -> list[dict[str, Any]]:
    """Return inspect's scorer equivalent to the task's first one."""
    if len(task.score) != 1:
        form.reasons.append("the form's metrics are made of one scorer")
        return []
    scorer, parse = task.score[0], task.parse
    if scorer.parameters.get("reduce", "mean") != "mean":
        form.reasons.append("the form has no best-of-n or majority within a call")
    if task.dataset.choices is not None:
        if scorer.name != "exact_match" or _names(parse) not in (["choice"], []):
            form.reasons.append("a multiple choice is read by `choice` and scored by `exact_match` in the form")
        return [{"name": "choice"}]
    return _of_text(scorer, parse, form)


def _names(parse: Sequence[ComponentRef]) -> list[str]:
    return [ref.name for ref in parse]


def _of_text(scorer: ComponentRef, parse: Sequence[ComponentRef], form: HubForm) -> list[dict[str, Any]]:
    loose = bool(scorer.parameters.get("ignore_case"))
    if scorer.name == "includes" and _names(parse) in ([], ["text"]):
        return [{"name": "includes", "args": {"ignore_case": loose}}]
    if scorer.name == "numeric" and _names(parse) == ["last_number"]:
        form.notes.append("inspect compares the number at the end of the answer, without a tolerance")
        return [{"name": "match", "args": {"location": "end", "numeric": True}}]
    if scorer.name == "exact_match" and _names(parse) in ([], ["text"]):
        if not scorer.parameters.get("ignore_punctuation"):
            form.notes.append("inspect passes over punctuation at the ends")
        return [{"name": "match", "args": {"location": "exact", "ignore_case": loose}}]
    if scorer.name == "exact_match" and _names(parse) == ["regex"]:
        given = parse[0].parameters
        if given.get("choose", "first") == "first" and not set(given) & {"group", "multiline", "dotall", "refine"}:
            args = {"pattern": str(given["pattern"]), "ignore_case": loose or bool(given.get("ignore_case"))}
            return [{"name": "pattern", "args": args}]
    read = " and ".join(_names(parse)) or "the whole text"
    form.reasons.append(f"inspect has no scorer that does what {scorer.name} does with {read}")
    return []
