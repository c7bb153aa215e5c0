"""Rules on what stands in the task files: their form, their sources, and their templates over every doc."""

from __future__ import annotations

from collections.abc import Iterator

from creval.conformance.subject import Subject
from creval.data.check_task_data import check_components, check_fields
from creval.errors import CrevalError, TaskError
from creval.tasks.check_files import check_file
from creval.tasks.model import Task
from creval.tasks.templates.shots import render_prompt

__all__ = ["sources", "task_files", "templates"]


def task_files(subject: Subject) -> Iterator[str]:
    """Every task and suite file is valid, and what its components are given makes them."""
    for file in subject.files:
        for problem in check_file(file, subject.index, subject.plugins):
            yield " ".join(str(problem).split())
    for problem in subject.index.problems():
        if problem.file in subject.files:
            yield " ".join(str(problem).split())
    for name in subject.tasks:
        try:
            task = subject.load(name)
        except TaskError:
            continue  # said above
        for problem in check_components(task, subject.plugins.registry):
            yield " ".join(str(problem).split())


def templates(subject: Subject, name: str) -> Iterator[str]:
    """Every prompt can be rendered for every doc of the task; those that a component fills in name known fields."""
    task = subject.load(name)
    with subject.dataset(task) as dataset:
        problems = check_fields(task, dataset, subject.plugins.registry)
        yield from (" ".join(str(problem).split()) for problem in problems)
        if problems:
            return
        own = [key for key in task.prompts if _is_filled_by_docs(subject, task, key)]
        for doc in dataset:
            for key in own:
                try:
                    render_prompt(task, key, doc.fields)
                except CrevalError as error:
                    yield f"doc {doc.id!r}: {' '.join(str(error).split())}"
                    return  # the next docs have the same fault


def _is_filled_by_docs(subject: Subject, task: Task, prompt: str) -> bool:
    """Whether the docs alone fill in a prompt: what a protocol adds while it runs is only known then."""
    provided = subject.plugins.registry.get("protocol", task.protocol.name).provides
    return prompt == "prompt" and not provided


def sources(subject: Subject) -> Iterator[str]:
    """The distribution states its licence; each task says where it comes from.

    A task whose data come over the network says under which licence they are (`source: licence`), or in its
    description why there is none to state.
    """
    if not _licence_of(subject.info.distribution):
        yield f"the distribution {subject.info.distribution} states no licence: add `license` to its pyproject.toml"
    for name in subject.leading:
        try:
            task = subject.load(name)
        except TaskError:
            continue
        if not (task.source.paper or task.source.url):
            yield f"{name}: `source` names neither paper nor url"
        if subject.is_remote(task) and not task.source.licence and "licence" not in task.description.casefold():
            yield f"{name}: neither `source: licence` nor the description says under which licence the data are"


def _licence_of(distribution: str) -> str:
    from importlib.metadata import metadata

    about = metadata(distribution)
    stated = [value for name in ("License-Expression", "License") for value in about.get_all(name) or ()]
    stated += [each for each in about.get_all("Classifier") or () if each.startswith("License ::")]
    return next((each for each in stated if each), "")
