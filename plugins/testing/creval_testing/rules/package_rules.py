"""Rules on the plugin as a package: cheap discovery, importable targets, only public imports, a complete wheel.

The files of an installed distribution's wheel are its recorded files, or those of a wheel built from its source folder.
"""

from __future__ import annotations

import ast
import fcntl
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from creval.plugin import CrevalError
from creval.plugin.authoring import FILE_KEY, find_data_file
from creval_testing.rules.subject import Subject

__all__ = ["bounds", "build_wheel", "discovery", "face", "targets", "wheel"]


WHEELS = "CREVAL_WHEELS"
"""Environment variable with a folder for wheels, so that no wheel is built twice."""


class NoSourceError(Exception):
    """There is neither a wheel nor a source folder."""


def installed_files(distribution: str) -> set[str] | None:
    """Return the files installed from a wheel; None for an editable installation."""
    from importlib.metadata import files

    listed = files(distribution)
    names = {file.as_posix() for file in listed or ()}
    return None if _source(distribution) is not None or not names else names


def wheel_of(distribution: str) -> Path:
    """Return the wheel of a distribution that is installed from its folder. Raises NoSourceError.

    If it does not exist yet, it is built (through its sdist if the package `build` is installed) in the folder
    CREVAL_WHEELS, or in a new folder if the variable is not set.
    """
    source = _source(distribution)
    if source is None:
        raise NoSourceError(f"{distribution} was installed neither from a wheel nor from a folder")
    return build_wheel(source, distribution)


def build_wheel(source: Path, distribution: str) -> Path:
    """Build a folder's wheel as `wheel_of` says. Raises NoSourceError if the build fails."""
    target = Path(os.environ.get(WHEELS) or tempfile.mkdtemp(prefix="creval-wheel-"))
    target.mkdir(parents=True, exist_ok=True)
    stem = distribution.replace("-", "_").lower()
    with (target / f"{stem}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of a test session may build at once
        for found in sorted(target.glob(f"{stem}-*.whl"), reverse=True):
            return found
        _build(source, target)
    return next(target.glob(f"{stem}-*.whl"))


def _build(source: Path, target: Path) -> None:
    by_sdist = importlib.util.find_spec("build") is not None
    build = ["build", "--outdir", str(target)] if by_sdist else ["pip", "wheel", "--no-deps", "-w", str(target)]
    # Try the build backend of this environment first, so that nothing is downloaded.
    for isolation in (["--no-isolation"] if by_sdist else ["--no-build-isolation"], []):
        command = [sys.executable, "-m", *build, *isolation, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
    raise NoSourceError(f"building {source} failed: {(done.stdout + done.stderr).strip()[-800:]}")


def _source(distribution: str) -> Path | None:
    """Return the folder that an editable installation points to."""
    from importlib.metadata import distribution as find

    text = find(distribution).read_text("direct_url.json")
    about = json.loads(text) if text else {}
    if not about.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(about["url"]).path))


HEAVY = frozenset(
    [
        *("aiohttp", "click", "datasets", "huggingface_hub", "jinja2", "jsonschema", "litellm", "matplotlib", "numpy"),
        *("onnxruntime", "pandas", "pyarrow", "ray", "rich", "scipy", "sentence_transformers", "sklearn", "tensorflow"),
        *("tokenizers", "torch", "trackio", "transformers", "wandb", "yaml"),
    ]
)
"""Libraries that no plugin may import before one of its components is used, since they would slow down `creval ls`."""

FACES = frozenset({"creval", "creval.plugin"})

_FIND = """
import json, sys
from creval.plugin.loading import load_plugins
before = set(sys.modules)
plugins = load_plugins([sys.argv[1]])
failures = [str(failure) for failure in plugins.failures]
print()
print(json.dumps({"failures": failures, "modules": sorted(set(sys.modules) - before)}))
"""


def discovery(subject: Subject) -> Iterator[str]:
    """Finding the plugin imports no heavy library and prints nothing; checked in a separate process."""
    environment = {key: value for key, value in os.environ.items() if key != "CREVAL_PLUGINS"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", _FIND, subject.name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"it cannot be found: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}"
        return
    found = json.loads(done.stdout.splitlines()[-1])
    yield from found["failures"]
    heavy = sorted(HEAVY & {module.partition(".")[0] for module in found["modules"]})
    if heavy:
        yield f"its entry module imports {', '.join(heavy)}: import them where a component uses them"
    if done.stderr.strip():
        yield f"it prints when it is imported: {done.stderr.strip().splitlines()[0]}"


_AT_LEAST, _AT_MOST = (">=", ">", "==", "~="), ("<", "==", "~=")


def bounds(subject: Subject) -> Iterator[str]:
    """The distribution bounds the versions of creval that it works with: others could break it unnoticed."""
    import creval

    clauses = [clause.strip() for clause in subject.info.core_api.split(",") if clause.strip()]
    missing = [
        name
        for name, signs in (("lowest", _AT_LEAST), ("highest", _AT_MOST))
        if not any(clause.startswith(signs) for clause in clauses)
    ]
    if missing:
        major, minor, *_ = creval.__version__.split(".")
        asked = f"only {subject.info.core_api!r}" if clauses else "no version at all"
        yield (
            f"{subject.info.distribution} states no {' and no '.join(missing)} version of creval, but {asked}: "
            f'write "creval>={major}.{minor},<{major}.{int(minor) + 1}" among its dependencies in pyproject.toml'
        )


def targets(subject: Subject) -> Iterator[str]:
    """Every registered component can be imported and called."""
    for component in subject.plugins.registry.all():
        if component.plugin != subject.name:
            continue
        try:
            if not callable(component.load()):
                yield f"the {component.kind} {component.name!r}: {component.target} is not callable"
        except CrevalError as error:
            yield f"the {component.kind} {component.name!r}: {error.what}"


def face(subject: Subject) -> Iterator[str]:
    """The package imports from creval only `creval` and `creval.plugin` with its modules."""
    for file in sorted(subject.package.rglob("*.py")):
        try:
            tree = ast.parse(file.read_bytes())
        except SyntaxError as error:
            yield f"{file.relative_to(subject.package)}:{error.lineno}: {error.msg}"
            continue
        for node in ast.walk(tree):
            for module in _imported(node):
                if module.partition(".")[0] == "creval" and not _promised(module):
                    where = f"{file.relative_to(subject.package)}:{getattr(node, 'lineno', 1)}"
                    yield f"{where}: imports {module}, which is not promised: take what is needed from creval.plugin"


def _promised(module: str) -> bool:
    return module in FACES or module.startswith("creval.plugin.")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "creval":
        for alias in node.names:  # `from creval import plugin` names a module, `from creval import run` a name
            yield f"creval.{alias.name}" if _is_module(alias.name) else "creval"
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module


def _is_module(name: str) -> bool:
    import creval

    home = Path(creval.__file__ or "").parent
    return (home / name).is_dir() or ((home / f"{name}.py").is_file() and name not in creval.__all__)


def wheel(subject: Subject) -> Iterator[str]:
    """The wheel contains every task file, their included files and data, and `py.typed` if there is one."""
    names = _shipped(subject)
    for file in _needed(subject):
        within = file.relative_to(subject.package.parent).as_posix()
        if within not in names:
            yield f"{within} is not in the wheel: state it among the package's files in pyproject.toml"


def _shipped(subject: Subject) -> set[str]:
    """Return the files of the wheel from which the plugin was installed, or else of a newly built wheel."""
    recorded = installed_files(subject.info.distribution)
    if recorded is not None:
        return recorded
    try:
        built = wheel_of(subject.info.distribution)
    except NoSourceError as error:
        raise CrevalError(f"its wheel cannot be looked at: {error}") from error
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def _needed(subject: Subject) -> Iterator[Path]:
    for _, folder in (each for each in subject.plugins.task_folders if each[0] == subject.name):
        yield from (file for file in sorted(folder.rglob("*.y*ml")) if file.suffix in (".yaml", ".yml"))
    for name in subject.tasks:
        task = subject.load(name)
        source = subject.plugins.registry.get("source", task.dataset.source)
        key = next((k for k, about in source.parameters.get("properties", {}).items() if about.get(FILE_KEY)), None)
        if key is not None and key in task.dataset.parameters:
            found = find_data_file(str(task.dataset.parameters[key]), [task.dataset.base, subject.package])
            if found is not None and found.is_relative_to(subject.package):
                yield found
