"""The task files: complete, the same games alone as together; floor and ceiling."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from creval import RunOptions, run
from creval.data.data_options import DataOptions
from creval.data.open_dataset import open_dataset
from creval.errors import DataError, UsageError
from creval.plugins.loader import load_plugins
from creval.tasks.index import TaskIndex
from creval.tasks.task_model import Task
from creval.types.components import Turn
from creval.types.messages import Message
from creval.types.sample import Condition, SampleKey
from creval_kumo.books.book_check import book_faults
from creval_kumo.domains import PAPER_DOMAINS, domain_names, load_domain
from creval_kumo.games.instance import Instance
from creval_kumo.task.baselines import OptimalPlay, RandomConsistent
from creval_kumo.task.datasets import KumoDocs

PLUGINS = load_plugins()
INDEX = TaskIndex(PLUGINS)


def dataset(task: Task) -> Any:
    return open_dataset(task.dataset, PLUGINS.registry, DataOptions.from_environment(offline=True))


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_every_domain_has_a_variant_with_its_title_and_is_in_the_suite(difficulty: str) -> None:
    family = {member.variant: member for member in INDEX.members(f"kumo_{difficulty}")}
    assert list(family) == domain_names()
    suite = [task.name for task in INDEX.expand(["kumo_all"])]
    for name, member in family.items():
        assert member.title.partition("): ")[2] == load_domain(name).title
        assert INDEX.load(member.name).dataset.parameters["generator"].parameters["domains"] == name
        assert member.name in suite


def test_there_are_twenty_domains_and_a_task_of_each_kind() -> None:
    names = domain_names()
    assert len(names) >= 20 and set(PAPER_DOMAINS) <= set(names)
    tasks = {header.name for header in INDEX.headers() if header.plugin == "kumo" and header.kind == "task"}
    single = {f"kumo_{difficulty}_{name}" for difficulty in ("easy", "hard") for name in names}
    published = {"kumo_published_easy", "kumo_published_hard", "kumo_published_all"}
    variants = {"kumo_counterfactual", "kumo_tools", "kumo_multi_truth", "kumo_probabilistic", "kumo_long_book"}
    assert tasks == single | published | variants | {"kumo", "kumo_easy", "kumo_hard", "kumo_hard_16x20"}


def test_suites() -> None:
    assert [task.name for task in INDEX.expand(["kumo_5"])] == ["kumo_easy", "kumo_hard"]
    published = [task.name for task in INDEX.expand(["kumo_published"])]
    assert published == ["kumo_published_easy", "kumo_published_hard"]
    everything = [task.name for task in INDEX.expand(["kumo_all"])]
    assert len(everything) == len(set(everything)) == 2 * len(domain_names())


def test_tasks_have_the_papers_sizes_and_five_tries() -> None:
    for task in INDEX.expand(["kumo_5", "kumo_all"]):
        truths, actions = (4, 6) if "_easy" in task.name else (12, 16)
        asked = task.dataset.parameters["generator"].parameters
        assert (asked["truths"], asked["actions"], asked["count"], task.repeats) == (truths, actions, 50, 5)
    fields = dataset(INDEX.load("kumo_hard_medical"))[0].fields
    assert (len(fields["truths"]), len(fields["actions"])) == (12, 16)


def test_a_domain_has_the_same_games_alone_as_among_the_five() -> None:
    together = dataset(INDEX.load("kumo_easy"))
    assert len(together) == 250
    for name in PAPER_DOMAINS:
        alone = dataset(INDEX.load(f"kumo_easy_{name}"))
        assert len(alone) == 50
        assert [doc.fields for doc in alone] == [together.by_id(doc.id).fields for doc in alone]


@pytest.mark.parametrize("name", ["kumo", "kumo_counterfactual", "kumo_multi_truth", "kumo_probabilistic"])
def test_every_doc_of_the_variants_is_a_sound_game_with_its_book(name: str) -> None:
    docs = list(dataset(INDEX.load(name)))
    for doc in docs[:: max(1, len(docs) // 40)]:
        game = Instance.from_doc(doc.fields)
        game.check()
        assert book_faults(game.book, game) == []


def test_the_open_task_takes_the_sizes_of_whoever_includes_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "include: kumo/kumo\n"
        "task: mine\n"
        "dataset:\n"
        "  generator: {kumo: {domains: [music, education], truths: 5, actions: 7, valid: 2, count: 3, seed: 9}}\n"
    )
    docs = list(dataset(INDEX.load(str(file))))
    assert [doc.id for doc in docs] == [f"{name}-5x7-{n}" for name in ("music", "education") for n in range(3)]
    assert all(len(doc.fields["valid_truths"]) == 2 for doc in docs)


@pytest.mark.parametrize("name", ["kumo_easy", "kumo_counterfactual", "kumo_multi_truth"])
def test_floor_and_ceiling(name: str, tmp_path: Path) -> None:
    """Optimal play is always right and needs no more than itself; random but consistent play does worse."""
    options = RunOptions(limit="20", repeats=1, offline=True, output=tmp_path / "ceiling")
    ceiling = run([name], "baseline/ceiling", options).metrics(name)
    assert (ceiling["success_rate"]["value"], ceiling["relative_action_count"]["value"]) == (1, 0)
    options = RunOptions(limit="20", repeats=3, offline=True, output=tmp_path / "floor")
    floor = run([name], "baseline/floor", options).metrics(name)
    assert 0 < floor["success_rate"]["value"] < 1
    assert floor["parse_error_rate"]["value"] == 0
    assert floor["relative_action_count"]["value"] > 0


def turn(doc: Mapping[str, Any], said: list[str], seed: int = 0) -> Turn:
    messages = [Message("user", "...")]
    for text in said:
        messages += [Message("assistant", text), Message("user", "...")]
    key = SampleKey("kumo_easy", doc["id"], "default", 0)
    return Turn(doc, Condition(), messages, key, len(said), random.Random(seed), None)  # type: ignore[arg-type]


def test_players_go_by_what_was_observed() -> None:
    for doc in KumoDocs("medical", count=8, seed=4).docs():
        for player in (OptimalPlay(), RandomConsistent()):
            game = Instance.from_doc(doc.fields)
            said: list[str] = []
            names: list[str] = []
            while not names or names[-1] not in game.truths:
                left = game.left(names)
                said.append(player.reply(turn(doc.fields, said, seed=len(said))))
                names.append(said[-1].removeprefix("<ANSWER> ").removesuffix(" </ANSWER>"))
                assert names[-1] in left or names[-1] in game.action_names
                assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"domains": "medicine"}, UsageError, "Did you mean"),
        ({"domains": "nowhere.yaml"}, DataError, "nowhere.yaml"),
        ({"domains": "medical", "truths": 500}, UsageError, "500 truths, but the domain has"),
        ({"domains": ["medical", "medical"]}, UsageError, "medical occurs twice"),
        ({"domains": []}, UsageError, "no domain"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        list(KumoDocs(**{"count": 1, **parameters}).docs())
