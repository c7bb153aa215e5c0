#!/usr/bin/env python3
"""Makes a release of one distribution: checks, builds, dates its changelog, commits and tags `NAME-vVERSION`.

    python tools/release.py creval-kumo 0.2.0            (from the repository's root)
    python tools/release.py creval-kumo 0.2.0 --dry-run  checks and builds, and changes nothing

It refuses an unclean tree, a version that pyproject.toml does not state, a missing changelog entry, and a version that
stands already. Nothing is published here: the tag, once pushed, is what the release workflow publishes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
ENTRY = r"^## \[{version}\] - (Unreleased|\d{{4}}-\d{{2}}-\d{{2}})$"


def sources(root: Path = ROOT) -> dict[str, Path]:
    """Return the folder of each distribution by its name."""
    folders = [root, *sorted(path.parent for path in (root / "plugins").glob("*/pyproject.toml"))]
    return {str(_project(folder)["name"]): folder for folder in folders}


def _project(folder: Path) -> dict[str, object]:
    data = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, object] = data["project"]
    return found


def git(root: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def faults(name: str, version: str, root: Path = ROOT) -> list[str]:
    """Return why this release cannot be; empty where it can."""
    folder = sources(root)[name]
    found = []
    if git(root, "status", "--porcelain"):
        found.append("the tree is not clean: commit or remove what is new")
    stated = _project(folder).get("version")
    if stated != version:
        found.append(f"{(folder / 'pyproject.toml').relative_to(root)} states version {stated}, not {version}")
    changelog = folder / "CHANGELOG.md"
    if not re.search(ENTRY.format(version=re.escape(version)), changelog.read_text(encoding="utf-8"), re.MULTILINE):
        found.append(f"{changelog.relative_to(root)} has no entry '## [{version}] - Unreleased'")
    if git(root, "tag", "--list", f"{name}-v{version}"):
        found.append(f"{version} stands already: the tag {name}-v{version} is there")
    return found


def build(folder: Path, output: Path) -> list[Path]:
    """Build sdist and wheel and return them. Raises SystemExit where that fails, or a task is missing."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the build failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    wheel, sdist = next(output.glob("*.whl")), next(output.glob("*.tar.gz"))
    examine(folder, sdist, wheel)
    return [sdist, wheel]


def examine(folder: Path, sdist: Path, wheel: Path) -> None:
    """Raise SystemExit where a task of the folder is missing in the wheel, or the sdist could not be built from."""
    with zipfile.ZipFile(wheel) as archive, tarfile.open(sdist) as source:
        inside, whole = archive.namelist(), source.getnames()
    for file in folder.glob("creval_*/tasks/**/*.yaml"):
        if file.relative_to(folder).as_posix() not in inside:
            raise SystemExit(f"{wheel.name} lacks {file.relative_to(folder)}")
    if not any(name.endswith("/pyproject.toml") for name in whole):
        raise SystemExit(f"{sdist.name} lacks its pyproject.toml")


def tag(name: str, version: str, root: Path = ROOT) -> str:
    """Date the changelog, commit, and return the tag that was made."""
    changelog = sources(root)[name] / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    dated = text.replace(f"## [{version}] - Unreleased", f"## [{version}] - {date.today().isoformat()}", 1)
    if dated != text:
        changelog.write_text(dated, encoding="utf-8")
        git(root, "commit", "--quiet", "-m", f"Release {name} {version}", "--", str(changelog))
    made = f"{name}-v{version}"
    git(root, "tag", "--annotate", made, "-m", f"{name} {version}")
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("name", choices=sorted(sources()))
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="check and build, change nothing")
    parser.add_argument("--build-only", action="store_true", help="build what a tag names (for the release workflow)")
    parser.add_argument("--output", type=Path, help="where to put sdist and wheel (default: nowhere)")
    args = parser.parse_args(arguments)
    found = [] if args.build_only else faults(args.name, args.version)
    if found:
        raise SystemExit("no release:\n" + "\n".join(f"  - {fault}" for fault in found))
    with TemporaryDirectory() as folder:
        output = args.output or Path(folder)
        for file in build(sources()[args.name], output):
            print(f"built {file.name}")
    if args.dry_run or args.build_only:
        return
    made = tag(args.name, args.version)
    print(f"tagged {made}; publish it: git push --follow-tags")


if __name__ == "__main__":
    main()
