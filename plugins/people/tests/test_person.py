"""`human/NAME`: the provider between a task's screen and a person's seat."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from dataclasses import replace

import pytest

from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.plugin import MediaPart, Message, Registry, TextPart, Tool, UsageError
from creval.plugin.models import FatalModelError, GenerateRequest
from creval.plugin.screens import OptionGroup, ScreenOption, View
from creval.plugins.loader import load_plugins
from creval_people.person import PersonProvider, messages_view
from creval_people.seats.board import ask_state


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins(["people"]).registry


class Answers:
    """A seat whose person gives prepared answers."""

    def __init__(self, answers: Sequence[str | None]) -> None:
        self.answers = list(answers)
        self.views: list[View] = []

    async def ask(self, view: View) -> str | None:
        self.views.append(view)
        return self.answers.pop(0)


class Colours:
    """A screen with two choices."""

    def view(self, request: GenerateRequest) -> View:
        group = OptionGroup("Colours", (ScreenOption("red"), ScreenOption("blue")))
        return View(sample=request.origin.key.doc, title="Colours", goal="Choose.", reading="", groups=(group,))

    def answer(self, value: str) -> str:
        return f"The colour is <{value}>."

    def closing(self, scores: object) -> Sequence[str]:
        return ()


def test_the_choice_at_the_screen_becomes_the_answer_text(ask) -> None:
    seat = Answers(["blue"])
    asked: list[str] = []

    def screens(task: str, role: str = "target") -> Colours:
        asked.append(task)
        return Colours()

    provider = PersonProvider("ada", seat, screens)
    reply = asyncio.run(provider.generate(ask("Which?", task="colours")))
    assert reply.text == "The colour is <blue>."
    assert reply.model == "human/ada"
    assert reply.cost == 0.0
    assert reply.latency > 0
    assert asked == ["colours"]


def test_without_a_screen_the_messages_stand_as_they_are(ask) -> None:
    seat = Answers(["first\nsecond"])
    provider = PersonProvider("ada", seat, lambda task, role: None)
    assert asyncio.run(provider.generate(ask("What?"))).text == "first\nsecond"
    assert seat.views[0].reading == "What?"
    assert seat.views[0].groups == ()


def test_a_person_in_another_role_sees_the_screen_of_that_role_else_the_messages(ask) -> None:
    seat = Answers(["7"])
    provider = PersonProvider("ada", seat, lambda task, role: Colours() if role == "target" else None)
    assert asyncio.run(provider.generate(ask("Rate it.", role="judge"))).text == "7"
    assert "judge" in seat.views[0].goal


def test_a_conversation_shows_who_said_what_in_order(ask) -> None:
    request = ask()
    said = (Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "Yes?"), Message("user", "Go"))
    view = messages_view(GenerateRequest(said, {}, request.origin))
    assert [line for line in view.reading.split("\n") if line] == [
        "INSTRUCTIONS", "Be brief.", "QUESTION", "Hi", "YOUR ANSWER", "Yes?", "QUESTION", "Go",
    ]  # fmt: skip


def test_samples_of_one_doc_have_views_of_their_own(ask) -> None:
    views = {messages_view(ask(doc=d, repeat=r)).sample for d in "01" for r in (0, 1)}
    assert len(views) == 4


def test_stopping_interrupts(ask) -> None:
    provider = PersonProvider("ada", Answers([None]))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(provider.generate(ask()))


@pytest.mark.parametrize("name", ["a b", "ada/b", "-x", "x" * 65, "né"])
def test_a_bad_name_is_refused(registry, name: str) -> None:
    with pytest.raises(UsageError, match="not a name for a person"):
        open_model(f"human/{name}", registry, ModelOptions(concurrency=1))


def test_a_person_answers_one_question_at_a_time(registry) -> None:
    with pytest.raises(UsageError, match="one question at a time") as refused:
        open_model("human/ada", registry, ModelOptions(concurrency=64))
    assert "--concurrency 1" in str(refused.value)


def test_images_are_named_in_the_terminal_and_shown_on_the_page(ask) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(20)
    parts = (TextPart("What is it?"), MediaPart("image", png), MediaPart("image", url="https://example.org/a.png"))
    view = messages_view(replace(ask(), messages=(Message("user", parts),)))
    assert view.reading == "What is it?\n[image: image/png, 28 bytes]\n[image: https://example.org/a.png]"
    state = ask_state(view, 1, "ada", (0, 1), "")
    assert [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in state["images"]] == [png]


def test_nobody_is_asked_to_call_a_tool(ask) -> None:
    seat = Answers(["x"])
    with pytest.raises(FatalModelError, match="calls no tools"):
        asyncio.run(PersonProvider("ada", seat).generate(replace(ask(), tools=(Tool("look"),))))
    assert not seat.views
