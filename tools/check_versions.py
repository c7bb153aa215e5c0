"""Says where a plugin, a task or the core changed without its version: python tools/check_versions.py [--since REF].

What REF had released (its changelog dates the version; one that is `Unreleased` is still being made) may change only
under another version: a distribution where its code changed, a task where anything that shapes a score did, which is
all but title, description and tests, with the files that it includes. REF is a tag or commit. Without it each
distribution is held to its own last release: the tag NAME-vVERSION, or where there are no tags the commit that dated
the version in its changelog; of one that was never released it says since which commit its version is being made.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
DESCRIBING = frozenset({"title", "description", "tests", "template", "cluster", "parity", "version", "include"})
Read = Callable[[str], str | None]


def git(root: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


class Release(NamedTuple):
    """A distribution's last release, or that there was none: what to compare with, and how to describe it."""

    folder: str
    ref: str | None
    said: str


def folders(root: Path) -> list[str]:
    """Return the folders of all distributions, as they begin in the names of files; the core's is empty."""
    return [
        "",
        *sorted(f"{file.parent.relative_to(root).as_posix()}/" for file in root.glob("plugins/*/pyproject.toml")),
    ]


def last_release(root: Path, folder: str) -> Release:
    """Find the last release of a distribution by its tag, or by the commit that dated it in the changelog."""
    about = tomllib.loads((root / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = about.get("name", folder.rstrip("/").rpartition("/")[2] or "creval"), about["version"]
    changelog = f"{folder}CHANGELOG.md"
    text = (root / changelog).read_text(encoding="utf-8") if (root / changelog).is_file() else ""
    dated = re.search(r"^## \[([^\]]+)\] - \d.*$", text, re.MULTILINE)
    if dated is None:
        line = f'version = "{version}"'
        first = git(root, "log", "--reverse", "--format=%h", f"-S{line}", "--", f"{folder}pyproject.toml").split()
        since = f" since {first[0]}" if first else ""
        return Release(folder, None, f"{name} {version}: never released; being made{since}, and free to change")
    if git(root, "tag", "--list", f"{name}-v{dated[1]}"):
        return Release(folder, f"{name}-v{dated[1]}", f"{name}: held to the tag {name}-v{dated[1]}")
    commits = git(root, "log", "--reverse", "--format=%h", f"-S{dated[0]}", "--", changelog).split()
    if not commits:
        return Release(
            folder, None, f"{name} {version}: its changelog is dated and not committed; nothing to hold it to"
        )
    return Release(folder, commits[0], f"{name}: held to {commits[0]}, which dated {dated[1]}")


def faults(root: Path, since: str, only: str | None = None) -> list[str]:
    """Return every fault of the tree as it stands against the tree at REF, or those of one distribution's folder."""
    changed = git(root, "diff", "--name-only", since, "--").splitlines()

    def before(name: str) -> str | None:
        done = subprocess.run(["git", "show", f"{since}:{name}"], cwd=root, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def now(name: str) -> str | None:
        file = root / name
        return file.read_text(encoding="utf-8") if file.is_file() else None

    chosen = folders(root) if only is None else [only]
    plugins = {folder.rstrip("/").rpartition("/")[2] for folder in chosen}
    found = [*_distributions(chosen, changed, before, now)]
    return [*found, *(fault for plugin, fault in _tasks(root, changed, before, now) if plugin in plugins)]


def _distributions(chosen: list[str], changed: list[str], before: Read, now: Read) -> Iterator[str]:
    for folder in chosen:
        name = folder.rstrip("/").rpartition("/")[2]
        code = ("core/", "schemas/") if not folder else (f"{folder}creval_{name}/", f"task_yaml/{name}/")
        touched = [file for file in changed if file.startswith(code)]
        old, new = (_version(read(f"{folder}pyproject.toml")) for read in (before, now))
        if touched and old is not None and old == new and _released(before(f"{folder}CHANGELOG.md"), old):
            which = name or "creval"
            yield f"{which}: {touched[0]} changed, and its version is {new} as before: raise it, and say what is new"
        if new is not None and not re.search(rf"^## \[{re.escape(new)}\]", now(f"{folder}CHANGELOG.md") or "", re.M):
            yield f"{name or 'creval'}: {folder}CHANGELOG.md has no entry for version {new}"


def _version(text: str | None) -> str | None:
    return None if text is None else str(tomllib.loads(text)["project"]["version"])


def _released(changelog: str | None, version: str) -> bool:
    """Whether a version was released: its heading bears a date."""
    return bool(re.search(rf"^## \[{re.escape(version)}\] - \d", changelog or "", re.MULTILINE))


def _tasks(root: Path, changed: list[str], before: Read, now: Read) -> Iterator[tuple[str, str]]:
    """Compare each task file that changed, or includes one that did, with all that it includes; (plugin, fault)."""
    touched = [name for name in changed if re.fullmatch(r"task_yaml/\w+/[\w-]+\.yaml", name)]
    for name in sorted({*touched, *_including(root, touched, now)}):
        plugin = f"plugins/{PurePosixPath(name).parent.name}"
        version = _version(before(f"{plugin}/pyproject.toml"))
        if version is None or not _released(before(f"{plugin}/CHANGELOG.md"), version):
            continue
        old, new = _whole(name, before), _whole(name, now)
        if old is None or new is None or "task" not in new:
            continue
        for key, (was, is_now) in _members(old, new).items():
            if was is None or is_now is None or was.get("version") != is_now.get("version"):
                continue
            differing = [
                part for part in {**was, **is_now} if part not in DESCRIBING and was.get(part) != is_now.get(part)
            ]
            if differing:
                which = f"{new['task']}_{key}" if key else new["task"]
                fault = f"{differing[0]} changed, and its version is {is_now.get('version')} as before"
                yield PurePosixPath(name).parent.name, f"{which} ({name}): {fault}"


def _including(root: Path, touched: list[str], now: Read) -> Iterator[str]:
    folders = {str(PurePosixPath(name).parent) for name in touched}
    for folder in folders:
        for file in sorted((root / folder).glob("*.yaml")):
            text = now(f"{folder}/{file.name}") or ""
            if any(
                re.search(rf"^include:.*{re.escape(PurePosixPath(name).name)}", text, re.MULTILINE) for name in touched
            ):
                yield f"{folder}/{file.name}"


def _whole(name: str, read: Read) -> Mapping[str, Any] | None:
    """Return a file merged over what it includes from its own folder, by the rule of task files."""
    text = read(name)
    if text is None:
        return None
    data: dict[str, Any] = yaml.safe_load(text) or {}
    included = data.get("include", [])
    merged: dict[str, Any] = {}
    for other in [included] if isinstance(included, str) else included:
        below = _whole(str(PurePosixPath(name).parent / other), read) if other.endswith(".yaml") else None
        merged = _merged(merged, {key: value for key, value in (below or {}).items() if key != "variants"})
    return _merged(merged, data)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def _members(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the task of a file and its variants, each as it was and as it is."""
    keys = ["", *{**(old.get("variants") or {}), **(new.get("variants") or {})}]
    return {key: (_member(old, key), _member(new, key)) for key in keys}


def _member(data: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    own = {name: value for name, value in data.items() if name != "variants"}
    variants = data.get("variants") or {}
    return own if not key else _merged(own, variants[key] or {}) if key in variants else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the faults; 1 where there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--since", help="a tag or commit (each distribution's own last release)")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    found: list[str] = []
    if given.since is not None:
        found = faults(given.root, given.since)
    else:
        for release in [last_release(given.root, folder) for folder in folders(given.root)]:
            print(release.said)
            found += faults(given.root, release.ref, release.folder) if release.ref else []
    print("\n".join(found) or f"every version is right{f' since {given.since}' if given.since else ''}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
