"""Read the authors' repository (a clone of github.com/linhaowei1/kumo) into the form that `published` reads.

    env/<name>_env.py                      which data file a domain takes: `from env.data.<name>_data import ...`
    env/data/<name>_data.py                Truths, Actions and Outcomes as Python data (Medical names them otherwise)
    env/<Domain>/truth_num=T+action_num=A+valid_truth_num=1.jsonl       the instances
    env/<Domain>/knowledge_book/<the same>/seed=<i>.txt                 their knowledge books
    agents/vanilla_agent.py                the wording of a turn; that of a game's beginning is in env/<name>_env.py

None of this code is executed: the data files are read as plain data, plus the few other forms that they contain, such
as a second name before a value (`Outcomes = outcomes = ...`).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import DataError, UnknownNameError
from creval_kumo.published.literal import Data, LiteralError, read_assignments
from creval_kumo.published.wording import Wording

__all__ = ["AGENT", "AuthorsFiles"]

AGENT = "agents/vanilla_agent.py"
MAX_BYTES = 2_000_000
_CLASS = re.compile(r"register_environment\(\s*['\"](\w+Env)['\"]\s*\)")
_IMPORT = re.compile(r"^from (?:env)?\.?data\.(\w+)_data import", re.MULTILINE)
_KNOWN_NAMES = (("Truths", "Actions"), ("Diseases", "Diagnosis"), ("Abilities", "Tests"))

Condition = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class AuthorsFiles:
    """A clone. `folder` is its root."""

    folder: Path

    def domains(self) -> dict[str, Path]:
        """Return the data file of each domain by name. Raises DataError if the folder is not such a clone."""
        return {name: data for name, (_, data) in self._domain_files().items()}

    def _domain_files(self) -> dict[str, tuple[Path, Path]]:
        """Return the environment and the data file of each domain."""
        found: dict[str, tuple[Path, Path]] = {}
        for file in sorted((self.folder / "env").glob("*_env.py")):
            text = _text(file)
            name, source = _CLASS.search(text), _IMPORT.search(text)
            if name and source and (data := self.folder / "env" / "data" / f"{source[1]}_data.py").is_file():
                found[name[1]] = file, data
        if not found:
            raise DataError(
                "there are no domains in env/*_env.py",
                where=str(self.folder),
                fix="Name the root of a clone of the authors' repository.",
            )
        return found

    def _files_of(self, domain: str) -> tuple[Path, Path]:
        files = self._domain_files()
        if domain not in files:
            raise UnknownNameError("published KUMO domain", domain, list(files), where=str(self.folder))
        return files[domain]

    def wording(self, domain: str) -> Wording:
        """Return the wording of a domain's games. Raises DataError if its form is not the expected one."""
        return Wording.read(self._files_of(domain)[0], self.folder / AGENT)

    def configuration(self, domain: str) -> dict[str, Any]:
        """Return a domain's configuration as a row of the published form."""
        file = self._files_of(domain)[1]
        truths, actions, outcomes = _assigned(file)
        return {
            "domain": domain,
            "truths": sorted(truths) if isinstance(truths, set) else list(truths),
            "actions": sorted(actions) if isinstance(actions, set) else list(actions),
            "outcomes": [_outcome(name, entry, file) for name, entry in outcomes.items()],
        }

    @staticmethod
    def places(domain: str, truths: int, actions: int) -> tuple[str, str]:
        """Return the file of a domain's games and the folder of their knowledge books, relative to the root."""
        sizes = f"truth_num={truths}+action_num={actions}+valid_truth_num=1"
        return f"env/{domain}/{sizes}.jsonl", f"env/{domain}/knowledge_book/{sizes}"

    def instances(self, domain: str, truths: int, actions: int) -> Iterator[dict[str, Any]]:
        """Yield the instances of a domain with their books, as rows of the published form."""
        games, books = self.places(domain, truths, actions)
        file = self.folder / games
        for number, line in enumerate(_text(file).splitlines(), start=1):
            try:
                row = json.loads(line)
                book = self.folder / books / f"seed={int(row['seed'])}.txt"
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"not an instance: {error!r}", where=f"{file}:{number}") from error
            yield {**row, "knowledge_book": _text(book)}


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise DataError(f"the file is larger than {MAX_BYTES} bytes", where=str(file))
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(file)) from error


def _assigned(file: Path) -> tuple[Any, Any, Mapping[str, Any]]:
    text = _text(file)
    names = next((pair for pair in _KNOWN_NAMES if re.search(rf"^{pair[0]}\s*=", text, re.MULTILINE)), _KNOWN_NAMES[0])
    try:
        found = read_assignments(text, [*names, "Outcomes"], _WithComprehensions())
    except LiteralError as error:
        raise DataError(f"the file is not plain data: {error}", where=str(file)) from error
    truths, actions, outcomes = (found[name] for name in (*names, "Outcomes"))
    if not isinstance(outcomes, dict) or not all(isinstance(part, list | set) for part in (truths, actions)):
        raise DataError("truths and actions must be lists or sets, outcomes a dictionary", where=str(file))
    return truths, actions, outcomes


def _outcome(name: str, entry: Any, file: Path) -> dict[str, Any]:
    try:
        states = [
            {"state": list(state) if isinstance(state, tuple) else state, "rules_out": sorted(ruled_out)}
            for state, ruled_out in entry["states"].items()
        ]
        return {"action": name, "type": entry["type"], "states": states}
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the outcomes of {name!r} have another form: {error!r}", where=str(file)) from error


class _WithComprehensions(Data):
    """Also reads `[name for name in Known if conditions]`; the conditions are `name not in [...]` and
    `"part" not in name`, joined by `and`. A key of a dictionary may occur twice, as in the authors' files.
    """

    repeated_keys = True

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:  # noqa: N802
        """See the class."""
        match node:
            case ast.ListComp(
                elt=ast.Name(id=name),
                generators=[ast.comprehension(target=ast.Name(id=loop), iter=ast.Name(id=source), ifs=tests)],
            ) if name == loop and isinstance(self.names.get(source), list | set):
                conditions = [self._condition(name, part) for test in tests for part in _parts(test)]
                kept = [item for item in self.names[source] if all(condition(item) for condition in conditions)]
                return ast.List([ast.Constant(item) for item in kept])
        raise ValueError("this comprehension is not read")

    def _condition(self, name: str, test: ast.expr) -> Condition:
        match test:
            case ast.Compare(left=ast.Name(id=tested), ops=[ast.NotIn()], comparators=[values]) if tested == name:
                excluded = ast.literal_eval(self.visit(values))
                return lambda item: item not in excluded
            case ast.Compare(
                left=ast.Constant(value=str(part)), ops=[ast.NotIn()], comparators=[ast.Name(id=tested)]
            ) if tested == name:
                return lambda item: part not in item
        raise ValueError("this condition of a comprehension is not read")


def _parts(test: ast.expr) -> list[ast.expr]:
    """Return the conditions that `and` joins."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
