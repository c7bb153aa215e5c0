"""Finds, checks and loads plugins, each in isolation: a broken one does not affect the others.

Discovery reads the entry points of group `creval` itself (`creval.plugins.distributions`); pluggy only calls the hooks.
A plugin is loaded completely or not at all: if its import, its hooks or their results are faulty, nothing of it stays
registered, and the failure with its cause is in `Plugins.failures`.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pluggy

from creval.errors import PluginError, UnknownNameError, nearest
from creval.plugins import builtin
from creval.plugins.distributions import Distribution, find_distributions, installed_version, normal_name, satisfies
from creval.plugins.hookspecs import PROJECT, Hooks
from creval.plugins.isolation import HookCalls, PluginFailure, PluginHooks, aside, failure_of
from creval.plugins.registry import Registry

__all__ = ["CORE", "LOCAL", "RESERVED", "PluginFailure", "PluginInfo", "Plugins", "load_plugins"]

CORE = "core"
LOCAL = "local"
"""The plugin name of tasks outside all plugins."""

RESERVED = frozenset(
    {
        "analyse",
        "compare",
        "completion",
        "export",
        "gate",
        "leaderboard",
        "ls",
        "merge",
        "new",
        "play",
        "plot",
        "plugins",
        "prefetch",
        "pull",
        "push",
        "registry",
        "report",
        "resume",
        "run",
        "runs",
        "sample",
        "samples",
        "sandbox",
        "score",
        "score-file",
        "show",
        "validate",
        "view",
    }
)
"""The commands of the core, which no plugin may be named after."""

_COMMAND_PLUGINS = {"compare": "creval-compare", "plot": "creval-plot", "sandbox": "creval-sandbox"}
"""Plugins with a command of the same name, and their distributions."""

_LIMIT_VARIABLE = "CREVAL_PLUGINS"


class PluginInfo(NamedTuple):
    """A loaded plugin.

    `core_api` is the version range of the core that its distribution requires (empty: none stated), `folder` the folder
    of its package.
    """

    name: str
    distribution: str
    version: str
    module: str
    core_api: str = ""
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Plugins:
    """The result of loading: components, task folders, commands, observers, failures."""

    registry: Registry
    infos: Sequence[PluginInfo] = ()
    failures: Sequence[PluginFailure] = ()
    task_folders: Sequence[tuple[str, Path]] = ()
    hooks: HookCalls = field(default_factory=HookCalls)
    commands: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    collections: Mapping[str, str] = field(default_factory=dict)

    def info(self, name: str) -> PluginInfo | None:
        """Return the plugin of this name, or None."""
        return next((info for info in self.infos if info.name == name), None)


def load_plugins(limit: Sequence[str] | None = None, path: Sequence[str] | None = None) -> Plugins:
    """Load the core's own components and every installed plugin.

    `limit` names the plugins to load (default: the variable CREVAL_PLUGINS, comma-separated; unset: all; empty: only
    the core); `path` is the import path to search (default: sys.path). Raises UnknownNameError if `limit` names a
    plugin that is not installed. The failure of a plugin is not raised: see `Plugins.failures`. The result is cached
    until the installed distributions change; do not modify it.
    """
    core_version = installed_version("creval", path) or installed_version("creval") or _own_version()
    distributions = tuple(find_distributions(path))
    found = _load(distributions, _enabled_names(limit, distributions), core_version)
    if found.failures:
        _load.cache_clear()  # what failed is tried again
    return found


@functools.lru_cache(maxsize=4)
def _load(distributions: tuple[Distribution, ...], enabled: frozenset[str] | None, core_version: str) -> Plugins:
    registry = Registry()
    builtin.register(registry.scoped(CORE))
    infos = [PluginInfo(CORE, "creval", core_version, "creval.plugins.builtin")]
    loaded: list[_Loaded] = []
    failures: list[PluginFailure] = []
    claims = Counter((name, distribution.name) for distribution in distributions for name, _ in distribution.plugins)
    for distribution in distributions:
        for name, target in distribution.plugins:
            if enabled is not None and name not in enabled:
                continue
            loading = _Loading(name, target, distribution, core_version)
            failure = failure_of(name, distribution.name, "", lambda: _check_name(loading, claims)) or loading.run()  # noqa: B023
            if failure is not None:
                failures.append(failure)
                continue
            loaded.append(loading.result())
            registry.absorb(loading.registry)
    return Plugins(
        registry=registry,
        infos=(*infos, *(plugin.info for plugin in loaded)),
        failures=tuple(failures),
        task_folders=tuple((plugin.info.name, folder) for plugin in loaded for folder in plugin.task_folders),
        hooks=HookCalls([plugin.hooks for plugin in loaded]),
        commands={plugin.info.name: plugin.commands for plugin in loaded if plugin.commands},
        collections={plugin.info.name: plugin.collection for plugin in loaded if plugin.collection},
    )


def _own_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("creval")
    except PackageNotFoundError:
        return "0"


def _enabled_names(limit: Sequence[str] | None, distributions: Sequence[Distribution]) -> frozenset[str] | None:
    source = None
    if limit is None:
        variable = os.environ.get(_LIMIT_VARIABLE)
        if variable is None:
            return None
        source = _LIMIT_VARIABLE
        limit = [name.strip() for name in variable.split(",") if name.strip()]
    known = [CORE, *(name for distribution in distributions for name, _ in distribution.plugins)]
    for name in limit:
        if name not in known:
            raise UnknownNameError("plugin", name, known, where=source, hint=f"Installed are: {', '.join(known)}.")
    return frozenset(limit)


def _check_name(loading: _Loading, claims: Mapping[tuple[str, str], int]) -> None:
    """Raise PluginError if a plugin cannot have its name.

    The distribution `creval-NAME` owns NAME. If several others claim a name, none of them gets it, since the choice
    must not depend on the alphabet. `claims` counts the entry points by name and distribution.
    """
    name = loading.name
    if name in (CORE, LOCAL) or not name.replace("_", "").replace("-", "").isalnum():
        raise PluginError(f"{name!r} cannot be the name of a plugin: use letters, digits, '-', '_', not core or local")
    if name in RESERVED and _COMMAND_PLUGINS.get(name) != loading.distribution.name:
        raise PluginError(f"{name!r} cannot be the name of a plugin: it is a command of creval")
    distribution_name = loading.distribution.name
    if claims[name, distribution_name] > 1:
        raise PluginError(f"its distribution has {claims[name, distribution_name]} entry points called {name!r}")
    other_claimants = [
        distribution for claimed, distribution in claims if claimed == name and distribution != distribution_name
    ]
    owner = normal_name(f"creval-{name}")
    if not other_claimants or normal_name(distribution_name) == owner:
        return
    if owner in map(normal_name, other_claimants):
        raise PluginError(f"the plugin name {name!r} belongs to {owner}, which is installed; uninstall one of the two")
    listed = ", ".join(other_claimants)
    raise PluginError(f"the plugin name {name!r} is also claimed by {listed}, so none has it; uninstall all but one")


class _Loaded(NamedTuple):
    info: PluginInfo
    hooks: PluginHooks
    task_folders: Sequence[Path]
    commands: Mapping[str, str]
    collection: str


class _Manager(pluggy.PluginManager):
    """Passes over names such as `__doc__`, which are most of a module's and no hooks: each start has many plugins."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        return None if name.startswith("__") else super().parse_hookimpl_opts(plugin, name)

    def parse_hookspec_opts(self, module_or_class: ModuleType | type, name: str) -> pluggy.HookspecOpts | None:
        return None if name.startswith("__") else super().parse_hookspec_opts(module_or_class, name)


class _Loading:
    """The loading of one plugin."""

    def __init__(self, name: str, target: str, distribution: Distribution, core_version: str) -> None:
        self.name = name
        self.target = target
        self.distribution = distribution
        self.registry = Registry()
        self._core_version = core_version
        self._manager = _Manager(PROJECT)
        self._manager.add_hookspecs(Hooks)
        self._module: Any = None
        self._task_folders: Sequence[Path] = ()
        self._commands: Mapping[str, str] = {}
        self._collection = ""

    def run(self) -> PluginFailure | None:
        """Run every step; the first one that fails ends the loading."""
        steps = (
            ("", self._check_core_version),
            (f"while importing {self.target}", self._import),
            ("", self._register_hooks),
            ("in the hook creval_components", self._call_components),
            ("in the hook creval_tasks", self._call_tasks),
            ("in the hook creval_commands", self._call_commands),
            ("in the hook creval_task_collection", self._call_collection),
        )
        for when, step in steps:
            failure = failure_of(self.name, self.distribution.name, when, step)
            if failure is not None:
                return failure
        return None

    def result(self) -> _Loaded:
        file = getattr(self._module, "__file__", None)
        info = PluginInfo(
            name=self.name,
            distribution=self.distribution.name,
            version=self.distribution.version,
            module=self.target,
            core_api=self.distribution.core_api,
            folder=Path(file).parent if file else None,
        )
        hooks = PluginHooks(self.name, self.distribution.name, self._manager)
        return _Loaded(info, hooks, self._task_folders, self._commands, self._collection)

    def _check_core_version(self) -> None:
        requirement = self.distribution.core_api
        try:
            fits = satisfies(self._core_version, requirement)
        except ValueError as error:
            raise PluginError(f"its requirement on creval cannot be read: {error}") from error
        if not fits:
            raise PluginError(f"it needs creval {requirement}, but creval {self._core_version} is installed")

    def _import(self) -> None:
        module_name, _, attribute = self.target.partition(":")
        with aside():  # a plugin's output would get into the JSON of a command
            module = importlib.import_module(module_name)
        self._module = module
        plugin: Any = module
        for part in filter(None, attribute.split(".")):
            plugin = getattr(plugin, part)
        self._plugin = plugin

    def _register_hooks(self) -> None:
        self._manager.register(self._plugin, name=self.name)
        known = [name for name in vars(Hooks) if name.startswith("creval_")]
        for name in dir(self._plugin):
            if name.startswith("creval_") and name not in known and callable(getattr(self._plugin, name)):
                near = nearest(name, known)
                raise PluginError(f"there is no hook {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        callers = self._manager.get_hookcallers(self._plugin)
        if not callers:
            raise PluginError("it implements no hook: mark its functions with @hookimpl of creval.plugin")

    def _call_components(self) -> None:
        self._manager.hook.creval_components(registry=self.registry.scoped(self.name))

    def _call_tasks(self) -> None:
        folders = []
        for result in self._manager.hook.creval_tasks():
            if isinstance(result, str | bytes) or not isinstance(result, Sequence):
                raise PluginError(f"it must return a list of folders, not {type(result).__name__}")
            for folder in result:
                if not isinstance(folder, str | Path) or not Path(folder).is_dir():
                    raise PluginError(f"there is no folder {str(folder)!r}")
                folders.append(Path(folder))
        self._task_folders = tuple(folders)

    def _call_commands(self) -> None:
        commands: dict[str, str] = {}
        for result in self._manager.hook.creval_commands():
            if not isinstance(result, Mapping):
                raise PluginError(f"it must return a mapping of name to module:attribute, not {type(result).__name__}")
            for name, target in result.items():
                if not isinstance(name, str) or not isinstance(target, str) or not all(target.partition(":")):
                    raise PluginError(f"the command {name!r}: {target!r} is not of the form module:attribute")
                commands[name] = target
        self._commands = commands

    def _call_collection(self) -> None:
        for target in self._manager.hook.creval_task_collection():
            if not isinstance(target, str) or not all(target.partition(":")):
                raise PluginError(f"{target!r} is not of the form module:attribute")
            self._collection = target
