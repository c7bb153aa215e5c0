"""The traits that a component declares when it is registered, and their check at the start.

The traits of a kind are the fields of its class below, with their defaults; `Registry.add` takes them as arguments.
Each may be a function of the YAML parameters instead of a value. Wrong traits are found without
importing any component.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from creval.errors import nearest

__all__ = [
    "TRAITS",
    "ParserTraits",
    "ProtocolTraits",
    "Raters",
    "RegisteredProviderTraits",
    "ScorerTraits",
    "read_traits",
    "trait_fault",
    "unknown_fault",
]

VALUES = ("list", "number", "object", "text")
"""The kinds of values that parsers return and scorers accept."""
_LEVELS = ("nominal", "ordinal", "interval")


class Raters(NamedTuple):
    """Scores that several models give the same samples, whose agreement is in results.json.

    `score` is their combined score, `scores` are those of each by role. `level` is how two scores differ: `nominal`
    (equal or not), `ordinal` (ranks between them) or `interval` (squared). `agreement(columns, level, docs, seed)` gets
    the scores of each rater (NaN: none) and the number of each sample's doc, and returns what results.json says:
    `alpha`, `ci_low`, `ci_high`, `samples`, `verdicts` (`creval_judges.alpha.agreement_of`: Krippendorff's alpha).
    `of` names the scores if they are not verdicts: `means over the turns`.
    """

    score: str
    scores: Mapping[str, str]
    level: str
    agreement: Callable[..., Mapping[str, Any]]
    of: str = ""


class ParserTraits(NamedTuple):
    """`refines`: it works on the value of the parser before it, not on the text.

    `reads`: `json` if it reads JSON, `prose` if it accepts any text, even faulty JSON. `gives` is the kind of value
    that it always returns (VALUES).
    """

    refines: bool = False
    reads: str = ""
    gives: str = ""


class ScorerTraits(NamedTuple):
    """`unit` is what it scores: a `sample`, or a `doc`, i.e. all samples of one doc and condition together.

    `waits`: it asks a model or a person, and `score` is a coroutine function; several of its calls run at once.
    `batch_size`: the most samples per call (0: 256, or 1 if it waits). `minimum_repeats`: the repeats of a doc that it
    needs. `reads_some`: it also gets samples with some unreadable answers; `scores_failures`: also unparsed, truncated
    or refused ones; `scores_begun`: also those with answers before the failed one, which are then read. `takes` are the
    kinds of values that it can score (empty: any).
    `raters` (`Raters`) names scores that several models give, whose agreement is in results.json. `people` names scores
    of which the results warn until judge-agreement has compared them with people's labels.
    """

    unit: str = "sample"
    waits: bool = False
    batch_size: int = 0
    minimum_repeats: int = 1
    reads_some: bool = False
    scores_failures: bool = False
    scores_begun: bool = False
    takes: tuple[str, ...] = ()
    raters: Raters | None = None
    people: tuple[str, ...] = ()


class ProtocolTraits(NamedTuple):
    """`n`: the number of answers per call. `loglikelihood`: it asks for log-likelihoods of texts."""

    n: int = 1
    loglikelihood: bool = False


class RegisteredProviderTraits(NamedTuple):
    """What a provider states when it is registered; the opened provider states the rest (`ProviderTraits`).

    `loglikelihood`: models of the provider may return log-likelihoods, through a method of that name.
    """

    loglikelihood: bool = False


Traits = ParserTraits | ScorerTraits | ProtocolTraits | RegisteredProviderTraits
TRAITS: Mapping[str, type[Traits]] = {
    "parser": ParserTraits,
    "scorer": ScorerTraits,
    "protocol": ProtocolTraits,
    "provider": RegisteredProviderTraits,
}
_ALLOWED_VALUES = {"reads": ("json", "prose"), "gives": VALUES, "unit": ("sample", "doc"), "takes": VALUES}
_MINIMUMS = {"batch_size": 1, "minimum_repeats": 1, "n": 1}


def read_traits(kind: str, traits: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
    """Return the traits of a component under these YAML parameters. Raises ValueError if a function returned others."""
    values = {name: value(parameters) if callable(value) else value for name, value in traits.items()}
    faults = (_value_fault(name, values[name]) for name in values)
    fault = next(
        (f"{name} must be {fault_text}" for name, fault_text in zip(values, faults, strict=True) if fault_text), None
    )
    if fault is not None:
        raise ValueError(fault)
    return TRAITS[kind](**values)


def unknown_fault(kind: str, name: str, known: Sequence[str]) -> str | None:
    """Return why a kind of component has no argument of this name, with the nearest one or its owner, or None."""
    if name in known:
        return None
    trait_names = TRAITS[kind]._fields if kind in TRAITS else ()
    if name in trait_names:
        return None
    owners = [other for other, traits in TRAITS.items() if name in traits._fields]
    if owners:
        return f"{name!r} is for a {owners[0]}, not for a {kind}"
    close = nearest(name, [*trait_names, *known], 1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join([*trait_names, *known])}"
    return f"there is no argument {name!r}; {hint}"


def trait_fault(kind: str, traits: Mapping[str, Any], roles: Sequence[str] = ()) -> str | None:
    """Return what is wrong with the traits of a component of a kind, or None."""
    for name, value in traits.items():
        fault = None if callable(value) else _value_fault(name, value)
        if fault is not None:
            return f"{name} must be {fault}, not {value!r}"
    return _contradiction(kind, traits, roles)


def _value_fault(name: str, value: object) -> str | None:
    if name in _MINIMUMS:
        return None if type(value) is int and value >= _MINIMUMS[name] else f"a whole number from {_MINIMUMS[name]}"
    if name == "raters":
        valid = value is None or (isinstance(value, Raters) and len(value.scores) > 1 and value.level in _LEVELS)
        return None if valid else f"Raters of two scores or more, at one of the levels {', '.join(_LEVELS)}"
    if name == "people":
        valid = isinstance(value, tuple) and all(isinstance(each, str) for each in value)
        return None if valid else "a tuple of names of scores"
    words = _ALLOWED_VALUES.get(name)
    if words is None:
        return None if isinstance(value, bool) else "True or False"
    if name == "takes":
        valid = isinstance(value, tuple) and value != () and set(value) <= set(words)
        return None if valid else f"a tuple of {', '.join(words)}"
    if value in words:
        return None
    close = nearest(str(value), words, 1)
    return f"one of {', '.join(words)}" + (f" (did you mean {close[0]!r}?)" if close else "")


def _contradiction(kind: str, traits: Mapping[str, Any], roles: Sequence[str]) -> str | None:
    """Return which two traits exclude each other, or None."""
    if kind == "parser" and traits.get("refines") is True and "reads" in traits:
        return "refines=True and reads exclude each other: it works on a value, not on the text"
    if kind != "scorer":
        return None
    by_doc = traits.get("unit") == "doc"
    if by_doc and "batch_size" in traits:
        return "unit='doc' and batch_size exclude each other: it is given all samples of a doc at once"
    if "minimum_repeats" in traits and not by_doc:
        return "minimum_repeats needs unit='doc': by sample it never sees two repeats together"
    if roles and not traits.get("waits"):
        return f"it asks the role {roles[0]!r}, so it needs waits=True and `async def score`"
    return None
