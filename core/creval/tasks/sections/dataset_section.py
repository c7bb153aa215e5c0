"""`dataset:`: where the docs come from.

`few_shot:`: examples put before the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from creval.errors import nearest
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_components import ComponentReader, FoundComponent, Written
from creval.tasks.task_model import ChoicesRef, DatasetRef, FewShot, FieldRef, PromptMessage
from creval.tasks.task_paths import FILE_KEY, STRAY_FIX, find_data_file, package_around, search_folders, strays
from creval.tasks.yaml.nodes import KeyPath, Node, plain

__all__ = ["OWN_KEYS", "read_dataset"]


_FEW_SHOT_PATH = ("few_shot",)

_USER = "user"


def read_few_shot(reading: Reading, source: FoundComponent, base: Path) -> FewShot | None:
    """Read the section; `source` and `base` are those of the task's own data."""
    node = reading.section("few_shot")
    if node is None or not reading.sound(_FEW_SHOT_PATH):
        return None
    given = plain(node)
    split, file, answer = node.get("split"), node.get("file"), node.get("answer")
    if split is not None and file is not None:
        reading.add(
            file.place, "examples come from a split or from a file, not both", _FEW_SHOT_PATH, "Keep one of them."
        )
    if split is not None and "split" not in source.component.parameters.get("properties", {}):
        message = f"the source {source.ref.name!r} has no splits"
        reading.add(split.place, message, (*_FEW_SHOT_PATH, "split"), "Name a file with examples: file: examples.jsonl")
    if file is not None and strays(base / str(file.value), [base]):
        what = f"the file {file.value!r} is outside of the task's folder"
        reading.add(file.place, what, (*_FEW_SHOT_PATH, "file"), "Put it into that folder.")
    elif file is not None and find_data_file(str(file.value), [base]) is None:
        reading.add(
            file.place, f"there is no data file {file.value!r}", (*_FEW_SHOT_PATH, "file"), f"Looked in {base}."
        )
    _check_prompt(reading, node)
    few_shot = FewShot(
        number=given["n"],
        seed=given.get("seed"),
        split=given.get("split"),
        file=given.get("file"),
        turns=given.get("as", "turns") == "turns",
    )
    return few_shot if answer is None else _with_answer(reading, few_shot, answer)


def _with_answer(reading: Reading, few_shot: FewShot, node: Node) -> FewShot:
    """Take over the template of an example's answer with its place; a fault of its syntax joins the problems."""
    from creval.tasks.templates.rendering import syntax_problem

    line = node.place.text_line or node.place.line
    problem = syntax_problem(
        PromptMessage("assistant", node.value, line, node.place.file), node.place.file, (*_FEW_SHOT_PATH, "answer")
    )
    if problem is not None:
        reading.problems.append(problem)
    return replace(few_shot, answer=node.value, line=line, file_of_answer=node.place.file)


def _check_prompt(reading: Reading, node: Node) -> None:
    """The examples take the form of the prompt's last message of the user: there has to be one."""
    prompt = reading.section("prompt")
    if prompt is None or not reading.sound(("prompt",)):
        if prompt is None:
            reading.add(node.place, "examples take the form of `prompt`, which the task lacks", _FEW_SHOT_PATH)
        return
    if not any(member.value["role"].value == _USER for member in prompt.value):
        reading.add(
            node.place, "examples take the form of the prompt's last message of the user; it has none", _FEW_SHOT_PATH
        )


OWN_KEYS = ("source", "id", "sample", "fields", "choices")

"""The keys of the section that are the core's; all others are parameters of the source."""

_PATH = ("dataset",)


def read_dataset(reading: Reading, task: str, find_files: bool) -> tuple[DatasetRef, FoundComponent] | None:
    """Read the section. With `find_files` a data file that does not exist is a problem too."""
    node = reading.section("dataset")
    if node is None or not reading.sound(_PATH):
        return None
    source = node.value["source"]
    parameters = Node({key: member for key, member in node.value.items() if key not in OWN_KEYS}, node.place)
    reader = ComponentReader(reading.registry, reading.owner.plugin, reading.problems)
    found = reader.resolve("source", Written(source.value, source, parameters, _PATH, beside=OWN_KEYS))
    if found is None:
        return None
    file_key = _file_parameter(found)
    file_node = parameters.get(file_key) if file_key else None
    base = (source if file_node is None else file_node).place.file.parent
    package = reading.owner.package or package_around(base)
    if find_files and file_key and file_node is not None:
        _check_file(
            reading, (file_key, file_node), search_folders(base, package if found.ref.name == "package" else None)
        )
    identifier = node.get("id")
    id_field = None if identifier is None else str(identifier.value)
    wanted = node.get("sample")
    sample = None if wanted is None else (int(wanted.value["n"].value), int(wanted.value["seed"].value))
    reference = DatasetRef(
        source=found.ref.name,
        parameters=found.ref.parameters,
        base=base,
        id_field=id_field,
        package=package,
        task=task,
        sample=sample,
        fields=_fields(reading, node),
        choices=_choices(reading, node),
        few_shot=read_few_shot(reading, found, base),
    )
    return reference, found


def _fields(reading: Reading, dataset: Node) -> Sequence[FieldRef]:
    """Read the fields that are made of a row's own."""
    section = dataset.get("fields")
    made = []
    for name, node in (section.value if section is not None else {}).items():
        if isinstance(node.value, str):
            made.append(FieldRef(name, node.value))
            continue
        given = plain(node)
        if ("from" in given) == ("value" in given):
            reading.add(node.place, "a field is made from another one, or has a value", (*_PATH, "fields", name))
        pattern = node.get("pattern")
        if pattern is not None:
            _check_pattern(reading, pattern, (*_PATH, "fields", name, "pattern"))
        made.append(
            FieldRef(name, given.get("from"), given.get("pattern"), given.get("as") == "number", given.get("value"))
        )
    return tuple(made)


def _check_pattern(reading: Reading, node: Node, path: KeyPath) -> None:
    import regex

    try:
        regex.compile(node.value)
    except regex.error as error:
        reading.add(node.place, f"is no regular expression: {error}", path)


def _choices(reading: Reading, dataset: Node) -> ChoicesRef | None:
    section = dataset.get("choices")
    if section is None:
        return None
    given = plain(section)
    source = given["from"] if isinstance(given["from"], str) else tuple(given["from"])
    labels = given.get("labels")
    if isinstance(labels, list):
        labels = tuple(str(label) for label in labels)
    kind = given.get("answer_is", "index" if labels is None else "label")
    if kind == "label" and labels is None:
        reading.add(section.place, "answer_is: label needs labels", ("dataset", "choices"), "Write labels: [...].")
    return ChoicesRef(source, given["answer"], kind, given.get("seed"), labels)


def _file_parameter(found: FoundComponent) -> str | None:
    """Return the parameter that the source declares as a file of the user's (`"x-file": true`)."""
    properties = found.component.parameters.get("properties", {})
    return next((key for key, about in properties.items() if isinstance(about, Mapping) and about.get(FILE_KEY)), None)


def _check_file(reading: Reading, named: tuple[str, Node], folders: Sequence[Path]) -> None:
    key, node = named
    name = str(node.value)
    if find_data_file(name, folders) is not None:
        return
    if any(strays(folder / name, folders) for folder in folders):
        reading.add(node.place, f"the file {name!r} is outside of the task's folder", (*_PATH, key), STRAY_FIX)
        return
    siblings = [file.name for folder in folders for file in (folder / name).parent.glob("*") if file.is_file()]
    near = nearest(Path(name).name, siblings)
    looked = " and ".join(str(folder) for folder in folders)
    fix = f"Did you mean {near[0]!r}?" if near else f"Looked in {looked}."
    reading.add(node.place, f"there is no data file {name!r}", (*_PATH, key), fix)
