"""A click group that imports its commands only when they are used."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from creval.errors import MissingPartError, PluginError, UnknownNameError, UsageError
from creval.garbage import start_collection

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = [
    "LazyCommand",
    "LazyGroup",
    "PluginGroup",
    "import_command",
    "import_installed",
    "missing_distribution",
    "rare_option",
    "show_all_options",
]

_TASKS = re.compile("--tasks$|--tasks=|-t")
_HELP_ALL = "creval.help_all"
"""Key of the context's `meta` that is set while `--help-all` prints."""


class LazyCommand(NamedTuple):
    """A command's location (`module:attribute`), its line in the list of commands, and its distribution."""

    target: str
    summary: str
    distribution: str = ""  # empty: the core itself


def import_command(target: str) -> click.Command:
    """Import the click command at `module:attribute`. Raises PluginError if there is none."""
    from creval.plugins.isolation import aside  # imports pluggy, which --help does not need

    module, _, attribute = target.partition(":")
    try:
        with aside():  # output of a plugin's import must not get into the command's output
            command = getattr(importlib.import_module(module), attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a plugin's module may do anything
        what = f"the command cannot be loaded: {type(error).__name__}: {error}"
        raise PluginError(what, where=target, fix="Report this to the plugin that adds it.") from error
    if not isinstance(command, click.Command):
        raise PluginError("is not a click command", where=target, fix="Report this to the plugin that adds it.")
    start_collection()
    return command


def missing_distribution(feature: str, distribution: str) -> MissingPartError:
    """Return the error for a feature whose distribution is not installed."""
    return MissingPartError(f"{feature} needs {distribution}, which is not installed: pip install {distribution}")


def import_installed(target: str, distribution: str, feature: str) -> Any:
    """Import `module:attribute` of another distribution. Raises MissingPartError if that is not installed.

    `feature` is what needs it, for the message.
    """
    module, _, attribute = target.partition(":")
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise missing_distribution(feature, distribution)
    return getattr(importlib.import_module(module), attribute)


def _installed_command(name: str, command: LazyCommand) -> click.Command:
    """Import a command of the root group. Raises MissingPartError if its distribution is not installed."""
    package = command.target.partition(":")[0].partition(".")[0]
    if command.distribution and importlib.util.find_spec(package) is None:
        raise missing_distribution(f"`creval {name}`", command.distribution)
    return import_command(command.target)


class _RareOption(click.Option):
    """An option that only `--help-all` shows."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        return super().get_help_record(ctx) if ctx.meta.get(_HELP_ALL) else None


def rare_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator of an option that only `--help-all` shows."""
    return click.option(*names, cls=_RareOption, **settings)


def show_all_options(ctx: click.Context, _: click.Parameter, requested: bool) -> None:
    """Print the help with rare options and exit: the callback of `--help-all`."""
    if requested and not ctx.resilient_parsing:
        ctx.meta[_HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


class LazyGroup(click.Group):
    """The root group: commands of the core, then `creval <plugin> ...` for plugins with commands.

    Plugins are loaded only for a word that is not a command of the core, so that a broken or slow plugin affects
    `creval --help` in no way.
    """

    def __init__(
        self, *args: Any, sections: Mapping[str, Mapping[str, LazyCommand]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sections = dict(sections or {})
        self.lazy = {name: command for section in self.sections.values() for name, command in section.items()}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept `creval run --tasks ...` for `creval --tasks ...`, as in other tools."""
        place = next((number for number, word in enumerate(args) if word != "--debug"), len(args))
        if args[place : place + 1] == ["run"] and any(_TASKS.match(word) for word in args[place + 1 :]):
            del args[place]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy:
            try:
                return _installed_command(cmd_name, self.lazy[cmd_name])
            except MissingPartError:
                if ctx.resilient_parsing:  # the shell asks while the word is being written
                    return None
                raise
        from creval.plugins.distributions import absent_distribution_of_plugin
        from creval.plugins.loader import load_plugins

        commands = load_plugins().commands
        if cmd_name in commands:
            return PluginGroup(cmd_name, commands[cmd_name])
        if ctx.resilient_parsing:  # the shell asks while the word is being written
            return None
        tasks = ctx.params.get("tasks")
        if tasks and cmd_name.endswith((".yaml", ".yml")):
            fix = f"Run the file alone: creval run {cmd_name}; a file with a task is a task: --tasks {cmd_name}"
            raise UsageError(f"--tasks cannot be combined with the run file {cmd_name!r}", fix=fix)
        if tasks:  # a run: most likely a second task after a blank
            fix = f"Join several tasks with commas: --tasks {','.join([*tasks, cmd_name])}"
            raise UsageError(f"{cmd_name!r} is not expected here", fix=fix)
        if absent := absent_distribution_of_plugin(cmd_name):
            raise missing_distribution(f"`creval {cmd_name}`", absent)
        raise UnknownNameError("command", cmd_name, [*self.lazy, *commands], hint="See: creval --help")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands by their summaries, without importing any, then options."""
        from click.shell_completion import CompletionItem

        from creval.plugins.loader import load_plugins

        named = {name: command.summary for name, command in self.lazy.items()}
        named |= {name: f"Commands of the plugin {name}." for name in load_plugins().commands if name not in named}
        found = [CompletionItem(name, help=about) for name, about in named.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, command.summary) for name, command in section.items()])

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "--tasks A,B --model M [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, with `--help-all` the rare ones as well, then the commands."""
        rare = [option for option in self.get_params(ctx) if isinstance(option, _RareOption)]
        common = [option for option in self.get_params(ctx) if option not in rare]
        for title, options in (("Options", common), ("More options", rare)):
            records = [record for option in options if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        self.format_commands(ctx, formatter)


class PluginGroup(click.Group):
    """`creval <plugin> ...`: the commands of one plugin."""

    def __init__(self, plugin: str, targets: Mapping[str, str]) -> None:
        example = f"Example: creval {plugin} {min(targets)} --help" if targets else None
        super().__init__(plugin, help=f"Commands of the plugin {plugin}.", no_args_is_help=True, epilog=example)
        self._targets = dict(targets)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._targets:
            return import_command(self._targets[cmd_name])
        if ctx.resilient_parsing:
            return None
        raise UnknownNameError(f"command of creval {self.name}", cmd_name, sorted(self._targets))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command; one that cannot be loaded must not hide others."""
        rows = []
        for name in self.list_commands(ctx):
            try:
                command = self.get_command(ctx, name)
                rows.append((name, command.get_short_help_str(limit=formatter.width) if command else ""))
            except PluginError as error:
                rows.append((name, f"({error.what})"))
        with formatter.section("Commands"):
            formatter.write_dl(rows)
