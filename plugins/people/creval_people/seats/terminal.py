"""A person at a terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TextIO

from rich.console import Console
from rich.text import Text

from creval.plugin.people import visible
from creval.plugin.screens import OptionGroup, View
from creval_people.seats.line_reader import LineReader
from creval_people.seats.paint import Status, paint
from creval_people.seats.progress import Progress
from creval_people.seats.typed_lines import END, Chosen, Help, Page, Stop, Wrong, command, read_choice

__all__ = ["TerminalSeat"]


class TerminalSeat:
    """A `Seat` that paints each view on a console and reads lines.

    A choice is picked by its number or name; any other input is explained and the question repeated. A free answer is
    any number of lines, ended by a line with only a full stop. `quit` and the end of input stop. On a terminal too
    small for text and choices at once, a sample begins with its text.
    """

    def __init__(self, lines: LineReader, console: Console, person: str, progress: Progress) -> None:
        self._lines = lines
        self._console = console
        self._person = person
        self._progress = progress
        self._sample = ""
        self._notice = ""
        self._page = 0
        self._cramped = False
        self._text_alone = False
        self._text_shown = False

    @classmethod
    def here(cls, person: str, progress: Progress | None = None, sink: TextIO | None = None) -> TerminalSeat:
        """Return a seat at this process's own terminal: input from standard input, the screen on standard output."""
        console = Console(file=sink or sys.stdout, highlight=False)
        return cls(LineReader(0), console, person, progress or Progress())

    async def ask(self, view: View) -> str | None:
        """Show the view until there is a valid answer."""
        if view.sample != self._sample:
            self._sample, self._page, self._text_alone, self._text_shown = view.sample, 0, True, False
        ask = self._ask_choice if view.groups else self._ask_words if view.boxes else self._ask_text
        value = await ask(view)
        self._notice, self._text_alone = "", False
        if value is not None and any(group.final and value in _values(group) for group in view.groups):
            self._notice = f"Your answer is noted: {value}"
        return value

    async def _ask_choice(self, view: View) -> str | None:
        while True:
            self._show(view)
            line = await self._prompt("Number or name (? help, quit): ")
            if line is None:
                return None
            if self._cramped and self._text_alone and not line.strip():
                self._text_alone = False
                continue
            meaning = read_choice(line, view)
            self._notice = ""
            match meaning:
                case Chosen(value):
                    return value
                case Stop():
                    return None
                case Page(by):
                    self._turn(by)
                case Help():
                    self._notice = _help(view)
                case Wrong(reason):
                    self._notice = reason

    async def _ask_words(self, view: View) -> str | None:
        self._show(view)
        words: list[str] = []
        while len(words) < view.boxes:
            which = f"Word {len(words) + 1} of {view.boxes}" if view.boxes > 1 else "Your word"
            line = await self._prompt(f"{which} (? help, - takes the last one back, {END!r} ends, quit): ")
            match None if line is None else line.strip():
                case None | "quit":
                    return None
                case "?" | "help":
                    self._console.print(Text(_help(view)))
                case "-":
                    words = words[:-1]
                case word if word == END and words:
                    break
                case word if word and word != END:
                    words.append(word)
        return "\n".join(words)

    async def _ask_text(self, view: View) -> str | None:
        while True:
            self._show(view)
            first = await self._prompt(f"Your answer, then a line with only {END!r} (? help, quit): ")
            self._notice = ""
            match None if first is None else command(first):
                case Page(by):
                    self._turn(by)
                    continue
                case Help():
                    self._notice = _help(view)
                    continue
                case Stop():
                    return None
            line, written = first, []
            while line is not None and line.strip() != END:
                written.append(line)
                line = await self._lines.line()
            text = "\n".join(written).strip()
            if line is None and not text:
                return None
            if text:
                return text
            self._notice = "An answer may not be empty."

    def _turn(self, by: int) -> None:
        if self._cramped and not self._text_alone:
            self._text_alone = True
        else:
            self._page += by

    def _show(self, view: View) -> None:
        status = Status(self._person, self._progress.words(), visible(self._notice), self._page, self._text_alone)
        if not self._console.is_terminal and self._text_shown:  # a log needs the text once per sample
            view = replace(view, reading="(as above)", markdown=False)
        painting = paint(_visible(view), status, self._console)
        self._page, self._cramped, self._text_shown = painting.page, painting.cramped, True
        self._console.clear()
        self._console.print(painting.content)

    async def _prompt(self, words: str) -> str | None:
        self._console.print(Text(words, style="bold"), end="")
        self._console.file.flush()
        return await self._lines.line()


def _visible(view: View) -> View:
    """Return the view with control characters escaped: its texts come from untrusted docs."""
    groups = [
        replace(
            group,
            title=visible(group.title),
            options=tuple(replace(one, value=visible(one.value), note=visible(one.note)) for one in group.options),
        )
        for group in view.groups
    ]
    past = tuple(replace(step, step=visible(step.step), result=visible(step.result)) for step in view.past)
    return replace(
        view,
        title=visible(view.title),
        goal=visible(view.goal),
        reading=visible(view.reading),
        reading_title=visible(view.reading_title),
        guide=visible(view.guide),
        past_title=visible(view.past_title),
        past=past,
        groups=tuple(groups),
    )


def _values(group: OptionGroup) -> list[str]:
    return [choice.value for choice in group.options]


def _help(view: View) -> str:
    stop = "q or quit stops" if view.groups else "quit stops"
    turn = f"+ and - turn the pages of the text. {stop}; the run can be resumed later."
    return f"{view.guide}\n{turn}".strip()
