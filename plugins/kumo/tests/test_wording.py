"""No text chooses between "a" and "an" for a noun of the domain, which may begin with any sound."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files

import pytest
from kumo_games import make_domain

from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.templates.rendering import render
from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey
from creval_kumo.domains.domain import Noun
from creval_kumo.games.generation import Settings, generate
from creval_kumo.games.instance import Instance
from creval_kumo.play.screen import GameScreen
from creval_kumo.task.datasets import game_doc
from creval_kumo.trajectories.conversation import system_text

DOMAIN = replace(
    make_domain([[{0}, {1}], [{1}, set()], [{2}, {0}]], 3),
    truth_noun=Noun("artifact", "artifacts"),
    action_noun=Noun("examination", "examinations"),
)
ARTICLE = re.compile(r"\b[Aa]n?[\s*_`]+(?:artifact|examination|\[\[)\w*")


def texts(game: Instance) -> dict[str, str]:
    """Everything that a player of a game may be shown."""
    fields = game_doc(game, DOMAIN)
    task = TaskIndex(load_plugins()).load("kumo" if game.reliability == 1 else "kumo_probabilistic")
    extra = {"action": "A0", "observation": '"s0"'}
    shown = {part: render(task.prompts[part], {**fields, **extra}, task.file)[0].content for part in task.prompts}
    origin = Origin(SampleKey("kumo", fields["id"], "default", 0), doc=fields)
    view = GameScreen().view(GenerateRequest((Message("user", "Begin."),), {}, origin))
    titles = " | ".join(group.title for group in view.groups)
    shown |= {"goal": view.goal, "guide": view.guide, "past": view.past_title, "choices": titles}
    return shown | {"book": fields["book"], "trajectory": system_text(game, DOMAIN, "{}")}


@pytest.mark.parametrize(
    "settings", [Settings(3, 3), Settings(3, 3, 2), Settings(3, 3, 1, 0.8)], ids=["one valid", "two valid", "uncertain"]
)
def test_no_article_precedes_a_noun_of_the_domain(settings: Settings) -> None:
    found = texts(next(generate(DOMAIN, settings, seed=1)))
    assert {name: ARTICLE.findall(text) for name, text in found.items() if ARTICLE.search(text)} == {}
    for name in ("system", "goal", "guide", "book", "trajectory"):
        assert "artifact" in found[name]


def test_no_article_precedes_a_field_of_the_augmenters_prompts() -> None:
    prompts = list(files("creval_kumo.augment").joinpath("prompts").iterdir())
    assert len(prompts) >= 8
    for prompt in prompts:
        assert ARTICLE.findall(prompt.read_text(encoding="utf-8")) == [], prompt.name
