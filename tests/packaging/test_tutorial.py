"""The tutorial, line by line, from an empty folder; only the installer is kept off the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheels

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


def environment(folder: Path) -> dict[str, str]:
    """An environment that sees what this one has installed, with the commands that the tutorial types."""
    home = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    purelib = next((home / "lib").glob("python*/site-packages"))
    (purelib / "here.pth").write_text(f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n")
    for command in ("creval", "pip", "pytest"):
        script = home / "bin" / command
        script.write_text(f'#!/bin/sh\nexec "{home}/bin/python" -m {command} "$@"\n')
        script.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if key in ("LANG", "TMPDIR")}
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**kept, **offline, "PATH": path, "HOME": str(folder), "CREVAL_WHEELS": str(folder / "wheels")}


def test_every_line_of_the_tutorial_works(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    work = tmp_path / "empty"
    work.mkdir()
    script = "set -e\n" + "".join(f"echo '+ {block.splitlines()[0]}'\n{block}" for block in blocks).replace(
        "'.[test]'", '".[test]"'
    )
    script = script.replace("echo '+ pip install -e \".[test]\"'\n", "")
    done = subprocess.run(["sh", "-c", script], cwd=work, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"^tides +0\.1\.0 +task +tides +Tides$", done.stdout, re.MULTILINE), done.stdout
    assert "5 tests run" in done.stdout
