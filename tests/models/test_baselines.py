"""`baseline/floor` and `baseline/ceiling`."""

from __future__ import annotations

import asyncio
import dataclasses
import types
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from creval.errors import FatalModelError, MissingPartError, ScoringError, UnknownNameError, UsageError
from creval.models.local.baseline_provider import Target
from creval.models.model_options import ModelOptions
from creval.models.open_model import open_model
from creval.parsing.numbers import LastNumber
from creval.scoring.matching import ExactMatch
from creval.types.components import Turn
from creval.types.sample import Condition


class Context:
    """The part of a task's context that the baselines here need."""

    task = "t"

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed

    def resource(self, name: str) -> Any:
        raise MissingPartError(f"no {name}")

    async def ask(self, *_: Any, **__: Any) -> Any:
        raise UsageError("nobody to ask")


class Player:
    """Tells what it saw and draws a number."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def reply(self, turn: Turn) -> str:
        self.turns.append(turn)
        return f"{turn.doc.get('answer')} {turn.call} {turn.random.random()}"


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def reply(self, turn: Turn) -> str:
        raise self.error


def play(registry: Any, requests: list[Any], player: Any, name: str = "floor", seed: int = 1) -> list[str]:
    def players(task: str, which: str) -> Any:
        return {("t", name): (player, Context(seed))}[task, which]

    async def go() -> list[str]:
        model = open_model(f"baseline/{name}", registry, ModelOptions(find_baseline=players, offline=True))
        try:
            return [reply.text for reply in await asyncio.gather(*(model.generate(r) for r in requests))]
        finally:
            await model.close()

    return asyncio.run(go())


def with_doc(request: Any, condition: Condition | None = None, **doc: Any) -> Any:
    return dataclasses.replace(request, origin=dataclasses.replace(request.origin, doc=doc, condition=condition))


def test_a_player_sees_the_doc_with_its_answer_and_the_condition(registry, ask) -> None:
    player = Player()
    condition = Condition("k=3", {"k": 3})
    (text,) = play(registry, [with_doc(ask(condition="k=3"), condition, answer="gold")], player)
    assert text.startswith("gold 0 ")
    turn = player.turns[0]
    assert (turn.condition, turn.key.task, turn.context.seed) == (condition, "t", 1)
    assert turn.messages[0].content == "Say something."


def test_chance_is_a_sample_s_own(registry, ask) -> None:
    """The same whatever the order, another one for every other sample, call, seed and baseline."""
    requests = [ask(doc="a"), ask(doc="b"), ask(doc="a", repeat=1), ask(doc="a", call=1), ask(doc="a", condition="c")]
    there = play(registry, requests, Player())
    back = play(registry, requests[::-1], Player())[::-1]
    assert there == back
    draws = {text.split()[-1] for text in there}
    draws.add(play(registry, requests[:1], Player(), seed=2)[0].split()[-1])
    draws.add(play(registry, requests[:1], Player(), name="ceiling")[0].split()[-1])
    assert len(draws) == 7


def test_a_task_without_the_player(registry, ask) -> None:
    with pytest.raises(UsageError, match=r"(?s)task 'other' has no ceiling baseline.*baselines: \{ceiling"):
        play(registry, [ask(task="other")], Player(), name="ceiling")


def test_a_fault_of_the_player_is_an_errored_sample_that_names_the_doc(registry, ask) -> None:
    with pytest.raises(FatalModelError, match=r"doc 'd9'.*ZeroDivisionError"):
        play(registry, [ask(doc="d9")], Failing(ZeroDivisionError("by zero")))
    with pytest.raises(FatalModelError, match="no vector"):
        play(registry, [ask()], Failing(ScoringError("no vector")))


@pytest.mark.parametrize("error", [KeyError("gold"), ScoringError("the doc has no field 'gold'"), TypeError("none")])
def test_what_another_role_is_asked_is_no_fault_of_the_baseline(registry, ask, error: Exception) -> None:
    asked = ask()
    asked = dataclasses.replace(asked, origin=dataclasses.replace(asked.origin, role="judge"))
    with pytest.raises(UsageError, match=r"(?s)role judge: baseline/floor of 't' answers docs.*--role judge=") as found:
        play(registry, [asked], Failing(error))
    assert len(str(found.value).splitlines()) <= 3 and "gold" not in str(found.value)


def test_a_missing_part_stops_with_its_fix(registry, ask) -> None:
    with pytest.raises(MissingPartError):
        play(registry, [ask()], Failing(MissingPartError("no embedding")))


def test_unknown_baseline(registry) -> None:
    with pytest.raises(UnknownNameError, match="ceiling"):
        open_model("baseline/cieling", registry)


def test_without_players_it_is_reported(registry) -> None:
    with pytest.raises(UsageError, match="target"):
        open_model("baseline/floor", registry)


def test_several_completions_are_several_draws(registry, ask) -> None:
    """Each from a random stream of its own."""
    player = Player()

    async def go() -> list[str]:
        model = open_model("baseline/floor", registry, ModelOptions(find_baseline=lambda *_: (player, Context())))
        reply = await model.generate(ask(n=3))
        return [c.text for c in reply.completions]

    assert len(set(asyncio.run(go()))) == 3


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
@example(42995711569563608)  # a float is exactly this number, and its shortest form is another
@settings(max_examples=50)
def test_the_target_is_played_so_that_it_is_read_back(number) -> None:
    turn = types.SimpleNamespace(doc={"target": number})
    text = Target().reply(turn)  # type: ignore[arg-type]
    assert LastNumber().parse(Target(form="It is {{ answer }}.").reply(turn)).value == number  # type: ignore[arg-type]
    assert ExactMatch().matches(LastNumber().parse(text).value, number)


def test_a_target_is_played_with_all_its_digits() -> None:
    assert Target().reply(types.SimpleNamespace(doc={"target": 19999.99})) == "19999.99"  # type: ignore[arg-type]
