"""The components of this plugin. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register the sandbox, and the components of tasks that ask for programs."""
    registry.add(
        "sandbox",
        "bubblewrap",
        "creval_sandbox.bubblewrap:open_bubblewrap",
        "Python and C++ programs under Linux namespaces; `bubblewrap/plain` uses one bubblewrap per program",
    )
    _register_code(registry)


def _register_code(registry: Registry) -> None:
    language = params.one_of("python", "c++", about="the language of the program (python)")
    registry.add(
        "parser",
        "program",
        "creval_sandbox.code.program_parser:ProgramParser",
        "the program of an answer: a fenced block, or the answer itself",
        parameters=params.schema(
            language=language,
            form=params.one_of("answer", "completion", about="completion: the answer continues the prompt, all of it"),
        ),
        positional="language",
        gives="text",
    )
    registry.add(
        "scorer",
        "code",
        "creval_sandbox.code.code_scorer:Code",
        "1 where the program passes the doc's tests in the sandbox",
        parameters=params.schema(
            tests=params.text(1, about="the field with the tests: a text, or a list of texts (test)"),
            entry_point=params.text(1, about="the field with the name of the function that check() is called with"),
            header=params.text(1, about="the field with the code that the prompt begins"),
            setup=params.text(1, about="the field with code that comes before everything"),
            language=language,
            seconds=params.number(above=0, maximum=600, about="processor time of each test (5)"),
            memory=params.integer(16, 65536, about="MiB of memory of each test (512)"),
            reduce=params.one_of("mean", "best", about="how several answers of a sample are combined"),
        ),
        positional="tests",
        produces=("code", "tests_passed"),
        ranges={"code": "0/1", "tests_passed": (0, 1)},
        uses=("sandbox",),
        waits=True,
        takes=("text",),
        reads_some=lambda parameters: parameters.get("reduce") == "best",
    )
