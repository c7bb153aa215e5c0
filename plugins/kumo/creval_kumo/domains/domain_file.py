"""Read a domain's YAML file into a `Domain`, with a line number for every fault.

The format:

    domain: medical
    title: Medical diagnosis
    goal: identify the disease of a patient
    truth: {singular: disease, plural: diseases}
    action: {singular: diagnostic test, plural: diagnostic tests}
    truths:
      - {name: Asthma, about: "..."}
    actions:
      - name: Spirometry
        about: "..."
        type: str                     # or float, then with `unit`
        outcomes:
          - {label: obstructive, rules_out: [Healthy]}         # for str
          - {range: [0.0, 5.6], rules_out: [Diabetes]}         # for float, both ends included

Only plain data is accepted: aliases, custom tags and duplicate keys are faults, and the file's size is bounded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from creval_kumo.domains.domain import Action, Domain, Interval, Noun, Outcome, State, Truth
from creval_kumo.domains.faults import DomainError, Fault, FaultKind
from creval_kumo.domains.rules import SHIPPED_RULES, Rules, find_faults

__all__ = ["MAX_BYTES", "domain_faults", "load_domain_file"]

MAX_BYTES = 4_000_000
KeyPath = tuple[str | int, ...]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's composer if available: 10 times faster


def load_domain_file(path: Path, rules: Rules = SHIPPED_RULES) -> Domain:
    """Read and validate one domain file.

    Raises:
        DomainError: with every fault found, each by name with its line.
    """
    domain, faults = domain_faults(path, rules)
    if faults or domain is None:
        raise DomainError(faults, where=str(path), fix="Correct the file; the format is in domain_file.py.")
    return domain


def domain_faults(path: Path, rules: Rules = SHIPPED_RULES) -> tuple[Domain | None, list[Fault]]:
    """Read one domain file; return what could be read of it, and every fault found."""
    reader = _Reader()
    try:
        if path.stat().st_size > MAX_BYTES:
            return None, [Fault(FaultKind.BAD_YAML, f"the file is larger than {MAX_BYTES} bytes")]
        text = path.read_text(encoding="utf-8")
        reader.refuse_aliases(text)
        root = yaml.compose(text, Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        return None, [Fault(FaultKind.BAD_YAML, f"the file cannot be read: {error}")]
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error)
        return None, [Fault(FaultKind.BAD_YAML, str(said), line=mark.line + 1 if mark else None)]
    if reader.faults:
        return None, reader.faults
    domain = reader.domain(root)
    faults = reader.faults
    if domain is not None:
        known = {fault.path for fault in faults}
        for fault in find_faults(domain, rules):
            if fault.path not in known:
                faults.append(Fault(fault.kind, fault.message, fault.path, reader.line_of(fault.path)))
    return domain, sorted(faults, key=lambda fault: fault.line or 0)


class _Reader:
    """Turns YAML nodes into the domain's data classes, noting lines and faults on the way."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.lines: dict[KeyPath, int] = {}

    def refuse_aliases(self, text: str) -> None:
        if "*" not in text:
            return  # an alias begins with a star, so the events need no check
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                message = f"alias *{event.anchor} is not allowed; write the value out"
                line = event.start_mark.line + 1 if event.start_mark else None
                self.faults.append(Fault(FaultKind.BAD_YAML, message, line=line))

    def line_of(self, path: KeyPath) -> int | None:
        """Return the line of the deepest known node on `path`."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None

    def fault(self, message: str, path: KeyPath, kind: FaultKind = FaultKind.WRONG_SHAPE) -> None:
        self.faults.append(Fault(kind, message, path, self.line_of(path)))

    def mapping(self, node: Any, path: KeyPath, required: set[str], optional: set[str]) -> dict[str, Any]:
        """Return the child nodes of a mapping by key; missing, unknown and duplicate keys are faults."""
        if node is not None:
            self.lines[path] = node.start_mark.line + 1
        if not isinstance(node, yaml.MappingNode):
            self.fault(f"expected a mapping with {', '.join(sorted(required))}", path)
            return {}
        children: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            if key in children:
                self.fault(f"key {key!r} occurs twice", (*path, key))
            elif key not in required | optional:
                self.fault(f"unknown key {key!r}", (*path, key))
            children[key] = value_node
        for key in sorted(required - children.keys()):
            self.fault(f"key {key!r} is missing", path)
        return children

    def sequence(self, node: Any, path: KeyPath) -> list[Any]:
        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode):
            self.fault("expected a list", path)
            return []
        return list(node.value)

    def text(self, node: Any, path: KeyPath) -> str:
        """Return a string; a value that YAML reads as another type (`no`, `12`) must be quoted."""
        if node is None:
            return ""
        self.lines.setdefault(path, node.start_mark.line + 1)
        if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:str":
            shown = repr(node.value) if isinstance(node, yaml.ScalarNode) else "a list or mapping"
            self.fault(f"expected text, found {shown}; put it in quotes", path)
            return str(node.value) if isinstance(node, yaml.ScalarNode) else ""
        return str(node.value).strip() if "\n" in node.value else str(node.value)

    def number(self, node: Any, path: KeyPath) -> float:
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith((":int", ":float")):
            try:
                return float(node.value.replace("_", ""))
            except ValueError:
                pass
        self.fault("expected a plain decimal number", path, FaultKind.BAD_RANGE)
        return float("nan")

    def domain(self, root: Any) -> Domain | None:
        required = {"domain", "title", "goal", "truth", "action", "truths", "actions"}
        top = self.mapping(root, (), required, set())
        if not top:
            return None
        truths = [
            self.truth(node, ("truths", index))
            for index, node in enumerate(self.sequence(top.get("truths"), ("truths",)))
        ]
        actions = [
            self.action(node, ("actions", index))
            for index, node in enumerate(self.sequence(top.get("actions"), ("actions",)))
        ]
        return Domain(
            name=self.text(top.get("domain"), ("domain",)),
            title=self.text(top.get("title"), ("title",)),
            goal=self.text(top.get("goal"), ("goal",)),
            truth_noun=self.noun(top.get("truth"), ("truth",)),
            action_noun=self.noun(top.get("action"), ("action",)),
            truths=tuple(truths),
            actions=tuple(actions),
        )

    def noun(self, node: Any, path: KeyPath) -> Noun:
        part = self.mapping(node, path, {"singular", "plural"}, set())
        return Noun(
            self.text(part.get("singular"), (*path, "singular")), self.text(part.get("plural"), (*path, "plural"))
        )

    def truth(self, node: Any, path: KeyPath) -> Truth:
        part = self.mapping(node, path, {"name", "about"}, set())
        return Truth(self.text(part.get("name"), (*path, "name")), self.text(part.get("about"), (*path, "about")))

    def action(self, node: Any, path: KeyPath) -> Action:
        part = self.mapping(node, path, {"name", "about", "type", "outcomes"}, {"unit"})
        kind = self.text(part.get("type"), (*path, "type"))
        if kind not in ("str", "float"):
            if "type" in part:
                self.fault(f"type {kind!r} is neither str nor float", (*path, "type"), FaultKind.WRONG_TYPE)
            kind = "str"
        if "unit" in part and kind == "str":
            self.fault("unit belongs to type float only", (*path, "unit"))
        outcomes = [
            self.outcome(child, (*path, "outcomes", index), kind)
            for index, child in enumerate(self.sequence(part.get("outcomes"), (*path, "outcomes")))
        ]
        return Action(
            name=self.text(part.get("name"), (*path, "name")),
            type="float" if kind == "float" else "str",
            outcomes=tuple(outcomes),
            about=self.text(part.get("about"), (*path, "about")),
            unit=self.text(part.get("unit"), (*path, "unit")),
        )

    def outcome(self, node: Any, path: KeyPath, kind: str) -> Outcome:
        key = "range" if kind == "float" else "label"
        part = self.mapping(node, path, {key, "rules_out"}, set())
        state: State
        if kind == "float":
            ends = self.sequence(part.get("range"), (*path, "range"))
            if len(ends) == 2:
                state = Interval(self.number(ends[0], (*path, "range")), self.number(ends[1], (*path, "range")))
            else:
                if "range" in part:
                    self.fault("expected two numbers, [lo, hi]", (*path, "range"), FaultKind.BAD_RANGE)
                state = Interval(float("nan"), float("nan"))
        else:
            state = self.text(part.get("label"), (*path, "label"))
        names = [
            self.text(child, (*path, "rules_out"))
            for child in self.sequence(part.get("rules_out"), (*path, "rules_out"))
        ]
        if len(set(names)) != len(names):
            self.fault("a truth occurs twice in rules_out", (*path, "rules_out"))
        return Outcome(state, frozenset(names))
