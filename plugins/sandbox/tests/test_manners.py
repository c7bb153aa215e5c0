"""The manners of keeping programs apart, as each kind of user: root, a plain user, root of a user namespace."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from creval.plugin import MissingPartError
from creval_sandbox import command
from creval_sandbox.probe import find_manner

SYSTEM = "/usr/bin/python3"
AS_PLAIN_USER = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
AS_MAPPED_ROOT = ("unshare", "--user", "--map-root-user")
SCRIPT = """
import json, sys, tempfile
from pathlib import Path
from creval.plugin.programs import Program
from creval_sandbox.attacks_on_files import ATTACKS_ON_FILES
from creval_sandbox.attacks_on_next_case import ATTACKS_ON_NEXT_CASE
from creval_sandbox.bubblewrap import BubblewrapSandbox
from creval_sandbox.findings import CHECK_LIMITS
from creval_sandbox.probe import find_manners
found = []
for manner in find_manners():
    box = BubblewrapSandbox(manner, Path(tempfile.gettempdir()), workers=2)
    attacks = [*ATTACKS_ON_FILES, *ATTACKS_ON_NEXT_CASE]
    if not manner.capable:  # a bubblewrap per case takes long
        attacks = attacks[::8]
    results = [box.run_now(Program(attack.source), attack.cases, CHECK_LIMITS)[-1] for attack in attacks]
    breaches = [attack.name for attack, result in zip(attacks, results) if not attack.held(result)]
    ran = sum(result.succeeded for result in results)
    found.append([str(manner).removesuffix(", no threads"), manner.identity.user, ran == len(attacks), breaches])
    box.close()
print(json.dumps(found))
"""
NEEDED = """
import sys, sysconfig
from pathlib import Path
import creval_sandbox.bubblewrap, creval_sandbox.findings, creval_sandbox.probe
standard = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
for name, module in sorted(sys.modules.items()):
    file = Path(getattr(module, "__file__", None) or "/")
    installed = "site-packages" in file.parts or not any(folder in file.parents for folder in standard)
    if "." not in name and file.is_file() and installed and name != "__main__":
        print(file.parent if file.name == "__init__.py" else file)
"""
"""Prints the packages outside of the standard library that the sandbox imports."""
MODES = ("nested", "plain", "plain, no devices")


@pytest.fixture(scope="module")
def readable() -> Iterator[Path]:
    """A copy of the packages in a folder that every user can read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        found = subprocess.run([sys.executable, "-c", NEEDED], capture_output=True, text=True, check=True)
        for source in map(Path, found.stdout.splitlines()):
            if source.is_dir():
                shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder)
        yield folder


def check(python: str, folder: Path, *user: str) -> list[tuple[str, int | None, bool, list[str]]]:
    """Run the attacks in every manner that works, as another user by a command that takes one on."""
    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "HOME": "/tmp"}
    run = functools.partial(subprocess.run, capture_output=True, text=True, env=environment, cwd="/")
    if user and run([*user, "true"]).returncode:
        pytest.skip(f"no bubblewrap as another user: {user[0]} is refused")
    done = run([*user, python, "-B", "-c", SCRIPT])
    assert done.returncode == 0, done.stderr
    return [tuple(row) for row in json.loads(done.stdout)]


def test_as_root_with_nobody_and_without(readable: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("no bubblewrap as another user: only root can become one")
    found = check(SYSTEM, readable)
    assert [(mode, user) for mode, user, *_ in found] == [(mode, user) for mode in MODES for user in (65534, None)]
    assert all(ran and not breaches for _, _, ran, breaches in found), found


def test_as_a_plain_user(readable: Path) -> None:
    root = os.geteuid() == 0
    found = check(SYSTEM, readable, *AS_PLAIN_USER) if root else check(sys.executable, readable)
    assert [(mode, user) for mode, user, *_ in found] == [(mode, None) for mode in MODES]
    assert all(ran and not breaches for _, _, ran, breaches in found), found


def test_as_root_of_a_user_namespace_that_maps_one_user(readable: Path) -> None:
    found = check(sys.executable, readable, *AS_MAPPED_ROOT)
    assert [(mode, user) for mode, user, *_ in found] == [(mode, None) for mode in MODES]
    assert all(ran and not breaches for _, _, ran, breaches in found), found


def test_each_manner_is_tried_and_the_last_refusal_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted", "/")

    if shutil.which("bwrap") is None:
        pytest.skip("no bubblewrap on this machine")
    command.bubblewrap_version()
    find_manner.cache_clear()
    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(MissingPartError) as caught:
        find_manner()
    find_manner.cache_clear()
    assert caught.value.what.count("Operation not permitted") == 3 * len(command.identities())
    assert "cannot run bubblewrap as the user who runs creval: Operation not permitted" in caught.value.what
    assert "in a container" in str(caught.value.fix)
