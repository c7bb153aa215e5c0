"""`human/NAME`: a person answers."""

from __future__ import annotations

import asyncio
import re
import signal
import threading
from time import perf_counter
from typing import NoReturn

from creval.plugin import Completion, Message, Reply, UsageError
from creval.plugin.models import FatalModelError, GenerateRequest, ProviderOptions, ProviderTraits
from creval.plugin.screens import Screen, Seat, View
from creval_people.screens import FindScreen, screens_of

__all__ = ["PersonProvider", "messages_view", "person"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GRACE = 5.0  # seconds for the cancellation to arrive
_SPEAKERS = {"system": "Instructions", "user": "Question", "assistant": "Your answer", "tool": "Result"}


class PersonProvider:
    """A `Provider` that lets a person answer at a seat (a terminal, a web page).

    The task's screen for the role decides what is shown; without one, the messages are shown unchanged.
    `latency` is the person's time in seconds. When the person stops, the run is interrupted as by Ctrl-C: the
    current sample is not written, and the run can be resumed.
    """

    traits = ProviderTraits(remote=False, cacheable=False, honours_n=False, concurrency=1, free=True, verbatim=True)

    def __init__(self, name: str, seat: Seat, screens: FindScreen | None = None) -> None:
        self._name = name
        self._seat = seat
        self._screens = screens
        self._found: dict[tuple[str, str], Screen | None] = {}

    async def generate(self, request: GenerateRequest) -> Reply:
        """Return the person's answer. Raises KeyboardInterrupt if the person stops."""
        if request.tools:
            what = "a person calls no tools, and the task offers some"
            raise FatalModelError(what, where=f"human/{self._name}", fix="Leave the task out.", every_call=True)
        screen = self._screen(request)
        view = screen.view(request) if screen else messages_view(request)
        start = perf_counter()
        value = await self._seat.ask(view)
        if value is None:
            await _interrupt()
        text = screen.answer(value) if screen else value
        model = f"human/{self._name}"
        return Reply((Completion(text),), latency=perf_counter() - start, model=model, cost=0.0)

    async def close(self) -> None:
        """Do nothing: the creator of the seat closes it."""

    def _screen(self, request: GenerateRequest) -> Screen | None:
        if self._screens is None:
            return None
        place = request.origin.key.task, request.origin.role
        if place not in self._found:
            self._found[place] = self._screens(*place)
        return self._found[place]


def messages_view(request: GenerateRequest) -> View:
    """Return the view of any task: the conversation, and a free answer."""
    key = request.origin.key
    received = [message for message in request.messages if message.role != "assistant"]
    alone = len(received) == len(request.messages) == 1
    return View(
        sample="\x1f".join((key.task, key.doc, key.condition, str(key.repeat), request.origin.role)),
        title=f"{key.task}, {key.doc}",
        goal="Answer as the text asks." if request.origin.role == "target" else f"You are the {request.origin.role}.",
        reading=_read(request.messages[0]) if alone else "\n\n".join(_spoken(message) for message in request.messages),
        reading_title="Question" if alone else "Conversation",
        media=tuple(part for message in request.messages for part in message.media),
    )


def _spoken(message: Message) -> str:
    return f"{_SPEAKERS[message.role].upper()}\n{_read(message)}"


def _read(message: Message) -> str:
    """Return the text of a message, with a line for each image, audio or file and each call of a tool."""
    sent = [f"[{part.kind}: {part.url or f'{part.media_type}, {len(part.data):,} bytes'}]" for part in message.media]
    calls = [f"[calls {call.name}: {call.arguments}]" for call in message.tool_calls]
    return "\n".join([*([message.text] if message.text or not (sent or calls) else []), *sent, *calls])


async def _interrupt() -> NoReturn:
    """Stop the run as Ctrl-C does.

    Raised from within a task, KeyboardInterrupt tears the event loop down in the middle; the signal lets the loop
    cancel its tasks in order. If no loop of the main thread handles it, raise the exception.
    """
    if threading.current_thread() is threading.main_thread():
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(_GRACE)
    raise KeyboardInterrupt


def person(model: str, options: ProviderOptions) -> PersonProvider:
    """Component `human`: a person called `model` (1 to 64 letters, digits, dots, dashes, underscores).

    Raises UsageError for another name, and if several questions would be shown at once.
    """
    if not _NAME.fullmatch(model):
        raise UsageError(
            f"{model!r} is not a name for a person",
            where="human/NAME",
            fix="Use up to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit.",
        )
    if options.concurrency != 1:
        raise UsageError(
            "a person answers one question at a time",
            where=f"human/{model}",
            fix="Add --concurrency 1, or use: creval play TASK",
        )
    screens = None if options.run_tasks is None else screens_of(options.run_tasks)
    if options.seat is not None:
        return PersonProvider(model, options.seat, screens)
    from creval_people.seats.terminal import TerminalSeat

    return PersonProvider(model, TerminalSeat.here(model), screens)
