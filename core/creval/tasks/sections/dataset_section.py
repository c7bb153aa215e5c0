"""Reads `dataset:`, where the docs come from, and in it `few_shot:`, the examples before the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from creval.errors import nearest
from creval.tasks.sections.section_reader import Reading
from creval.tasks.task_components import ComponentReader, FoundComponent, Written
from creval.tasks.task_model import SPLIT_WORDS, ChoicesRef, DatasetRef, FewShot, FieldRef, PromptMessage
from creval.tasks.task_paths import FILE_KEY, STRAY_FIX, find_data_file, package_around, search_folders, strays
from creval.tasks.yaml.nodes import KeyPath, Node, plain

__all__ = ["OWN_KEYS", "read_dataset"]


_FEW_SHOT_PATH = ("few_shot",)

_USER = "user"


def _read_few_shot(reading: Reading, dataset: Node, task: str, source: FoundComponent) -> FewShot | None:
    """Read `few_shot`; `dataset` is the section of the task's own data, which come from `source`."""
    node = reading.section("few_shot")
    if node is None or not reading.sound(_FEW_SHOT_PATH):
        return None
    settings = plain(node)
    _check_prompt(reading, node)
    pool, name = _read_pool(reading, (dataset, node), task, source)
    few_shot = FewShot(
        number=settings["n"],
        seed=settings.get("seed"),
        pool=pool,
        pool_name=name,
        same=settings.get("same"),
        turns=settings.get("as", "turns") == "turns",
    )
    answer, header = node.get("answer"), node.get("header")
    return replace(
        few_shot,
        answer=few_shot.answer if answer is None else _template(reading, "answer", answer),
        header=None if header is None else _template(reading, "header", header),
    )


def _read_pool(
    reading: Reading, sections: tuple[Node, Node], task: str, source: FoundComponent
) -> tuple[DatasetRef | None, str]:
    """Return where examples come from, and the suffix that a local copy has after the task's name.

    A text names another split or another file. A mapping holds the keys of `dataset` that differ from the task's, or
    names another source.
    """
    dataset, few_shot = sections
    pool = few_shot.get("pool")
    if pool is None:
        return None, ""
    path = (*_FEW_SHOT_PATH, "pool")
    member = pool
    if not pool.is_mapping:
        properties = source.component.parameters.get("properties", {})
        key = "split" if "split" in properties else _file_parameter(source)
        if key is None:
            message = f"the source {source.ref.name!r} has neither splits nor files"
            reading.add(pool.place, message, path, "Name the data: pool: {source: file, file: examples.jsonl}.")
            return None, ""
        member = Node({key: Node(pool.value, pool.place, pool.key)}, pool.place, pool.key)
    inherited_keys = ("id", "fields", "choices") if member.get("source") is not None else tuple(dataset.value)
    inherited = {key: dataset.value[key] for key in inherited_keys if key in dataset.value and key != "sample"}
    merged = {key: each for key, each in {**inherited, **member.value}.items() if each.value is not None}
    read = _read_reference(reading, Node(merged, pool.place, pool.key), (path, task), True)
    split = member.get("split")
    return (None if read is None else read[0]), str(split.value) if split is not None and not split.is_list else "pool"


def _template(reading: Reading, key: str, node: Node) -> PromptMessage:
    """Return a template with its place; a syntax error is added to the problems."""
    from creval.tasks.templates.rendering import syntax_problem

    role: Literal["user", "assistant"] = "assistant" if key == "answer" else "user"
    message = PromptMessage(role, node.value, node.place.text_line or node.place.line, node.place.file)
    problem = syntax_problem(message, node.place.file, (*_FEW_SHOT_PATH, key))
    if problem is not None:
        reading.problems.append(problem)
    return message


def _check_prompt(reading: Reading, node: Node) -> None:
    """Check that the prompt has a message of the user: examples take the form of the last one."""
    prompt = reading.section("prompt")
    if prompt is None or not reading.sound(("prompt",)):
        if prompt is None:
            reading.add(node.place, "examples use the form of `prompt`, which the task lacks", _FEW_SHOT_PATH)
        return
    if not any(member.value["role"].value == _USER for member in prompt.value):
        reading.add(node.place, "examples use the form of the prompt's last user message; it has none", _FEW_SHOT_PATH)


OWN_KEYS = ("source", "id", "sample", "fields", "choices", "where", "columns", "take")
"""Keys of the section that the core reads, unless the source declares them; all others are the source's parameters."""

_PATH = ("dataset",)


def read_dataset(reading: Reading, task: str, find_files: bool) -> tuple[DatasetRef, FoundComponent] | None:
    """Read the section. With `find_files` a missing data file is a problem too."""
    node = reading.section("dataset")
    if node is None or not reading.sound(_PATH):
        return None
    read = _read_reference(reading, node, (_PATH, task), find_files)
    if read is None:
        return None
    reference, found = read
    return replace(reference, few_shot=_read_few_shot(reading, node, task, found)), found


def _read_reference(
    reading: Reading, node: Node, place: tuple[KeyPath, str], find_files: bool
) -> tuple[DatasetRef, FoundComponent] | None:
    """Read where docs come from, without examples; `place` is the key path and the task's name."""
    path, task = place
    source = node.value["source"]
    known = reading.registry.find("source", str(source.value))
    source_parameters = known.parameters.get("properties", {}) if known is not None else {}
    core_keys = tuple(key for key in OWN_KEYS if key not in source_parameters or key in ("source", "id"))
    parameters = Node({key: member for key, member in node.value.items() if key not in core_keys}, node.place)
    reader = ComponentReader(reading.registry, reading.owner.plugin, reading.problems)
    resolved = reader.resolve("source", Written(source.value, source, parameters, path, other_keys=core_keys))
    if resolved is None:
        return None
    file_key = _file_parameter(resolved)
    file_node = parameters.get(file_key) if file_key else None
    base = (source if file_node is None else file_node).place.file.parent
    package = reading.owner.package or package_around(base)
    if find_files and file_key and file_node is not None:
        folders = search_folders(base, package if resolved.ref.name == "package" else None)
        _check_file(reading, ((*path, file_key), file_node), folders)
    settings = plain(node)
    sample = settings.get("sample")
    reference = DatasetRef(
        source=resolved.ref.name,
        parameters=resolved.ref.parameters,
        base=base,
        id_field=settings.get("id"),
        package=package,
        task=task,
        sample=None if sample is None else (int(sample["n"]), int(sample["seed"])),
        fields=_fields(reading, node),
        choices=_choices(reading, node),
        **{key: settings[key] for key in ("where", "columns", "take") if key in settings and key in core_keys},
    )
    _check_columns(reading, node, path, reference)
    return reference, resolved


def _fields(reading: Reading, dataset: Node) -> Sequence[FieldRef]:
    """Read the fields that are made from those of a row."""
    section = dataset.get("fields")
    refs = []
    for name, node in (section.value if section is not None else {}).items():
        if isinstance(node.value, str):
            refs.append(FieldRef(name, node.value))
            continue
        settings = plain(node)
        if ("from" in settings) == ("value" in settings):
            reading.add(node.place, "a field is made from another one, or has a value", (*_PATH, "fields", name))
        pattern = node.get("pattern")
        if pattern is not None:
            _check_pattern(reading, pattern, (*_PATH, "fields", name, "pattern"))
        _check_split(reading, node.get("split"), (*_PATH, "fields", name, "split"))
        replaced = node.get("replace")
        for index, pair in enumerate(replaced.value if replaced is not None else ()):
            _check_pattern(reading, pair.value[0], (*_PATH, "fields", name, "replace", index))
        options = {
            "number": settings.get("as") == "number",
            "find_all": settings.get("all", False),
            "replace": tuple((before, after) for before, after in settings.get("replace", ())),
            "split": settings.get("split"),
        }
        refs.append(
            FieldRef(name, settings.get("from"), settings.get("pattern"), value=settings.get("value"), **options)
        )
    return tuple(refs)


def _check_split(reading: Reading, node: Node | None, path: KeyPath) -> None:
    """Refuse a separator that looks like a misspelt word of `split`: it would split nothing."""
    word = str(node.value) if node is not None else ""
    near = nearest(word.casefold(), SPLIT_WORDS) if word.isalpha() and word not in SPLIT_WORDS else ()
    if node is not None and near:
        fix = f"Did you mean {near[0]!r}? `split` is {' or '.join(SPLIT_WORDS)}, or a separator."
        reading.add(node.place, f"{word!r} looks like a misspelt word", path, fix)


def _check_columns(reading: Reading, node: Node, path: KeyPath, reference: DatasetRef) -> None:
    """Check that `columns` names every column that the task uses."""
    columns = node.get("columns")
    if columns is None or reference.columns is None:
        return
    taken = set(reference.columns)
    derived = {field.name for field in reference.fields}
    choices = reference.choices
    needed: list[tuple[str, str]] = [] if reference.id_field is None else [("id", reference.id_field)]
    listed: list[Any] = [] if choices is None else [choices.source, choices.answer, choices.labels]
    sources = [name for each in listed[:1] for name in ([each] if isinstance(each, str) else each)]
    needed += [("choices", name) for name in (*sources, *(each for each in listed[1:] if isinstance(each, str)))]
    needed = [(key, name) for key, name in needed if name not in derived and name.partition(".")[0] not in derived]
    needed += [("fields", field.source) for field in reference.fields if field.source is not None]
    for key, name in needed:
        if name in taken or name.partition(".")[0] in taken:
            continue
        near = nearest(name, taken)
        fix = f"Did you mean {near[0]!r}?" if near else f"Add {name.partition('.')[0]!r} to columns."
        at = (columns.key or columns.place, (*path, "columns"))
        reading.add(at[0], f"`columns` leaves out {name!r}, which `{key}` uses", at[1], fix)


def _check_pattern(reading: Reading, node: Node, path: KeyPath) -> None:
    import regex

    try:
        regex.compile(node.value)
    except regex.error as error:
        reading.add(node.place, f"is not a regular expression: {error}", path)


def _choices(reading: Reading, dataset: Node) -> ChoicesRef | None:
    section = dataset.get("choices")
    if section is None:
        return None
    settings = plain(section)
    source = settings["from"] if isinstance(settings["from"], str) else tuple(settings["from"])
    labels = settings.get("labels")
    if isinstance(labels, list):
        labels = tuple(str(label) for label in labels)
    kind = settings.get("answer_is", "index" if labels is None else "label")
    if kind == "label" and labels is None:
        reading.add(section.place, "answer_is: label needs labels", ("dataset", "choices"), "Write labels: [...].")
    return ChoicesRef(source, settings["answer"], kind, settings.get("seed"), labels, settings.get("duplicates", False))


def _file_parameter(source: FoundComponent) -> str | None:
    """Return the parameter that the source declares as a file of the user's (`"x-file": true`)."""
    properties = source.component.parameters.get("properties", {})
    return next((key for key, about in properties.items() if isinstance(about, Mapping) and about.get(FILE_KEY)), None)


def _check_file(reading: Reading, entry: tuple[KeyPath, Node], folders: Sequence[Path]) -> None:
    path, node = entry
    name = str(node.value)
    if find_data_file(name, folders) is not None:
        return
    if any(strays(folder / name, folders) for folder in folders):
        reading.add(node.place, f"the file {name!r} is outside of the task's folder", path, STRAY_FIX)
        return
    siblings = [file.name for folder in folders for file in (folder / name).parent.glob("*") if file.is_file()]
    near = nearest(Path(name).name, siblings)
    looked = " and ".join(str(folder) for folder in folders)
    fix = f"Did you mean {near[0]!r}?" if near else f"Looked in {looked}."
    reading.add(node.place, f"there is no data file {name!r}", path, fix)
