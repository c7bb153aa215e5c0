"""Paints a view on a terminal: text with pages, what was seen so far, numbered choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from creval.types.screens import ChoiceGroup, View

__all__ = ["Around", "Painting", "paint"]

WIDE = 110
"""From this width on the text stands beside the choices, not above them."""
_LEAST = 8
_FOOT = 3  # notice, prompt, and the line that the cursor goes to
_FRAME = 2
_HINT = Text("The terminal is too small for the text: + shows it.", style="dim")


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a view: who plays, how far the run is, a notice, and the page of the text (from 0).

    `text_alone`: where the terminal is too small for both, show the text and not the choices.
    """

    player: str = ""
    standing: str = ""
    notice: str = ""
    page: int = 0
    text_alone: bool = False


@dataclass(frozen=True, slots=True)
class Painting:
    """A painted screen, and the page of its text. `cramped`: the terminal is too small for text and choices at once."""

    content: RenderableType
    page: int
    cramped: bool


class _Lines:
    """Lines that are rendered already, so that a page of them can be cut out."""

    def __init__(self, lines: Iterable[list[Segment]]) -> None:
        self._lines = list(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            yield from line
            yield Segment.line()


def paint(view: View, around: Around, console: Console) -> Painting:
    """Return the screen for the console's size. On a console that is no terminal the text is not cut into pages."""
    width, height = console.size
    wide = width >= WIDE and console.is_terminal
    head, side = _head(view, around), _side(view, beside=wide)
    book_width = width * 11 // 20 if wide else width
    lines = _render(console, _reading(view), book_width - 4)
    free = height - _height(console, head, width) - _FOOT - _FRAME
    room = free if wide else free - _height(console, side, width)
    cramped = console.is_terminal and room < min(_LEAST, len(lines))
    if not console.is_terminal:
        room = len(lines)
    elif cramped:
        room = free
    book, page = _page(view, lines, max(1, room), around.page, book_width)
    body: list[RenderableType] = [book, side]
    if cramped:
        body = [book, Text("Enter goes back to the choices.", style="dim")] if around.text_alone else [side, _HINT]
    elif wide:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=book_width)
        grid.add_column()
        grid.add_row(book, side)
        body = [grid]
    if around.notice:
        body.append(Text(around.notice, style="yellow"))
    return Painting(Group(head, *body), page, cramped)


def _page(view: View, lines: list[list[Segment]], room: int, wanted: int, width: int) -> tuple[RenderableType, int]:
    """Return one page of the text in a frame, and its number."""
    pages = max(1, -(-len(lines) // room))
    page = min(max(wanted, 0), pages - 1)
    shown = lines[page * room : (page + 1) * room]
    title = Text(view.reading_title, style="bold")
    if pages > 1:
        shown += [[] for _ in range(room - len(shown))]  # the choices stay where they are on the last page
        title.append(f", page {page + 1} of {pages}  (+ next, - back)", style="dim")
    return Panel(_Lines(shown), title=title, title_align="left", border_style="dim", width=width), page


def _head(view: View, around: Around) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column()
    line.add_column(justify="right")
    right = " · ".join(word for word in (around.standing, around.player) if word)
    line.add_row(Text(view.title, style="bold"), Text(right, style="dim"))
    return Group(line, Text(view.goal), Rule(style="dim"))


def _reading(view: View) -> RenderableType:
    return Markdown(view.reading) if view.markdown else Text(view.reading)


def _side(view: View, beside: bool) -> RenderableType:
    """What was seen, and the choices: groups one below the other beside the text, next to each other under it."""
    parts: list[RenderableType] = [*_past(view)] if view.past else []
    numbered = list(_numbered(view))
    if beside or len(numbered) < 2:
        for group in numbered:
            parts += [group, Text()]
    else:
        grid = Table.grid(padding=(0, 3))
        for _ in numbered:
            grid.add_column(ratio=1)
        grid.add_row(*numbered)
        parts.append(grid)
    return Group(*parts)


def _past(view: View) -> Iterator[RenderableType]:
    yield Text(view.past_title, style="bold")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim")
    grid.add_column()
    for number, past in enumerate(view.past, 1):
        grid.add_row(f"{number}.", Text.assemble(past.step, ": ", (past.result, "green")))
    yield grid
    yield Text()


def _numbered(view: View) -> Iterator[RenderableType]:
    number = 1
    for group in view.groups:
        yield _group(group, number)
        number += len(group.choices)


def _group(group: ChoiceGroup, first: int) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="cyan")
    grid.add_column()
    for number, choice in enumerate(group.choices, first):
        name = Text(choice.value)
        if choice.note:
            name.append(f"  {choice.note}", style="dim")
        grid.add_row(str(number), name)
    return Group(Text(group.title, style="bold"), grid)


def _render(console: Console, content: RenderableType, width: int) -> list[list[Segment]]:
    return console.render_lines(content, console.options.update(width=max(20, width), height=None), pad=False)


def _height(console: Console, content: RenderableType, width: int) -> int:
    return len(_render(console, content, width))
