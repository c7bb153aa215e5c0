"""From the name of an executor (`ray://HOST:PORT`) to the executor."""

from __future__ import annotations

from collections.abc import Mapping

from creval.errors import PluginError, UnknownNameError, UsageError
from creval.plugins.registry import Registry
from creval.types.execution import Executor

__all__ = ["LOCAL", "open_executor"]

LOCAL = "local"
_MEMBERS = ("elsewhere", "batch", "open", "make", "score", "close")
_OPTION = "--executor"


def open_executor(spec: str, options: Mapping[str, str], registry: Registry) -> Executor:
    """Return the executor that `spec` names, with its address behind `://`; nothing is started yet.

    Raises UnknownNameError with the nearest names, UsageError (an address or option that it does not take),
    MissingPartError (a package that it needs is absent), PluginError where what the plugin gives is no executor.
    """
    name, sign, address = spec.partition("://")
    if sign and not address:
        raise UsageError(f"{spec!r} names no address", where=_OPTION, cure=f"Write {name}://HOST:PORT, or {name}.")
    names = registry.names("executor")
    if name.rpartition("/")[2] not in names:
        hint = f"Installed: {', '.join(names)}. Plugins bring others: creval ls --registry"
        raise UnknownNameError("executor", name, names, where=_OPTION, hint=hint)
    component = registry.get("executor", name, where=_OPTION)
    executor: Executor = component.load()(address or None, dict(options))
    missing = [member for member in _MEMBERS if not hasattr(executor, member)]
    if missing:
        raise PluginError(
            f"the executor {component.name!r} gives an object without {', '.join(missing)}",
            where=f"plugin {component.plugin}",
            cure="See Executor in docs/reference-plugin.md.",
        )
    return executor
