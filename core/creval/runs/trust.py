"""Decides whether a run folder or run file, which may come from somebody else, may control this machine.

Tasks, models, settings and seeds are always taken from the file. Entries that act on this machine or decide where a key
is sent (addresses, key variables, executors, paths outside of the file's folder) are taken from the command line. They
are taken from the file only if this installation wrote it (`made_here`, a digest keyed by the user's own key), or if
the user trusted it (`--trust`). A key may always be sent to the provider's own address, to one that the environment
names, and to loopback.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from creval.errors import UsageError
from creval.escape import visible
from creval.models.providers.endpoints import ENDPOINTS, is_loopback
from creval.models.secrets import find_key
from creval.tasks.sections.settings import acts_outside
from creval.tasks.task_paths import PATHS_FOLLOW, is_path, names_an_address, parse_path, parts_of_name
from creval.user_folders import STATE_VARIABLE, State

__all__ = ["MADE_HERE", "Claims", "Named", "UntrustedError", "made_here", "names_a_file"]

MADE_HERE = "made_here"
"""The key of the keyed digest in run.json, run.yaml and sweep.yaml."""
_ACTING = ("base_url", "executor", "executor_options", "cache_folder", "data", "reuse", "generation", "conditions")
_PLAIN_EXECUTOR = "local"
_OWN = ("model", "base_url")
_SHOWN = 3
_LONGEST = 120
_LOG = logging.getLogger("creval")
_TRUSTED: ContextVar[frozenset[str]] = ContextVar("creval_trusted", default=frozenset())


class UntrustedError(UsageError):
    """A file has entries that need trust. `file` is the file to trust, `command` the user's command."""

    def __init__(self, what: str, file: Path, command: str) -> None:
        super().__init__(what, where=str(file))
        self.file = file
        self.advise(command)

    def advise(self, command: str) -> None:
        """Set the fix to this command with `--trust` for the file."""
        self.fix = f"Give it on the command line, or if you trust it: {command} --trust {shlex.quote(str(self.file))}"


class Named(NamedTuple):
    """An entry of a file that needs trust: the option's name (`data.drat` for a mapping) and its value."""

    option: str
    value: str

    def __str__(self) -> str:
        value = self.value if len(self.value) <= _LONGEST else f"{self.value[:_LONGEST]}..."
        return visible(f"{self.option}: {value}")


class Claims:
    """The entries of a run.json (`of_run`) or a run file (`of_file`) that need trust.

    `file` is named in messages and by `--trust`; paths in the folder `base` belong to the file. Relative paths are
    resolved in `start`: for a run file its folder, for a run the working directory.
    """

    def __init__(self, file: Path, base: Path, facts: Mapping[str, Any], signature: object, start: Path) -> None:
        self.file = file
        self._base = base
        self._start = start
        self._facts = facts
        self._text = json.dumps(facts, sort_keys=True, ensure_ascii=False, default=str)
        self._signature = signature if isinstance(signature, str) else ""

    @classmethod
    def of_run(cls, manifest: Mapping[str, Any], folder: Path) -> Claims:
        """Return the claims of a run's manifest."""
        options = manifest["options"]
        facts = {name: options[name] for name in (*_ACTING, "resources") if options.get(name)}
        role_options = options.get("role_options") or {}
        roles = {role: manifest["roles"].get(role, "") for role in dict.fromkeys([*manifest["roles"], *role_options])}
        roles = {
            role: {**role_options[role], "model": model} if role_options.get(role) else model
            for role, model in roles.items()
        }
        facts |= {"kind": "run", "tasks": manifest["requested"], "roles": roles}
        return cls(folder, folder, facts, manifest.get(MADE_HERE), Path())

    @classmethod
    def of_file(cls, data: Mapping[str, Any], file: Path) -> Claims:
        """Return the claims of a run file or sweep file."""
        names = (*_ACTING, "resources", "roles", "tasks", "model", "models", "output")
        facts = {name: data[name] for name in names if data.get(name)}
        return cls(file, file.parent, {"kind": "file", **facts}, data.get(MADE_HERE), file.parent)

    @property
    def trusted(self) -> bool:
        """Whether this installation wrote them, or the user trusts them."""
        digest = self._digest
        if digest in _TRUSTED.get() or State().knows(digest):
            return True
        key = State().key(make=False) if self._signature else None
        return key is not None and hmac.compare_digest(self._keyed(key), self._signature)

    def check(self, command: str, command_options: Collection[str] = (), only: Collection[str] | None = None) -> None:
        """Raise UntrustedError if they are not trusted and have entries that the command line does not set.

        `command_options` are the options on the command line, `only` those that count (None: all but the tasks of a
        run, of which the folder has copies). `command` is the user's command.
        """
        of_run = self._facts["kind"] == "run"
        named = [
            entry for entry in dict.fromkeys(self.named()) if _concerns(entry.option, command_options, only, of_run)
        ]
        if not named or self.trusted:
            return
        listed = "; ".join(map(str, named[:_SHOWN])) + (f" and {len(named) - _SHOWN} more" if named[_SHOWN:] else "")
        what = f"it was not made here, and names things that act on this machine: {listed}"
        raise UntrustedError(what, self.file, command)

    def trust(self) -> list[Named]:
        """Trust them from now on, and return their entries. Warns if that cannot be stored."""
        named = list(dict.fromkeys(self.named()))
        _TRUSTED.set(_TRUSTED.get() | {self._digest})
        state = State()
        if not state.trust(self._digest, "\n".join([str(self.file.absolute()), *map(str, named), ""])):
            words = "%s: the trust is not remembered. Name another folder: export %s=DIR"
            _LOG.warning(words, state.fault, STATE_VARIABLE)
        return named

    def signed(self) -> str | None:
        """Return the keyed digest that marks them as written here; None, with a warning, without a key."""
        state = State()
        key = state.key(make=True)
        if key is not None:
            return self._keyed(key)
        if any(_concerns(entry.option, (), None, self._facts["kind"] == "run") for entry in self.named()):
            words = "%s: to resume this run, --trust will be needed. Name another folder: export %s=DIR"
            _LOG.warning(words, state.fault or f"{state.folder} holds no key", STATE_VARIABLE)
        return None

    def named(self) -> Iterator[Named]:
        """Yield the entries that act on this machine, or decide where a key is sent."""
        facts = self._facts
        model = facts.get("model") or facts.get("roles", {}).get("target") or ""
        models = facts.get("models") or ()
        for written in [model, *models]:
            entry = written if isinstance(written, Mapping) else {"model": written}
            yield from _of_model("models", str(entry.get("model", "")), entry, facts, self._base)
        for name in ("roles", "resources"):
            for key, value in facts.get(name, {}).items():
                entry = value if isinstance(value, Mapping) else {"model": value}
                yield from _of_model(f"{name}.{key}", str(entry.get("model", "")), entry, {}, self._base)
        yield from self._of_executor()
        yield from self._of_paths()

    def _of_executor(self) -> Iterator[Named]:
        if self._facts.get("executor", _PLAIN_EXECUTOR) != _PLAIN_EXECUTOR:
            yield Named("executor", str(self._facts["executor"]))
        for name, value in self._facts.get("executor_options", {}).items():
            yield Named(f"executor_options.{name}", str(value))

    def _of_paths(self) -> Iterator[Named]:
        facts = self._facts
        tasks = facts.get("tasks", ())
        for name in [tasks] if isinstance(tasks, str) else tasks:
            if is_path(str(name)):
                yield from self._path("tasks", str(parse_path(str(name)).file))
        for name in ("cache_folder", "output"):
            yield from self._path(name, facts.get(name))
        for key, path in facts.get("data", {}).items():
            yield from self._path(f"data.{key}", path)
        for path in facts.get("reuse", ()):
            yield from self._path("reuse", path)

    def _path(self, option: str, path: object) -> Iterator[Named]:
        if path and not _within(self._base, self._start, str(path)):
            yield Named(option, str(path))

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self._text.encode("utf-8", "surrogatepass")).hexdigest()

    def _keyed(self, key: bytes) -> str:
        return hmac.new(key, self._text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def made_here(manifest: Mapping[str, Any], folder: Path) -> bool:
    """Whether this installation made a run, or the user trusts it."""
    return Claims.of_run(manifest, folder).trusted


def _concerns(option: str, command_options: Collection[str], only: Collection[str] | None, of_run: bool) -> bool:
    name = option.partition(".")[0]
    if name in command_options or (name == "executor_options" and "executor" in command_options):
        return False
    return name in only if only is not None else not (of_run and name == "tasks")


def _of_model(
    option: str, model: str, entry: Mapping[str, Any], shared: Mapping[str, Any], base: Path
) -> Iterator[Named]:
    """Yield the entries of one model: its address, variables of keys, a file in its name, odd settings."""
    for place, options in ((option, entry), ("", shared)):
        address = options.get("base_url")
        if address and not _is_known(model, str(address)):
            yield Named("base_url" if not place else f"{place}.base_url", str(address))
        for name, value in options.items():
            if "key" in name and value:
                yield Named(f"{place}.{name}".lstrip("."), str(value))
        for settings in (options.get("generation"), options.get("conditions")):
            yield from _of_settings(settings)
    yield from _of_settings({name: value for name, value in entry.items() if name not in _OWN and "key" not in name})
    if names_a_file(model, base) or names_an_address(model):
        yield Named(option, model)


def names_a_file(spec: str, base: Path) -> bool:
    """Whether the name of a model or resource (`replay/answers.jsonl`, `hf/X?adapter=/lora`) has a path outside of
    `base`.

    Paths are relative to the working directory, as when they are opened.
    """
    provider, _, model = spec.strip().partition("/")
    if provider in PATHS_FOLLOW:
        return bool(model) and not _within(base, Path(), model)
    paths = [part for part in parts_of_name(model) if part.startswith(("/", "~", ".")) or ".." in Path(part).parts]
    return any(not _within(base, Path(), path) for path in paths)


def _of_settings(settings: object) -> Iterator[Named]:
    if not isinstance(settings, Mapping):
        return
    extra = settings.get("extra")
    for name, value in [*settings.items(), *(extra.items() if isinstance(extra, Mapping) else ())]:
        if acts_outside(str(name)):
            yield Named(f"generation.{name}", str(value))


def _is_known(model: str, address: str) -> bool:
    """Whether a key of the model's provider may be sent to an address without trust."""
    try:
        if is_loopback(address):
            return True
        place = _server(address)
    except ValueError:
        return False
    endpoint = ENDPOINTS.get(model.partition("/")[0])
    if endpoint is None:
        return False
    known = [url for url in (endpoint.url, find_key(endpoint.url_vars)) if url]
    return place in [_server(url) for url in known]


def _server(address: str) -> Sequence[object]:
    parts = urlsplit(address.strip())
    return parts.scheme.lower(), (parts.hostname or "").lower(), parts.port


def _within(base: Path, start: Path, path: str) -> bool:
    """Whether a path (relative to `start`) is in the folder `base`; links are followed."""
    try:
        return (start / Path(path).expanduser()).resolve().is_relative_to(base.resolve())
    except (OSError, RuntimeError, ValueError):
        return False
