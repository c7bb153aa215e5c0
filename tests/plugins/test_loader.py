"""The plugin loader with real distributions: what a sound plugin brings; a broken one costs nobody anything."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.toy_plugins import write_distribution

from creval.errors import UnknownNameError
from creval.plugins.isolation import aside
from creval.plugins.loader import Plugins, load_plugins

SOUND = """
    from pathlib import Path
    from creval.plugins import hookimpl

    @hookimpl
    def creval_tasks():
        return [Path(__file__).parent / "tasks"]

    @hookimpl
    def creval_components(registry):
        registry.add("scorer", "rhyme", "sound_plugin.rhyme:Rhyme", "how well it rhymes", produces=("rhyme",))

    @hookimpl
    def creval_commands():
        return {"rhyme": "sound_plugin.cli:rhyme"}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path with one sound plugin in it."""
    folder = tmp_path / "site"
    (folder / "sound_plugin" / "tasks").mkdir(parents=True)
    write_distribution(folder, "creval-sound", {"sound_plugin/__init__.py": SOUND}, {"sound": "sound_plugin"})
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("CREVAL_PLUGINS", raising=False)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if not name.startswith(("creval", "hypothesis", "_pytest")):
            del sys.modules[name]


def load(site: Path, **options: list[str]) -> Plugins:
    return load_plugins(path=[str(site)], **options)


def add(site: Path, name: str, text: str, **options: object) -> None:
    """Write a plugin of one module."""
    write_distribution(site, f"creval-{name}", {f"{name}_plugin.py": text}, {name: f"{name}_plugin"}, **options)  # type: ignore[arg-type]


def test_a_sound_plugin_brings_its_parts(site: Path) -> None:
    plugins = load(site)
    assert plugins.failures == ()
    core, sound = plugins.infos
    assert core.name == "core" and core.version
    assert (sound.name, sound.distribution, sound.version) == ("sound", "creval-sound", "1.2.0")
    assert (sound.module, sound.core_api, sound.folder) == ("sound_plugin", ">=0.1,<1", site / "sound_plugin")
    component = plugins.registry.get("scorer", "sound/rhyme")
    assert (component.plugin, component.produces, component.summary) == ("sound", ("rhyme",), "how well it rhymes")
    assert plugins.task_folders == (("sound", site / "sound_plugin" / "tasks"),)
    assert plugins.commands == {"sound": {"rhyme": "sound_plugin.cli:rhyme"}}
    assert plugins.registry.get("source", "package").plugin == "core"


def test_a_plugin_may_be_an_object(site: Path) -> None:
    text = """
        from creval.plugins import hookimpl
        class Mine:
            @hookimpl
            def creval_components(self, registry):
                registry.add("parser", "mine", "object_plugin:x")
        class Holder:
            plugin = Mine()
    """
    write_distribution(site, "creval-object", {"object_plugin.py": text}, {"object": "object_plugin:Holder.plugin"})
    plugins = load(site)
    assert plugins.failures == ()
    assert plugins.registry.get("parser", "mine").plugin == "object"


HOOKED = "from creval.plugins import hookimpl\n"
COMPONENTS = HOOKED + "@hookimpl\ndef creval_components(registry):\n    registry.add('parser', 'half', 'x:y')\n"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("raise RuntimeError('not today')", "RuntimeError: not today while importing broken_plugin"),
        ("raise SystemExit(3)", "it tried to end the program (SystemExit: 3) while importing broken_plugin"),
        ("raise BaseException('odd')", "BaseException: odd while importing broken_plugin"),
        ("import no_such_package_xyz", "No module named 'no_such_package_xyz' while importing broken_plugin"),
        ("def (", "SyntaxError: invalid syntax (broken_plugin.py, line 1) while importing broken_plugin"),
        ("x = 1", "it implements no hook: mark its functions with @hookimpl of creval.plugin"),
        ("def creval_tasks(): return []", "it implements no hook: mark its functions with @hookimpl of creval.plugin"),
        (HOOKED + "@hookimpl\ndef creval_task(): return []", "no hook 'creval_task'; did you mean 'creval_tasks'?"),
        (HOOKED + "@hookimpl\ndef creval_components(registri): pass", "PluginValidationError"),
        (COMPONENTS + "    raise ValueError('late')", "ValueError: late in the hook creval_components"),
        (COMPONENTS + "    registry.add('parsr', 'x', 'x:y')", "'parsr' is not a kind of component"),
        (COMPONENTS + "    registry.add('parser', 'half', 'x:z')", "registers the parser 'half' twice"),
        (COMPONENTS + "    registry.add('parser', 'x', 'nocolon')", "is not of the form module:attribute"),
        (
            COMPONENTS + "    registry.add('scorer', 'x', 'x:y', produce=('a',))",
            "there is no argument 'produce'; did you mean 'produces'?",
        ),
        (COMPONENTS + "    registry.add('scorer', 'x', 'x:y', produces='a')", "must be a tuple of names"),
        (COMPONENTS + "    registry.add('parser', 'x', 'x:y', parameters={})", "must be a JSON Schema"),
        (COMPONENTS + "    registry.add('parser', 'x', 'x:y', positional='p')", "is none of its parameters"),
        (COMPONENTS + "    registry.add('parser', 'a/b', 'x:y')", "is not a name for a component"),
        (COMPONENTS + "@hookimpl\ndef creval_tasks(): return ['/no/such']", "there is no folder '/no/such'"),
        (COMPONENTS + "@hookimpl\ndef creval_tasks(): return 'abc'", "it must return a list of folders, not str"),
        (COMPONENTS + "@hookimpl\ndef creval_tasks(): return [7]", "there is no folder '7'"),
        (COMPONENTS + "@hookimpl\ndef creval_tasks(): raise SystemExit", "it tried to end the program"),
        (COMPONENTS + "@hookimpl\ndef creval_commands(): return [1]", "it must return a mapping"),
        (COMPONENTS + "@hookimpl\ndef creval_commands(): return {'x': 'y'}", "is not of the form module:attribute"),
    ],
)  # fmt: skip
def test_a_broken_plugin_is_left_out_whole_with_its_cause(site: Path, text: str, error: str) -> None:
    add(site, "broken", text)
    plugins = load(site)
    (failure,) = plugins.failures
    assert (failure.name, failure.distribution) == ("broken", "creval-broken")
    assert error in failure.error
    assert failure.cause is not None
    assert [info.name for info in plugins.infos] == ["core", "sound"]
    assert plugins.registry.find("parser", "half") is None
    assert plugins.registry.get("scorer", "rhyme").plugin == "sound"
    assert "broken" not in plugins.commands


def test_the_users_interrupt_is_not_swallowed(site: Path) -> None:
    add(site, "broken", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load(site)


@pytest.mark.parametrize(
    ("requires", "error"),
    [
        (["creval>=99"], "it needs creval >=99, but creval"),
        (["other", "creval (<0.0.1)"], "it needs creval <0.0.1, but creval"),
        (["creval[hf]>=99 ; python_version > '3'"], "it needs creval >=99"),
        (["creval ~ 1"], "its requirement on creval cannot be read"),
        (["creval>=0.0.1", "creval-kumo>=99", "creval>=99; extra == 'test'"], None),
        (["creval @ file:///somewhere"], None),
        ([], None),
    ],
)
def test_a_plugin_for_another_core_is_left_out(site: Path, requires: list[str], error: str | None) -> None:
    witness = COMPONENTS.replace("half", "whole")
    add(site, "other", witness, requires=requires)
    plugins = load(site)
    if error is None:
        assert plugins.failures == ()
        assert plugins.registry.find("parser", "whole") is not None
    else:
        assert error in plugins.failures[0].error
        assert "other_plugin" not in sys.modules, "a plugin for another core must not even be imported"


def test_a_name_belongs_to_the_distribution_that_is_called_after_it(site: Path) -> None:
    """Whoever comes first in the alphabet: `creval-sound` owns `sound`, and the others are refused by name."""
    write_distribution(site, "another", {"another_plugin.py": COMPONENTS}, {"sound": "another_plugin"})
    write_distribution(site, "zzz", {"zzz_plugin.py": COMPONENTS}, {"sound": "zzz_plugin"})
    write_distribution(site, "impostor", {"impostor_plugin.py": COMPONENTS}, {"core": "impostor_plugin"})
    plugins = load(site)
    assert [info.distribution for info in plugins.infos] == ["creval", "creval-sound"]
    errors = {failure.distribution: failure.error for failure in plugins.failures}
    assert set(errors) == {"another", "zzz", "impostor"}
    for name in ("another", "zzz"):
        assert "'sound' belongs to creval-sound, which is installed" in errors[name]
    assert "'core' cannot be the name of a plugin" in errors["impostor"]
    assert "another_plugin" not in sys.modules, "what is refused is not even imported"


def test_of_several_others_none_gets_the_name(site: Path) -> None:
    for name in ("aaa", "bbb", "ccc"):
        write_distribution(site, name, {f"{name}_plugin.py": COMPONENTS}, {"tides": f"{name}_plugin"})
    plugins = load(site)
    assert [info.name for info in plugins.infos] == ["core", "sound"]
    errors = {failure.distribution: failure.error for failure in plugins.failures}
    assert "'tides' is also claimed by aaa, ccc, so none has it" in errors["bbb"]
    assert set(errors) == {"aaa", "bbb", "ccc"}


def test_one_alone_gets_any_free_name(site: Path) -> None:
    write_distribution(site, "aaa", {"aaa_plugin.py": COMPONENTS}, {"tides": "aaa_plugin"})
    assert [info.name for info in load(site).infos] == ["core", "tides", "sound"]


def test_two_entry_points_of_one_name_are_refused_whole(site: Path) -> None:
    write_distribution(site, "creval-twice", {"twice_plugin.py": COMPONENTS}, {"twice": "twice_plugin"})
    (entry_points,) = site.glob("creval_twice*.dist-info/entry_points.txt")
    entry_points.write_text("[creval]\ntwice = twice_plugin\ntwice = other_plugin\n")
    plugins = load(site)
    assert [failure.error for failure in plugins.failures] == ["its distribution has 2 entry points called 'twice'"] * 2


def test_the_first_copy_on_the_path_counts(site: Path, tmp_path: Path) -> None:
    older = tmp_path / "older"
    write_distribution(older, "Creval_Sound", {}, {"sound": "nowhere"}, version="0.0.1")
    plugins = load_plugins(path=[str(site), str(older), "/no/such/folder"])
    assert plugins.failures == ()
    assert [info.version for info in plugins.infos if info.name == "sound"] == ["1.2.0"]


def test_plugins_load_anew_only_where_something_was_installed(site: Path, tmp_path: Path) -> None:
    """Not where a run's folder is made next to the user's script, which is on the import path."""
    script = tmp_path / "script"
    script.mkdir()
    path = [str(script), str(site)]
    first = load_plugins(path=path)
    (script / "run").mkdir()
    assert load_plugins(path=path) is first
    write_distribution(script, "creval-late", {"late_plugin.py": ""}, {"late": "late_plugin"})
    assert [each.name for each in load_plugins(path=path).failures] == ["late"]  # it is found, though not on sys.path


def test_the_limit_loads_only_what_it_names(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(site, "green", COMPONENTS)
    assert [info.name for info in load(site).infos] == ["core", "green", "sound"]
    monkeypatch.setenv("CREVAL_PLUGINS", " green ,")
    assert [info.name for info in load(site).infos] == ["core", "green"]
    monkeypatch.setenv("CREVAL_PLUGINS", "")
    assert [info.name for info in load(site).infos] == ["core"]
    assert [info.name for info in load(site, limit=["sound", "core"]).infos] == ["core", "sound"]
    monkeypatch.setenv("CREVAL_PLUGINS", "gren")
    with pytest.raises(UnknownNameError) as caught:
        load(site)
    assert str(caught.value) == (
        "CREVAL_PLUGINS: unknown plugin 'gren'\nDid you mean 'green'? Installed are: core, green, sound."
    )


def test_a_limited_plugin_is_not_imported(site: Path) -> None:
    add(site, "bomb", "raise SystemExit")
    assert load(site, limit=["sound"]).failures == ()


def test_components_kept_from_a_hook_cannot_be_added_later(site: Path) -> None:
    add(site, "sly", HOOKED + "kept = []\n@hookimpl\ndef creval_components(registry): kept.append(registry)\n")
    plugins = load(site)
    sys.modules["sly_plugin"].kept[0].add("parser", "late", "x:y")
    assert plugins.registry.find("parser", "late") is None


# --- observers -------------------------------------------------------------------------------------------

OBSERVER = """
    from creval.plugins import hookimpl
    seen = []

    @hookimpl
    def creval_run_started(manifest, folder):
        seen.append(("started", manifest["command"], folder))

    @hookimpl
    def creval_sample_finished(score):
        seen.append(("finished", score))
        {action}

    @hookimpl
    def creval_run_finished(results):
        seen.append(("ended", results))
"""


def test_observers_are_notified_and_a_failing_one_is_left_out_from_then_on(site: Path) -> None:
    add(site, "good", OBSERVER.format(action="pass"))
    add(site, "bad", OBSERVER.format(action="raise SystemExit('stop')"))
    hooks = load(site).hooks
    assert hooks.observers == {"good", "bad"}
    hooks.creval_run_started(manifest={"command": "creval"}, folder=site)
    hooks.creval_sample_finished(score="one")  # type: ignore[arg-type]
    hooks.creval_sample_finished(score="two")  # type: ignore[arg-type]
    hooks.creval_run_finished(results={"tasks": []}, folder=site)
    good, bad = sys.modules["good_plugin"].seen, sys.modules["bad_plugin"].seen
    started = ("started", "creval", site)
    assert good == [started, ("finished", "one"), ("finished", "two"), ("ended", {"tasks": []})]
    assert bad == [started, ("finished", "one")]
    (failure,) = hooks.failures
    assert failure.name == "bad"
    assert failure.error == "it tried to end the program (SystemExit: stop) in the hook creval_sample_finished"


def test_observers_get_copies_of_their_own(site: Path) -> None:
    add(
        site,
        "greedy",
        """
        from creval.plugins import hookimpl

        @hookimpl
        def creval_run_started(manifest):
            manifest["options"]["seed"] = 7

        @hookimpl
        def creval_run_finished(results):
            results.clear()
        """,
    )
    add(site, "later", OBSERVER.format(action="pass"))
    hooks = load(site).hooks
    manifest, results = {"command": "creval", "options": {"seed": 1}}, {"tasks": [{"task": "a"}]}
    hooks.creval_run_started(manifest=manifest, folder=site)
    hooks.creval_run_finished(results=results, folder=site)
    assert manifest["options"] == {"seed": 1}
    assert results == {"tasks": [{"task": "a"}]}
    assert sys.modules["later_plugin"].seen[-1] == ("ended", results)
    assert not hooks.failures


def test_what_plugins_print_goes_aside_in_several_threads_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Two that overlap, the first to enter leaving first: afterwards the output is the command's again."""
    first, second = aside(), aside()
    first.__enter__()
    second.__enter__()
    print("first")
    first.__exit__(None, None, None)
    print("second")
    second.__exit__(None, None, None)
    print("own")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("own\n", "first\nsecond\n")
