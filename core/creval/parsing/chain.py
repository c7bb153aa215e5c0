"""The parser chain of a task.

Its rules:

1. Every parser either *extracts* (reads the text) or *refines* (works on the value so far). `words` refines;
   the other parsers of the core extract, unless they have `refine: true`. A plugin's parser refines if it is registered
   with `refines=True`.
2. The extracting parsers are alternatives: they are tried in the order of the list.
3. The refining parsers after an alternative are applied to its value, in order. If one of them fails, the next
   alternative is tried.
4. The first alternative that succeeds is the answer. Its route is recorded, e.g. `json_array/fenced > words`.
5. A chain without extracting parsers starts from the text itself. An empty chain returns the text, stripped.
6. A blank text, and one longer than MAX_CHARACTERS, is always a failure. So is a plain refusal, if the first parser
   that fails recognises it (parsers of lists do, others with `refusals: true`).
7. If an answer contains JSON that cannot be read, it is not read as lines, words or numbers instead: after a failed
   parser that is registered with `reads="json"`, one with `reads="prose"` is not tried.
8. Invisible characters are removed before the text is read, and from the value; the route then begins with `unseen`.

Invisible characters are zero-width spaces, soft hyphens, marks of direction, byte order marks and control characters,
which models (and the pages they learned from) put inside words, and line separators other than line feed (U+2028,
U+2029, U+0085). Joiners (U+200C, U+200D) stay: scripts and emoji need them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from creval.errors import InterfaceError
from creval.parsing.refusal import REFUSAL_ROUTE
from creval.plugins.registry import Registry
from creval.tasks.task_model import ComponentRef
from creval.types.code_location import source_of
from creval.types.components import Parsed, Parser

__all__ = [
    "MAX_CHARACTERS",
    "ParserChain",
    "Step",
    "build_chain",
    "build_steps",
    "step_that_raised",
    "value_without_unseen",
    "without_unseen",
]


_SEPARATORS = "\u2028\u2029\u0085"

_DROPPED = re.compile(
    "[\u200b\ufeff\u00ad\u034f\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufff9-\ufffb\u115f\u1160\u3164\uffa0"
    "\x00-\x08\x0e-\x1b\x7f]"
)

_SEPARATOR = re.compile(f"[{_SEPARATORS}]")

_QUOTED = re.compile(r'(?<![^\s\[{,:])"(?:[^"\\\n]|\\.)*"(?=\s*(?:[,\]}:]|$))', re.DOTALL)
"""A text in double quotes where JSON may have a text."""


def without_unseen(value: Any) -> Any:
    """Return a text, or the texts in lists and objects, without invisible characters.

    In prose a line separator becomes a line feed. Inside a text of JSON it becomes a space, or nothing if the text is a
    single word. A value without such characters is returned unchanged, as the same object.
    """
    if not isinstance(value, str):
        return value_without_unseen(value)
    text = _DROPPED.sub("", value) if _DROPPED.search(value) else value
    if not _SEPARATOR.search(text):
        return text
    return _SEPARATOR.sub("\n", _QUOTED.sub(lambda quoted: _in_one_line(quoted[0]), text))


def value_without_unseen(value: Any) -> Any:
    """Like `without_unseen`, for a parsed value: each of its texts counts as one of JSON."""
    if isinstance(value, str):
        text = _DROPPED.sub("", value) if _DROPPED.search(value) else value
        return _in_one_line(text) if _SEPARATOR.search(text) else text
    if isinstance(value, list):
        cleaned = [value_without_unseen(member) for member in value]
        return cleaned if any(new is not old for new, old in zip(cleaned, value, strict=True)) else value
    if isinstance(value, dict):
        members = {value_without_unseen(key): value_without_unseen(member) for key, member in value.items()}
        same = all(key in value and members[key] is value[key] for key in members) and len(members) == len(value)
        return value if same else members
    return value


def _in_one_line(text: str) -> str:
    """Join a word that separators split; between words a separator becomes a space."""
    joined = _SEPARATOR.sub("", text)
    return joined if len(joined.split()) <= 1 else _SEPARATOR.sub(" ", text)


MAX_CHARACTERS = 1_000_000

_UNSEEN = "unseen > "


class Step(NamedTuple):
    """One parser of a chain, with its name in the task file and its traits."""

    name: str
    parser: Parser
    refines: bool
    reads: str = ""


class ParserChain:
    """Parsers in order, applied by the rules above."""

    def __init__(self, steps: Sequence[Step]) -> None:
        starts = [index for index, step in enumerate(steps) if not step.refines]
        self._alternatives: list[tuple[Step | None, tuple[Step, ...]]] = [
            (steps[start], tuple(step for step in steps[start + 1 :] if step.refines)) for start in starts
        ]
        if not starts:
            self._alternatives = [(None, tuple(steps))]

    def parse(self, text: str) -> Parsed:
        """Read one answer. A bad answer never raises: the failure has the reason of each alternative."""
        if not text.strip():
            return Parsed.failure("the answer is empty")
        if len(text) > MAX_CHARACTERS:
            return Parsed.failure(f"the answer has {len(text)} characters; at most {MAX_CHARACTERS} are read")
        shown = without_unseen(text)
        parsed = self._first_success(shown)
        if not parsed.ok:
            return parsed
        value = value_without_unseen(parsed.value)  # an escape in JSON may introduce some
        unseen = shown is not text or value is not parsed.value
        if not unseen or (parsed.route or "").startswith(_UNSEEN):
            return parsed
        return replace(parsed, value=value, route=f"{_UNSEEN}{parsed.route}")

    def _first_success(self, text: str) -> Parsed:
        """Try the alternatives until one succeeds."""
        reasons: list[str] = []
        json_failed = False
        for extractor, refiners in self._alternatives:
            reads = extractor.reads if extractor else ""
            if json_failed and reads == "prose" and _holds_json(text):
                continue
            parsed = _follow(text, extractor, refiners)
            if parsed.ok or parsed.route == REFUSAL_ROUTE:
                return parsed
            json_failed = json_failed or reads == "json"
            reasons.append(f"{parsed.route}: {parsed.reason}")
        return Parsed.failure("; ".join(reasons))


def _holds_json(text: str) -> bool:
    from creval.parsing.json.scan import holds_json  # where a parser of JSON failed it is imported already

    return holds_json(text)


def _follow(text: str, extractor: Step | None, refiners: Sequence[Step]) -> Parsed:
    """Apply one alternative and its refinements; the route of a failure names the parser that failed."""
    value: Any = text.strip()
    route = "" if refiners and extractor is None else "text"
    unseen = ""
    for step in (extractor, *refiners) if extractor else refiners:
        if step is not extractor and (clean := value_without_unseen(value)) is not value:  # an escape introduced some
            value, unseen = clean, _UNSEEN
        parsed = step.parser.parse(text if step is extractor else value)
        if not isinstance(parsed, Parsed):
            made = source_of(step.parser.parse)
            raise InterfaceError(f"the parser {step.name!r} returned a {type(parsed).__name__}, not a Parsed ({made})")
        name = parsed.route or step.name
        if not parsed.ok:
            named = parsed.route if parsed.route == REFUSAL_ROUTE else step.name
            return Parsed.failure(parsed.reason or "could not be read", named)
        value = parsed.value
        route = name if step is extractor or not route else f"{route} > {name}"
    return Parsed(value, True, None, unseen + route)


def step_that_raised(error: BaseException) -> Step | None:
    """Return the parser of a chain that raised an error, or None."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is _follow.__code__:
            step = trace.tb_frame.f_locals.get("step")
            return step if isinstance(step, Step) else None
        trace = trace.tb_next
    return None


def build_chain(refs: Sequence[ComponentRef], registry: Registry) -> ParserChain:
    """Build the chain of a task from its `parse:` list. Raises as `build_steps` does."""
    return ParserChain(build_steps(refs, registry))


def build_steps(refs: Sequence[ComponentRef], registry: Registry) -> Sequence[Step]:
    """Build the parsers of a `parse:` list.

    Raises UnknownNameError for a parser that no plugin registers, MissingPartError for a package that is absent.
    """
    steps = []
    for ref in refs:
        component = registry.get("parser", ref.name)
        traits = component.parser_traits(ref.parameters)
        steps.append(Step(ref.name, component.load()(**ref.parameters), traits.refines, traits.reads))
    return steps
