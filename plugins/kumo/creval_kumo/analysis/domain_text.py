"""A domain as the text of a domain file (the format of `creval_kumo.domain_file`)."""

from __future__ import annotations

from collections.abc import Iterator

from creval_kumo.domain import Action, Domain, Interval, Outcome

__all__ = ["domain_yaml"]


def domain_yaml(domain: Domain) -> str:
    """Return YAML that reads back as the same domain. Truths that an outcome rules out are sorted."""
    return "\n".join(_lines(domain)) + "\n"


def _lines(domain: Domain) -> Iterator[str]:
    yield f"domain: {_text(domain.name)}"
    yield f"title: {_text(domain.title)}"
    yield f"goal: {_text(domain.goal)}"
    for key, noun in (("truth", domain.truth_noun), ("action", domain.action_noun)):
        yield f"{key}: {{singular: {_text(noun.singular)}, plural: {_text(noun.plural)}}}"
    yield "truths:"
    for truth in domain.truths:
        yield f"  - {{name: {_text(truth.name)}, about: {_text(truth.about)}}}"
    yield "actions:"
    for action in domain.actions:
        yield from _action(action)


def _action(action: Action) -> Iterator[str]:
    yield f"  - name: {_text(action.name)}"
    yield f"    about: {_text(action.about)}"
    yield f"    type: {action.type}"
    if action.type == "float":
        yield f"    unit: {_text(action.unit)}"
    yield "    outcomes:"
    for outcome in action.outcomes:
        names = ", ".join(_text(name) for name in sorted(outcome.rules_out))
        yield f"      - {{{_state(outcome)}, rules_out: [{names}]}}"


def _state(outcome: Outcome) -> str:
    if isinstance(outcome.state, Interval):
        return f"range: [{_number(outcome.state.lo)}, {_number(outcome.state.hi)}]"
    return f"label: {_text(outcome.state)}"


def _number(number: float) -> str:
    """The shortest text of a float; YAML 1.1 takes `1e-09` for a word and needs `1.0e-09`."""
    mantissa, e, exponent = repr(float(number)).partition("e")
    return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else f"{mantissa}{e}{exponent}"


def _text(text: str) -> str:
    """A double-quoted YAML string; what cannot be seen stands as an escape."""
    return '"' + "".join(map(_letter, text)) + '"'


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) <= 0xFFFF else f"\\U{ord(letter):08x}"
