"""The parts of the machine visible from inside: the interpreter, chosen libraries, the system's shared libraries."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from creval.plugin import MissingPartError

__all__ = [
    "LIBRARIES",
    "PACKAGES",
    "Interpreter",
    "Mount",
    "compiler_mounts",
    "compiler_path",
    "has_compiler",
    "library_versions",
    "mounts",
]

LIBRARIES = ("numpy", "sympy")
"""Distributions that programs may import next to the standard library, if they are installed."""

_INSIDE = Path(__file__).with_name("inside")
_PYTHON = Path("/python")
PACKAGES = Path("/libraries")
"""Where the chosen libraries are inside."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A read-only view of a file or folder, or a symbolic link; with neither, an empty folder that hides another."""

    target: str
    source: Path | None = None
    link: str | None = None


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the chosen libraries that are installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python installation: its executable, and the folder of its standard library."""

    executable: Path
    library: Path

    @classmethod
    def own(cls) -> Interpreter:
        """Return the interpreter that runs creval, without its virtual environment. Raises MissingPartError."""
        library = Path(os.__file__).resolve().parent
        names = (Path(sys.base_prefix) / "bin" / library.name, Path(sys.executable))
        executable = next((path.resolve() for path in names if path.exists()), None)
        if executable is None:
            raise MissingPartError(
                f"the interpreter of {sys.base_prefix} cannot be found",
                where="sandbox bubblewrap",
                fix=f"Run creval with a Python whose bin folder contains {library.name}.",
            )
        return cls(executable, library)

    @classmethod
    def at(cls, executable: Path) -> Interpreter:
        """Return the interpreter with the given executable."""
        asking = [str(executable), "-I", "-S", "-c", "import os; print(os.__file__)"]
        found = subprocess.run(asking, capture_output=True, text=True, check=True).stdout
        return cls(executable.resolve(), Path(found.strip()).resolve().parent)

    def mounts(self) -> Iterable[Mount]:
        """Return the interpreter and its standard library under /python, without the packages installed into it."""
        whole = self.library if self.library.parent == Path("/usr/lib") else self.library.parent
        yield Mount(str(_PYTHON / "lib" / whole.relative_to(self.library.parent)), whole)
        for folder in sorted(_installed(whole)):
            yield Mount(str(_PYTHON / "lib" / folder.relative_to(self.library.parent)))
        yield Mount(str(_PYTHON / "bin" / "python"), self.executable)


def _installed(library: Path) -> Iterator[Path]:
    """Yield the folders of installed packages below a standard library, without descending into them."""
    for folder, names, _ in os.walk(library):
        found = {"site-packages", "dist-packages"}.intersection(names)
        yield from (Path(folder, name) for name in found)
        names[:] = [name for name in names if name not in found]


@cache
def mounts(interpreter: Interpreter | None = None) -> Sequence[Mount]:
    """Return the mounts for running programs (by creval's own interpreter). Raises MissingPartError."""
    python = interpreter or Interpreter.own()
    return (*_system(), *python.mounts(), *_libraries(), Mount("/sandbox/inside", _INSIDE))


@cache
def compiler_mounts(interpreter: Interpreter | None = None) -> Sequence[Mount]:
    """Return the mounts for compiling: those for running, and the compiler's."""
    folders = [Path(name) for name in ("/usr/bin", "/usr/include", "/usr/libexec")]
    own = (Mount(str(folder), folder) for folder in folders if folder.is_dir())
    return (*_without_python(Path("/usr/lib")), *mounts(interpreter), *own)


@cache
def compiler_path() -> str:
    """Return the path of g++, links resolved. Raises MissingPartError."""
    found = shutil.which("g++", path="/usr/bin:/bin")
    if found is None:
        raise MissingPartError(
            "C++ programs need the compiler g++, which is not in /usr/bin",
            where="sandbox bubblewrap",
            fix="Install it, e.g.: apt-get install g++",
        )
    return str(Path(found).resolve())


def has_compiler() -> bool:
    """Return whether C++ programs can be compiled here."""
    try:
        return bool(compiler_path())
    except MissingPartError:
        return False


def _system() -> Iterable[Mount]:
    """Yield the system's shared libraries, without its Python (whose packages could contain answers).

    There are few mounts, since each program's namespace copies them all.
    """
    triplet = Path(f"/usr/lib/{platform.machine()}-linux-gnu")
    for folder in (triplet if triplet.is_dir() else Path("/usr/lib"), Path("/usr/lib64")):
        yield from _without_python(folder)
    for name in ("/lib", "/lib64"):
        if Path(name).is_symlink():
            yield Mount(name, link=str(Path(name).readlink()))
        elif Path(name).is_dir():
            yield from _without_python(Path(name))
    if Path("/etc/ld.so.cache").is_file():
        yield Mount("/etc/ld.so.cache", Path("/etc/ld.so.cache"))


def _without_python(folder: Path) -> Iterable[Mount]:
    if folder.is_dir() and not folder.is_symlink():
        yield Mount(str(folder), folder)
        yield from (Mount(str(hidden)) for hidden in sorted(folder.glob("python*")) if hidden.is_dir())


def _libraries() -> Iterable[Mount]:
    """Yield the chosen libraries with their requirements, one mount per package."""
    wanted, seen = list(library_versions()), set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        wanted += [_required(text) for text in distribution.requires or () if "extra ==" not in text]
        tops = {file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}
        for top in sorted(tops):
            source = Path(str(distribution.locate_file(top)))
            if (source / "__init__.py").is_file() or top.endswith(".libs"):
                yield Mount(str(PACKAGES / top), source)


def _required(text: str) -> str:
    """Return the name of the distribution in a requirement such as `mpmath<1.4,>=1.1.0`."""
    return next((text[:i] for i, letter in enumerate(text) if not (letter.isalnum() or letter in "-_.")), text)
