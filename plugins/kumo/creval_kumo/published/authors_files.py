"""Reads the authors' own repository (a clone of github.com/linhaowei1/kumo) into the form that `published` reads.

    env/<name>_env.py                      which data file a domain takes: `from env.data.<name>_data import ...`
    env/data/<name>_data.py                Truths, Actions and Outcomes as Python data (Medical names them otherwise)
    env/<Domain>/truth_num=T+action_num=A+valid_truth_num=1.jsonl       the instances
    env/<Domain>/knowledge_book/<the same>/seed=<i>.txt                 their knowledge books

None of that code is run: the data files are read as plain data, with the few further forms that they hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creval.plugin import DataError, UnknownNameError
from creval_kumo.published.literal import LiteralError, Reader, Token

__all__ = ["AuthorsFiles"]

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
        """Return the data file of each domain by the domain's name. Raises DataError where this is no such clone."""
        found: dict[str, Path] = {}
        for file in sorted((self.folder / "env").glob("*_env.py")):
            text = _text(file)
            name, source = _CLASS.search(text), _IMPORT.search(text)
            if name and source and (data := self.folder / "env" / "data" / f"{source[1]}_data.py").is_file():
                found[name[1]] = data
        if not found:
            raise DataError(
                "there are no domains in env/*_env.py",
                where=str(self.folder),
                cure="Name the root of a clone of the authors' repository.",
            )
        return found

    def configuration(self, domain: str) -> dict[str, Any]:
        """Return a domain's configuration as a row of the published form."""
        files = self.domains()
        if domain not in files:
            raise UnknownNameError("published KUMO domain", domain, list(files), where=str(self.folder))
        file = files[domain]
        truths, actions, outcomes = _assigned(file)
        return {
            "domain": domain,
            "truths": sorted(truths) if isinstance(truths, frozenset) else list(truths),
            "actions": sorted(actions) if isinstance(actions, frozenset) else list(actions),
            "outcomes": [_outcome(name, entry, file) for name, entry in outcomes.items()],
        }

    @staticmethod
    def places(domain: str, truths: int, actions: int) -> tuple[str, str]:
        """Return the file of a domain's games and the folder of their knowledge books, seen from the root."""
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
        found = _WithComprehensions(text).assignments([*names, "Outcomes"])
    except LiteralError as error:
        raise DataError(f"the file is not plain data: {error}", where=str(file)) from error
    truths, actions, outcomes = (found[name] for name in (*names, "Outcomes"))
    if not isinstance(outcomes, dict) or not all(isinstance(part, list | frozenset) for part in (truths, actions)):
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


class _Comprehension(list[Any]):
    """The result of a comprehension before the brackets around it are closed."""


class _WithComprehensions(Reader):
    """Understands `[name for name in Known if conditions]`, where the conditions are `name not in [...]` and
    `"part" not in name`, joined by `and`; and a second name before the value (`Outcomes = outcomes = ...`).
    """

    doubled_keys = True

    def other_value(self, token: Token, depth: int) -> Any:
        """See the class."""
        if token.kind == "name" and depth == 0 and self.accept("="):
            return self.value(depth)
        if token.kind != "name" or self.peek().text != "for":
            return super().other_value(token, depth)
        self.next()
        self._word(token.text)
        self._word("in")
        source = self.next()
        known = self.names.get(source.text)
        if not isinstance(known, list | frozenset):
            raise LiteralError(f"{source.text!r} is not a list or set assigned before", source.line)
        conditions = []
        if self.peek().text == "if":
            self.next()
            conditions.append(self._condition(token.text, depth))
            while self.peek().text == "and":
                self.next()
                conditions.append(self._condition(token.text, depth))
        return _Comprehension(item for item in known if all(condition(item) for condition in conditions))

    def collection(self, opening: Token, depth: int) -> Any:
        """Brackets around a comprehension hold its result itself."""
        found = super().collection(opening, depth)
        inner = found[0] if isinstance(found, list) and len(found) == 1 else None
        return list(inner) if isinstance(inner, _Comprehension) else found

    def _condition(self, name: str, depth: int) -> Condition:
        start = self.peek()
        left = self.next() if start.text == name else self.value(depth)
        self._word("not")
        self._word("in")
        if start.text == name:
            excluded = self.value(depth)
            return lambda item: item not in excluded
        self._word(name)
        return lambda item: str(left) not in item

    def _word(self, text: str) -> None:
        token = self.next()
        if token.text != text:
            raise LiteralError(f"expected {text}, found {token.text!r}", token.line)
