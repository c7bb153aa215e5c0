"""Paint a view on a terminal: text in pages, the past steps, numbered choices."""

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

from creval.plugin.screens import OptionGroup, View

__all__ = ["Painting", "Status", "paint"]

WIDE = 110
"""From this width on the text is next to the choices, not above them."""
_LEAST = 5  # fewest lines of text in a separate frame
_FOOT = 3  # notice, prompt, and the line of the cursor
_FRAME = 2
_TO_TEXT = Text("The terminal is too small for text and choices: + shows the text.", style="dim")
_TO_CHOICES = Text("Enter shows the choices.", style="dim")


@dataclass(frozen=True, slots=True)
class Status:
    """What the screen shows besides a view: the person, the progress, a notice, and the page of the text (from 0).

    `text_alone`: on a terminal too small for both, show the text and not the choices (always so without choices).
    """

    person: str = ""
    progress: str = ""
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
    """Rendered lines, of which a page can be cut out."""

    def __init__(self, lines: Iterable[list[Segment]]) -> None:
        self._lines = list(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            yield from line
            yield Segment.line()


def paint(view: View, status: Status, console: Console) -> Painting:
    """Return the screen for the console's size. On a console that is not a terminal the text is not cut into pages."""
    width, height = console.size
    head = _head(view, status)
    free = height - _height(console, head, width) - _FOOT
    book_width = width * 11 // 20
    right_side = _side(view, next_to_text=True)
    if console.is_terminal and width >= WIDE and _height(console, right_side, width - book_width - 1) <= free:
        book, page = _book(view, status, console, (book_width, free - _FRAME))
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=book_width)
        grid.add_column()
        grid.add_row(book, right_side)
        return Painting(Group(head, grid, *_notice(status)), page, cramped=False)
    side = _side(view, next_to_text=False)
    needed = len(_text_lines(view, console, width))
    room = free - _FRAME - _height(console, side, width) if console.is_terminal else needed
    if room >= min(_LEAST, needed):
        book, page = _book(view, status, console, (width, room))
        return Painting(Group(head, book, side, *_notice(status)), page, cramped=False)
    if free - _FRAME < _LEAST:  # not even the text fits: it needs the lines of the goal
        head = _title(view, status)
        free = height - _height(console, head, width) - _FOOT
    book, page = _book(view, status, console, (width, free - _FRAME))
    if view.groups and not status.text_alone:
        return Painting(Group(_head(view, status), side, _TO_TEXT, *_notice(status)), page, cramped=True)
    return Painting(Group(head, book, *([_TO_CHOICES] if view.groups else []), *_notice(status)), page, cramped=True)


def _notice(status: Status) -> list[RenderableType]:
    return [Text(status.notice, style="yellow")] if status.notice else []


def _text_lines(view: View, console: Console, width: int) -> list[list[Segment]]:
    """Return the text as lines for a frame of `width`."""
    return _render(console, Markdown(view.reading) if view.markdown else Text(view.reading), width - 4)


def _book(view: View, status: Status, console: Console, size: tuple[int, int]) -> tuple[RenderableType, int]:
    """Return the requested page of the text, in a frame of `size` (columns, lines of text), and its number."""
    width, room = size
    return _page(view, _text_lines(view, console, width), max(1, room), status.page, width)


def _page(view: View, lines: list[list[Segment]], room: int, wanted: int, width: int) -> tuple[RenderableType, int]:
    """Return one page of the text in a frame, and its number."""
    pages = max(1, -(-len(lines) // room))
    page = min(max(wanted, 0), pages - 1)
    shown = lines[page * room : (page + 1) * room]
    title = Text(view.reading_title, style="bold")
    if pages > 1:
        shown += [[] for _ in range(room - len(shown))]  # keeps the choices in place on the last page
        title.append(f", page {page + 1} of {pages}  (+ next, - back)", style="dim")
    return Panel(_Lines(shown), title=title, title_align="left", border_style="dim", width=width), page


def _head(view: View, status: Status) -> RenderableType:
    return Group(_title(view, status), Text(view.goal), Rule(style="dim"))


def _title(view: View, status: Status) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column()
    line.add_column(justify="right")
    right = " · ".join(word for word in (status.progress, status.person) if word)
    line.add_row(Text(view.title, style="bold"), Text(right, style="dim"))
    return line


def _side(view: View, next_to_text: bool) -> RenderableType:
    """The past steps and the choices: groups below each other next to the text, next to each other below it."""
    parts: list[RenderableType] = [*_past(view)] if view.past else []
    numbered = list(_numbered(view))
    if next_to_text or len(numbered) < 2:
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
        number += len(group.options)


def _group(group: OptionGroup, first: int) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="cyan")
    grid.add_column()
    for number, choice in enumerate(group.options, first):
        name = Text(choice.value)
        if choice.note:
            name.append(f"  {choice.note}", style="dim")
        grid.add_row(str(number), name)
    return Group(Text(group.title, style="bold"), grid)


def _render(console: Console, content: RenderableType, width: int) -> list[list[Segment]]:
    return console.render_lines(content, console.options.update(width=max(20, width), height=None), pad=False)


def _height(console: Console, content: RenderableType, width: int) -> int:
    return len(_render(console, content, width))
