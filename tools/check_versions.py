"""Says where a plugin, a task or the core changed without its version: python tools/check_versions.py [--since REF].

What REF had released (its changelog dates the version; one that is `Unreleased` is still being made) may change only
under another version: a distribution where its code changed, a task where anything that shapes a score did, which is
all but title, description and tests, with the files that it includes. REF is a tag or commit, by default the last tag.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
DESCRIBING = frozenset({"title", "description", "tests", "template", "cluster", "parity", "version", "include"})
Read = Callable[[str], str | None]


def git(root: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def faults(root: Path, since: str) -> list[str]:
    """Return every fault of the tree as it stands against the tree at REF."""
    changed = git(root, "diff", "--name-only", since, "--").splitlines()

    def before(name: str) -> str | None:
        done = subprocess.run(["git", "show", f"{since}:{name}"], cwd=root, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def now(name: str) -> str | None:
        file = root / name
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return [*_distributions(root, changed, before, now), *_tasks(root, changed, before, now)]


def _distributions(root: Path, changed: list[str], before: Read, now: Read) -> Iterator[str]:
    folders = ["", *(f"{file.parent.relative_to(root).as_posix()}/" for file in root.glob("plugins/*/pyproject.toml"))]
    for folder in folders:
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


def _tasks(root: Path, changed: list[str], before: Read, now: Read) -> Iterator[str]:
    """Compare each task file that changed, or includes one that did, with all that it includes."""
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
                yield f"{which} ({name}): {differing[0]} changed, and its version is {is_now.get('version')} as before"


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


def main() -> int:
    """Print the faults; 1 where there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--since", help="a tag or commit (the last tag)")
    since = parser.parse_args().since
    if since is None:
        tags = git(ROOT, "tag", "--sort=-creatordate").splitlines()
        if not tags:
            print("there is no tag yet, so that nothing was released: name a commit by --since")
            return 0
        since = tags[0]
    found = faults(ROOT, since)
    print("\n".join(found) or f"every version is right since {since}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
