"""Prompt templates: exact text, clear errors, and no way to harm the host or to run without end."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment, StrictUndefined

from creval.errors import TaskError
from creval.tasks.task_model import PromptMessage
from creval.tasks.templates.rendering import render, syntax_problem, undefined_fields
from creval.types.messages import Message

FILE = Path("task.yaml")
DOC = {"anchors": ["a", "b"], "topic": "owls", "n": 3, "rows": [{"x": 1}, {"x": 2}]}


def text(template: str, fields: dict[str, Any] | None = None) -> str:
    (message,) = render([PromptMessage("user", template, 10)], DOC if fields is None else fields, FILE)
    return message.content


def error(template: str) -> str:
    with pytest.raises(TaskError) as caught:
        text(template)
    return str(caught.value)


# --- what is sent ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain text\n", "plain text"),
        ("two\n\n", "two\n"),
        ("About {{ topic }}, {{ n }} times.\n", "About owls, 3 times."),
        ("{{ anchors | join(', ') }}", "a, b"),
        ("{% for a in anchors %}\n- {{ a }}{{ '' if loop.last else ';' }}\n{% endfor %}\nend", "- a;\n- b\nend"),
        ("{% for a in anchors if a != 'a' %}{{ loop.index }}{{ a }}{% else %}none{% endfor %}", "1b"),
        ("{% for a in [] %}x{% else %}none{% endfor %}", "none"),
        ("  {% if n > 2 %}\n  many\n  {% endif %}\nx", "  many\nx"),
        ("{{ 'x' ~ n ~ topic }} {{ n * 2 }} {{ 'ab' * 2 }} {{ 7 // 2 }}", "x3owls 6 abab 3"),
        ("{{ rows | map(attribute='x') | sum }} {{ rows | join('+', attribute='x') }} {{ rows[1].x }}", "3 1+2 2"),
        ("{{ anchors | tojson }} {{ topic | replace('o', '00') | upper }} ", '["a", "b"] 00WLS '),
        ("{{ missing | default('none') }}{% if other is defined %}{{ other }}{% endif %}", "none"),
        ("{% set t = namespace(n=0) %}{% for r in rows %}{% set t.n = t.n + r.x %}{% endfor %}{{ t.n }}", "3"),
        ("{# a note #}<b>{{ '<&>' }}</b>", "<b><&></b>"),
        ("{{ none_value }}|{{ flag }}", "None|True"),
        ("{% for a, b in [(1, 2), [3, n]] %}{{ a }}{{ b }}{% endfor %}{{ {'k': n}['k'] }}", "12333"),
        ("{{ 2.345 | round(1) }} {{ {'k': [n, none_value]} | tojson }}", '2.3 {"k": [3, null]}'),
    ],
)  # fmt: skip
def test_rendering(template: str, expected: str) -> None:
    assert text(template, {**DOC, "none_value": None, "flag": True}) == expected


def test_all_messages_of_a_prompt_are_rendered_with_their_roles() -> None:
    messages = [PromptMessage("system", "Be {{ topic }}.", 1), PromptMessage("user", "Hi", 2)]
    assert render(messages, DOC, FILE) == [Message("system", "Be owls."), Message("user", "Hi")]


pieces = st.sampled_from(["text ", "{{ topic }}", "{{ n }}", "\n", "{{anchors}}", "{# x #}", "é", "{{ topic|upper }}"])


@given(st.lists(pieces, max_size=8).map("".join))
def test_the_fast_way_gives_what_jinja_gives(template: str) -> None:
    plain = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    assert text(template) == plain.from_string(template).render(DOC)


# --- errors ----------------------------------------------------------------------------------------------


def test_an_undefined_field_names_the_line_and_the_fields_of_the_doc() -> None:
    assert error("Hello.\n\nAbout {{ topik }}.") == (
        "task.yaml:12: the prompt cannot be rendered: 'topik' is undefined. "
        "Did you mean 'topic'? The doc has: anchors, topic, n, rows."
    )
    assert error("x\n{% for a in anchors %}\n{{ a.b }}\n{% endfor %}").startswith("task.yaml:12: ")
    assert "list object has no element 7" in error("{{ anchors[7] }}")


def test_the_file_of_the_message_itself_is_named() -> None:
    message = PromptMessage("user", "{{ nope }}", 3, Path("base.yaml"))
    with pytest.raises(TaskError, match=r"base\.yaml:3"):
        render([message], DOC, FILE)


@pytest.mark.parametrize(
    ("template", "line", "part"),
    [
        ("a\n{{ b", 11, "unexpected end of template"),
        ("a\nb\n{% if x %}", 12, "Unexpected end of template"),
        ("{{ x | nope }}", 10, "no filter 'nope'"),
        ("{% include 'secret' %}", 10, "'include' is not available"),
        ("{% import 'x' as y %}", 10, "'import' is not available"),
        ("{% macro f() %}{% endmacro %}", 10, "'macro' is not available"),
        ("{% for a in b recursive %}{% endfor %}", 10, "recursive loops"),
        ("{{ x | random }}", 10, "no filter 'random'"),
        ("{{ 9 ** 9 ** 9 }}", 10, "'**' is not available"),
        ("{% for i in range(9999) %}{{ 7 ** 99 }}{% endfor %}", 10, "'**' is not available"),
        ("{% with x = 1 %}{% endwith %}", 10, "'with' is not available"),
        ("{% set x %}a{% endset %}", 10, "'set ... endset' is not available"),
        ("{% filter upper %}a{% endfilter %}", 10, "'filter' is not available"),
    ],
)
def test_faulty_templates_are_found_without_a_doc(template: str, line: int, part: str) -> None:
    problem = syntax_problem(PromptMessage("user", template, 10), FILE, ("prompt", 0, "content"))
    assert problem is not None
    assert (problem.line, problem.path) == (line, "prompt[0].content")
    assert part in problem.message


@pytest.mark.parametrize(
    "template",
    ["{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "{{ 1" + " + 1" * 10_000 + " }}", "{{ " + "-" * 50_000 + "1 }}"],
)
def test_templates_of_absurd_depth_are_refused(template: str) -> None:
    problem = syntax_problem(PromptMessage("user", template, 10), FILE)
    assert problem is not None and "the template is faulty" in problem.message
    message = PromptMessage("user", template, 10)
    with pytest.raises(TaskError):
        render([message], DOC, FILE)


def test_undefined_fields_are_found_without_rendering() -> None:
    template = "{{ topic }}\n{% if who %}{{ who.name }}{% endif %}{{ range(n) | list }}\n{{ story }} {{ opt | d('') }}"
    message = PromptMessage("user", template, 10)
    problems = undefined_fields([message], ["topic", "n"], FILE, provided=["story"])
    assert [(p.line, p.message) for p in problems] == [(11, "no doc has the field 'who'")]
    some = undefined_fields([message], ["topic", "n", "story"], FILE, optional=["who"])
    assert [p.message for p in some] == ["only some docs have the field 'who'"]
    assert undefined_fields([message], ["topic", "n", "who", "story"], FILE) == []


# --- hostile templates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "template",
    [
        "{{ topic.__class__ }}",
        "{{ ().__class__.__bases__[0].__subclasses__() }}",
        "{{ anchors.append('x') }}",
        "{{ rows[0].update({'x': 9}) }}",
        "{{ self.__init__.__globals__ }}",
        "{{ topic.format.__globals__ }}",
        "{{ '{0.__class__}'.format(topic) }}",
        "{{ lipsum.__globals__ }}",
        "{{ cycler.__init__ }}",
    ],
)
def test_the_sandbox_holds(template: str) -> None:
    error(template)
    assert DOC["anchors"] == ["a", "b"] and DOC["rows"] == [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'x' * 1000000000 }}",
        "{{ 'x' * 100000000 }}",
        "{{ [1] * 100000000 }}",
        "{{ range(1000000) | list }}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% for a in range(9999) %}" * 3 + "x" + "{% endfor %}" * 3,
        "{% set x = 'xxxxxxxxxx' %}" + "{% set x = x ~ x %}" * 60,
        "{% set x = 'xxxxxxxxxx' %}" + "{% set x = x + x %}" * 60,
        "{% set x = ['x'] %}" + "{% set x = x + x %}" * 60,
        "{% set x = 'xxxxxxxxxx' %}" + "{% set x = [x, x] | join %}" * 60,
        "{% set x = 'xxxxxxxxxx' %}" + "{% set x = x | replace('x', 'xxxxxxxxxx') %}" * 20,
        "{{ '%999999999d' % 1 }}",
        "{{ 'x'.ljust(999999999) }}",
        "{{ 'x'.center(999999999) }}",
        "{% set x = 'x' * 1000000 %}{% for i in range(9000) %}{{ x }}{% endfor %}",
        "{% set x = 'xxxxxxxxxx' %}" + "{% set x = x.replace('x', 'xxxxxxxxxx') %}" * 20,
        "{% set x = 'x' %}" + "{% set x = [x, x] %}" * 60 + "{{ x }}",
        "{% set x = 'x' %}" + "{% set x = (x, x) | string %}" * 60 + "{{ x }}",
        "{% set x = 'x' %}" + "{% set x = {'a': x, 'b': x} %}" * 60 + "{{ x }}",
        "{% set x = 'x' %}" + "{% set x = dict(a=x, b=x) %}" * 60 + "{{ x | tojson }}",
        "{% set x = ['x'] %}" + "{% set x = [x] * 1000 %}" * 6 + "{{ x }}",
        "{% set x = {} %}" + "{% set x = x.fromkeys(range(9999), [x]) %}" * 6 + "{{ x }}",
        "".join(f"{{% for a{i} in [[a{i - 1}, a{i - 1}]] %}}" for i in range(1, 19)).replace("a0", "'x'")
        + "{% for b in [[a18] * 900] %}{{ [b] * 900 }}{% endfor %}"
        + "{% endfor %}" * 18,
        "{% set n = namespace(a=1) %}{% set m = namespace(a=n, b=n) %}{{ m }}",
        "{% set n = namespace(a=1) %}{% set n.a = n %}{{ n }}",
        "{% set n = namespace(a=1) %}{{ [n, n] }}",
        "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
        "{% set x = 2 %}" + "{% set x = x * x %}" * 60,
        "{{ 1.5 | round(999999999, 'floor') }}",
        "{{ [1] | tojson(indent=999999999) }}",
        "{{ (5).to_bytes(999999999, 'big') }}",
        "{{ 'x'.encode() % 1 }}",
        "{% for i in range(9999) %}{{ ('x' * 9000000) | upper | length }}{% endfor %}",
        "{{ range(10000) | map('string') | map('replace', '', 'y' * 90000) | list | length }}",
        "{{ range(10000) | map('string') | map('replace', '', 'y' * 90000) | sort | length }}",
        "{{ range(10000) | map('string') | map('replace', '', 'y' * 90000) | unique | join | length }}",
        "{% set x = 'x' * 9000000 %}{% for i in range(9999) %}{{ x.upper() | length }}{% endfor %}",
        "{% set x = 'x' * 9000000 %}{% for i in range(9999) %}{{ 'y' in x }}{% endfor %}",
        "{% set x = 'x' * 9000000 %}{% for i in range(9999) %}{{ x is in(['y', x ~ 'z']) }}{% endfor %}",
        "{% set x = 'x' * 4000000 %}{% set y = x ~ '' %}{% for i in range(9999) %}{{ x == y }}{% endfor %}",
        "{% set x = 'x' * 9000000 %}{% for i in range(9999) %}{{ x[1:] | length }}{% endfor %}",
        "{% set x = 'x' * 4000000 %}{% for i in range(9999) %}{{ (x + x) | length }}{% endfor %}",
        "{% set x = range(9999) | list %}{% for i in range(9999) %}{{ x | sort | length }}{% endfor %}",
        "{% set x = range(9999) | list %}{% for i in range(9999) %}{{ [x] | length }}{% endfor %}",
        "{% set x = [range(9000) | list] * 5 %}{% set y = [range(9000) | list] * 5 %}"
        "{% for i in range(9000) %}{{ x == y }}{% endfor %}",
        "{% for i in range(9999) %}{{ range(9999) | max }}{{ 'a' in range(9999) }}{% endfor %}",
        *(f"{{% set x = 'x' * 9000000 %}}{{% for i in range(9999) %}}{{{{ x | {each} }}}}{{% endfor %}}" for each in (
            "lower | length", "title | length", "capitalize | length", "trim | length", "wordcount", "reverse | length",
            "list | length", "unique | list | length", "replace('y', 'z') | length", "int", "float", "string | length",
            "escape | length", "truncate(9) | length", "sort | length", "join('') | length", "tojson | length",
        )),
        *(f"{{% set x = range(9999)|list %}}{{% for i in range(999) %}}{{{{ x | {each} }}}}{{% endfor %}}" for each in (
            "sum", "max", "min", "join | length", "unique | list | length", "reverse | list | length",
            "map('string') | list | length", "select('odd') | list | length", "string | length", "tojson | length",
        )),
        *(f"{{% set x = 'x' * 9000000 %}}{{% for i in range(9999) %}}{{{{ x.{each} }}}}{{% endfor %}}" for each in (
            "count('y')", "find('y')", "split('y') | length", "strip() | length", "swapcase() | length",
            "startswith('y')", "partition('y') | length", "casefold() | length", "splitlines() | length", "isdigit()",
        )),
    ],
)  # fmt: skip
def test_time_and_memory_are_bounded(template: str, _nothing_to_look_through: None) -> None:
    assert any(_seconds_to_refuse(template) < 1 for _ in range(3))  # once of three: the machine may be busy


@pytest.fixture(scope="module")
def _nothing_to_look_through() -> Iterator[None]:
    """What other tests of the process have left is not looked through for the garbage of a template: once for all."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def _seconds_to_refuse(template: str) -> float:
    began = time.thread_time()  # other tests of the process may have left threads
    assert "the prompt cannot be rendered" in error(template)
    return time.thread_time() - began


def test_ordinary_work_on_nested_rows_is_far_from_the_bounds() -> None:
    rows = [{f"field{i}": "word " * 10 for i in range(5)} for _ in range(60)]
    template = "{% for row in rows %}{{ rows | map(attribute='field1') | join(', ') | length }} {% endfor %}"
    assert text(template, {"rows": rows}).split() == ["3118"] * 60


def test_ordinary_work_on_a_long_doc_is_far_from_the_bounds() -> None:
    doc = {"story": "word " * 20_000, "words": [f"w{i}" for i in range(300)]}
    template = (
        "{{ story | trim | upper }}{% for w in words %}{{ loop.index }}/{{ words | length }} {{ w | title }} "
        "{{ words | join(', ') }}{{ w in words }}{% endfor %}"
    )
    assert text(template, doc).startswith("WORD WORD")
