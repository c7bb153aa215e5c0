"""Checks data against JSON Schemas (draft 2020-12) and locates every fault in the YAML file."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from creval.errors import Problem, nearest
from creval.tasks.yaml.nodes import KeyPath, Node, Place, locate, plain, problem_at
from creval.tasks.yaml.wording import SchemaFault, expected, say, shown

if TYPE_CHECKING:
    import jsonschema_rs
    from jsonschema import ValidationError

__all__ = ["SchemaValidator", "load_schema", "named_validator", "problems_of", "validator_for"]

_MAX_FAULTS = 200
_MAX_UNKNOWN = 20
_FOLDER = Path(__file__).parents[2] / "schemas"


@functools.cache
def load_schema(name: str) -> Mapping[str, Any]:
    """Return the schema `schemas/<name>.schema.json` (task, suite, run, sample, score, results)."""
    schema: Mapping[str, Any] = json.loads((_FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


class SchemaValidator:
    """Checks data against a JSON Schema (draft 2020-12). Never fetches anything.

    jsonschema-rs says at once whether data are valid. Only of others jsonschema, which takes long to import, finds the
    faults, whose errors messages are made of.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema

    def iter_errors(self, data: Any) -> Iterator[ValidationError]:
        """Return the faults of the data one by one."""
        return iter(()) if self._is_valid(data) else self._thorough.iter_errors(data)

    def _is_valid(self, data: Any) -> bool:
        try:
            json.dumps(data, allow_nan=False)  # it takes infinity for null
            return self._quick.is_valid(data)
        except Exception:  # data that are no JSON; a schema or a pattern that it cannot use
            return False

    @functools.cached_property
    def _quick(self) -> jsonschema_rs.Validator:
        from jsonschema_rs import Draft202012Validator

        return Draft202012Validator(dict(self._schema), offline=True)

    @functools.cached_property
    def _thorough(self) -> Any:
        from referencing import Registry

        return _validator_class()(self._schema, registry=Registry())


def validator_for(schema: Mapping[str, Any]) -> SchemaValidator:
    """Return a draft 2020-12 validator that never fetches anything."""
    return SchemaValidator(schema)


@functools.cache
def _validator_class() -> Any:
    from jsonschema import Draft202012Validator, ValidationError, validators

    def unique(_: Any, required: bool, value: Any, __: Any) -> Iterator[ValidationError]:
        # The library compares mixed lists pair by pair, so a hostile file could occupy it for hours.
        if required and isinstance(value, list) and len({_canonical(item) for item in value}) < len(value):
            yield ValidationError("has non-unique elements")

    extend: Any = validators.extend
    return extend(Draft202012Validator, {"uniqueItems": unique})


def _canonical(value: Any) -> str:
    """Return the same text for all values that are equal in JSON Schema (1 and 1.0 are, 1 and true are not)."""
    return json.dumps(_integral(value), sort_keys=True)


def _integral(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _integral(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_integral(member) for member in value]
    return value


@functools.cache
def named_validator(name: str) -> SchemaValidator:
    """Return the validator of one of creval's own schemas."""
    return SchemaValidator(load_schema(name))


def problems_of(
    node: Node, validator: SchemaValidator, path: KeyPath = (), other_keys: Sequence[str] = ()
) -> Sequence[Problem]:
    """Check the node at `path` and return every fault, in the order of the file.

    `other_keys` are further keys that the mapping may have and that were removed from it before.
    """
    faults = [SchemaFault.of(error) for error in itertools.islice(validator.iter_errors(plain(node)), _MAX_FAULTS)]
    translation = _Translation(node, path, other_keys)
    # Unknown keys come first: a misspelt key explains why the right one is missing.
    for fault in sorted(faults, key=lambda fault: fault.keyword == "required"):
        translation.add(fault)
    return sorted(translation.problems.values(), key=lambda p: (str(p.file), p.line or 0, p.column or 0))


class _Translation:
    def __init__(self, root: Node, base: KeyPath, other_keys: Sequence[str]) -> None:
        self.problems: dict[tuple[Any, ...], Problem] = {}
        self._root = root
        self._base = base
        self._other_keys = other_keys
        self._suggested: set[tuple[KeyPath, str]] = set()

    def add(self, fault: SchemaFault) -> None:
        node = locate(self._root, fault.path)
        path = (*self._base, *fault.path)
        if fault.of_key:
            key = str(fault.value)
            self._add_problem(_key_place(node, key), f"the key {key!r} is not {expected(fault)}", (*path, key))
        elif fault.keyword in ("additionalProperties", "unevaluatedProperties"):
            self._unknown_keys(fault, node, path)
        elif fault.keyword == "required":
            for key in fault.required_value:
                if key not in fault.value and (path, key) not in self._suggested:
                    self._add_problem(node.place, f"the key {key!r} is missing", path, _purpose(fault.schema, key))
        elif fault.keyword in ("anyOf", "oneOf") and fault.branches:
            self._no_branch(fault, node, path)
        elif fault.keyword == "None":  # a schema that allows nothing
            self._add_problem(node.place, "is not allowed here", path, "Leave it out.")
        else:
            message, fix = say(fault)
            self._add_problem(node.place, message, path, fix)

    def _add_problem(self, place: Place, message: str, path: KeyPath, fix: str | None = None) -> None:
        problem = problem_at(place, message, path, fix)
        self.problems.setdefault((problem.path, message), problem)

    def _unknown_keys(self, fault: SchemaFault, node: Node, path: KeyPath) -> None:
        known = [*(self._other_keys if not fault.path else ()), *fault.schema.get("properties", {})]
        unknown = [key for key in fault.value if key not in known]
        for key in unknown[_MAX_UNKNOWN:][:1]:
            self._add_problem(_key_place(node, key), f"{len(unknown) - _MAX_UNKNOWN} more unknown keys", path)
        for key in unknown[:_MAX_UNKNOWN]:
            near = nearest(key, known)
            self._suggested.update((path, name) for name in near[:1])
            if near:
                fix = f"Did you mean {near[0]!r}?"
            else:
                fix = f"Known keys: {', '.join(known)}." if known else "No key is known here."
            self._add_problem(_key_place(node, key), f"unknown key {key!r}", (*path, key), fix)

    def _no_branch(self, fault: SchemaFault, node: Node, path: KeyPath) -> None:
        """Report the faults of the allowed form that is nearest to the data."""
        branches: dict[Any, list[SchemaFault]] = {}
        for branch, inner in fault.branches:
            branches.setdefault(branch, []).append(inner)
        wanted = [_missing_keys(faults, fault.path) for faults in branches.values()]
        if all(wanted) and not any(key in fault.value for keys in wanted for key in keys):
            forms = ", or ".join(" and ".join(map(repr, keys)) for keys in wanted)
            self._add_problem(node.place, f"needs {forms}", path, "Add what is missing.")
            return
        best = min(branches.values(), key=lambda faults: _distance(faults, fault))
        if _is_other_form(best, fault.path):
            forms = " or ".join(dict.fromkeys(expected(faults[0]) for faults in branches.values()))
            self._add_problem(node.place, f"must be {forms}, but is {shown(fault.value)}", path)
        else:
            for inner in best:
                self.add(inner)


def _is_other_form(faults: Sequence[SchemaFault], path: KeyPath) -> bool:
    return any(fault.keyword in ("type", "const", "enum") and fault.path == path for fault in faults)


def _missing_keys(faults: Sequence[SchemaFault], path: KeyPath) -> Sequence[str]:
    """Return the missing keys of a form, if nothing else is wrong with the value."""
    missing = all(fault.keyword == "required" and fault.path == path for fault in faults)
    return [str(key) for key in faults[0].required_value] if missing else ()


def _distance(faults: Sequence[SchemaFault], form_fault: SchemaFault) -> tuple[bool, int, int]:
    """Return how far a value is from a form: is it of another kind, how few of its keys fit, how many faults."""
    present = sum(key in form_fault.value for key in _missing_keys(faults, form_fault.path))
    return _is_other_form(faults, form_fault.path), -present, len(faults)


def _key_place(node: Node, key: str) -> Place:
    member = node.get(key)
    return member.key if member is not None and member.key is not None else node.place


def _purpose(schema: Mapping[str, Any], key: str) -> str | None:
    about = schema.get("properties", {}).get(key, {}).get("description")
    return f"It is {about}." if about else None
