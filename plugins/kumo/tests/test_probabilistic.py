"""Games of uncertain results: calibrated, told by the book, refused where they do not belong."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from kumo_games import EASY, games, make_domain
from support.chat_server import Answer, ChatServer, Received

from creval import RunOptions, run
from creval.cli.main import invoke
from creval.errors import DataError, UsageError
from creval.types.components import Score, ScorerInput
from creval.types.sample import Condition, SampleKey
from creval_kumo.analysis.plays import read_plays
from creval_kumo.domains import PAPER_DOMAINS, load_domain
from creval_kumo.games.belief import expected_success, most_probable, posterior
from creval_kumo.games.generation import Settings, generate
from creval_kumo.games.instance import Instance
from creval_kumo.games.stream import Stream
from creval_kumo.search.golden import OptimalPlayer, golden_of, golden_run
from creval_kumo.task.belief_scoring import KumoBelief
from creval_kumo.task.datasets import KumoDocs

CHANCE = replace(EASY, reliability=0.7)
TASK = "kumo_probabilistic"


@cache
def many() -> tuple[Instance, ...]:
    """A thousand games in the paper's five domains."""
    return tuple(game for name in PAPER_DOMAINS for game in games(name, CHANCE, 200, seed=5))


def misfit(claims: Sequence[tuple[Fraction, bool]]) -> float:
    """How far the share that came true lies from the mean claim, in standard errors of a sum of independent coins."""
    expected = float(sum(claim for claim, _ in claims))
    variance = float(sum(claim * (1 - claim) for claim, _ in claims))
    return abs(sum(true for _, true in claims) - expected) / variance**0.5


def ceiling_claims(played: Sequence[Instance]) -> list[tuple[Fraction, bool]]:
    """What the ceiling names with full evidence: its posterior, and whether it is the valid truth."""
    claims = []
    for game in played:
        beliefs = posterior(game, game.action_names)
        named = most_probable(beliefs)[0]
        claims.append((beliefs[named], named in game.valid_truths))
    return claims


def test_the_ceiling_is_right_as_often_as_its_posteriors_say() -> None:
    """Within 3.3 standard errors: a calibrated set would fail once in a thousand."""
    assert misfit(ceiling_claims(many())) < 3.3


@pytest.mark.parametrize(("low", "high"), [(0, 0.02), (0.02, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, 0.8), (0.8, 1)])
def test_probabilities_of_every_size_come_true(low: float, high: float) -> None:
    """All four truths of each game after the first three actions, by size of their posterior."""
    claims = [
        (belief, truth in game.valid_truths)
        for game in many()
        for truth, belief in posterior(game, game.action_names[:3]).items()
        if low <= belief < high
    ]
    assert len(claims) > 30
    assert misfit(claims) < 3.5


def test_games_that_were_drawn_otherwise_are_found_out() -> None:
    """The bound is no empty one: another reliability, or observations that single their truth out, break it by far."""
    assert misfit(ceiling_claims([replace(game, reliability=0.95) for game in many()[::2]])) > 5
    sought = [replace(game, reliability=0.7) for name in PAPER_DOMAINS for game in games(name, EASY, 100, seed=5)]
    assert misfit(ceiling_claims(sought)) > 5


def test_what_a_player_names_is_right_as_often_as_its_posterior_says() -> None:
    """For a player without any reason, too, which is why the mean of `posterior` is next to the success rate."""
    claims = []
    for game in many():
        stream = Stream("player", game.domain, game.seed)
        taken = stream.sample(game.action_names, stream.below(7))
        named = stream.choice(game.truths)
        claims.append((posterior(game, taken)[named], named in game.valid_truths))
    assert misfit(claims) < 3.3


def test_the_valid_truth_is_drawn_afresh() -> None:
    """Uniform over the places of the list (chi-square with 3 degrees below 16.3), whatever the solver singled out."""
    counts = [0, 0, 0, 0]
    for game in many():
        counts[game.truths.index(game.valid_truths[0])] += 1
    assert sum((count - 250) ** 2 / 250 for count in counts) < 16.3
    same = sum(
        game.valid_truths == sought.valid_truths
        for name in PAPER_DOMAINS
        for game, sought in zip(games(name, CHANCE, 20, seed=5), games(name, EASY, 20, seed=5), strict=True)
    )
    assert 10 <= same <= 42  # a quarter of a hundred, within 4 standard errors


def test_truths_and_actions_are_those_of_certain_games_and_never_the_same_twice() -> None:
    for name in PAPER_DOMAINS:
        certain, chance = games(name, EASY, 20, seed=5), games(name, CHANCE, 200, seed=5)
        for one, other in zip(certain, chance[:20], strict=True):
            assert (one.truths, one.actions) == (other.truths, other.actions)
        assert len({(frozenset(game.truths), frozenset(game.action_names)) for game in chance}) == 200
        assert [game.seed for game in chance] == list(range(200))


def test_reliability_one_is_todays_game() -> None:
    plain = list(KumoDocs("music", count=4, seed=3).docs())
    assert [doc.fields for doc in KumoDocs("music", count=4, seed=3, reliability=1).docs()] == [
        doc.fields for doc in plain
    ]
    assert all("reliability" not in doc.fields and "chance" not in doc.fields["book"] for doc in plain)
    game = Instance.from_doc(plain[0].fields)
    assert game.reliability == 1 and replace(game, reliability=0.8).digest() != game.digest()


def test_a_game_survives_json() -> None:
    for game in many()[:20]:
        again = Instance.from_doc(json.loads(json.dumps(game.to_doc())))
        assert again == game and again.digest() == game.digest() and again.reliability == 0.7


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(4, 6, 1, 0), "the reliability 0 is not a number above 0 and up to 1"),
        (Settings(4, 6, 1, 1.5), "the reliability 1.5 is not a number above 0 and up to 1"),
        (Settings(4, 6, 1, float("nan")), "the reliability nan is not a number"),
        (Settings(4, 6, 1, 0.33333), "more than 4 decimals"),
        (Settings(4, 6, 2, 0.8), "2 valid truths with a reliability below 1: there one truth is valid"),
    ],
)
def test_impossible_settings_are_refused_at_once(settings: Settings, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        next(generate(load_domain("medical"), settings, 0))


def test_a_domain_in_which_the_rule_says_nothing_is_refused() -> None:
    domain = make_domain([[{0}, {0, 1}], [{1}, {2}]], 3)
    with pytest.raises(UsageError, match="every outcome of 'A0' rules out 'T0', and the reliability is below 1"):
        next(generate(domain, Settings(3, 2, 1, 0.8), 0))


# --- optimal play, analyses, commands ---------------------------------------------------------------------------------


def test_optimal_play_is_not_defined() -> None:
    game = many()[0]
    for ask in (OptimalPlayer, golden_of, lambda game: golden_run(game.to_doc())):
        with pytest.raises(UsageError, match=r"optimal play .* is not defined") as caught:
            ask(game)
        assert TASK in str(caught.value.fix)


@pytest.fixture
def say(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[str], tuple[int, str]]:
    """Run `creval ...` in a folder of its own; return (exit code, messages)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")

    def run(words: str) -> tuple[int, str]:
        code = invoke(shlex.split(words))
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("kumo generate --reliability 0", "the reliability 0.0 is not a number above 0"),
        ("kumo generate --reliability 1.5", "the reliability 1.5 is not a number above 0"),
        ("kumo generate --reliability 0.8 --valid 2", "2 valid truths with a reliability below 1"),
        ("kumo generate --reliability much", "not a number"),
        ("kumo trajectories --reliability 0.8 --workers 1", "optimal play in the sense of Algorithm 3"),
        (f"analyse kumo-optimal --task {TASK}", "optimal play in the sense of Algorithm 3"),
    ],
)
def test_wrong_requests_are_one_message(say: Callable[[str], tuple[int, str]], words: str, said: str) -> None:
    code, err = say(words)
    assert code == 2 and said in err and "Traceback" not in err


def test_analyses_of_a_mixed_run_are_of_its_certain_games(
    say: Callable[[str], tuple[int, str]], tmp_path: Path
) -> None:
    assert say(f"--tasks {TASK},kumo_easy --model baseline/ceiling --limit 3 --repeats 1 --output run")[0] == 0
    plays = list(read_plays([str(tmp_path / "run")]))
    assert len(plays) == 3 and all(play.game.startswith("kumo_easy") for play in plays)


def test_generated_games_are_played_by_the_task_for_them_and_by_no_other(
    say: Callable[[str], tuple[int, str]], tmp_path: Path
) -> None:
    code, err = say("kumo generate --domain fantasy --count 4 --reliability 0.8 -o g.jsonl")
    assert code == 0 and f"creval --tasks {TASK} --data {TASK}=g.jsonl" in err
    assert say("kumo book g.jsonl --check")[0] == 0
    assert say(f"--tasks {TASK} --data {TASK}=g.jsonl --model baseline/ceiling --repeats 1 --output run")[0] == 0
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    values = {metric["name"]: metric["value"] for metric in results["tasks"][0]["metrics"]}
    assert (values["most_probable_rate"], values["tests"]) == (1, 6)
    for analysis in ("optimal", "structure", "errors", "earnings"):
        code, err = say(f"analyse kumo-{analysis} run")
        assert code == 2 and "the paper's analyses, which are of games that do, cannot be made of it" in err, analysis
    with ChatServer([]) as server:
        base = f"--model openai/x --base-url {server.url} --repeats 1"
        code, err = say(f"--tasks kumo --data kumo=g.jsonl {base} --output other")
        assert code == 2 and "results of this game are not certain (reliability 0.8)" in err and TASK in err
        say("kumo generate --domain fantasy --count 2 -o certain.jsonl")
        code, err = say(f"--tasks {TASK} --data {TASK}=certain.jsonl {base} --output third")
        assert code == 2 and "no doc has the field 'reliability'" in err
        assert server.requests == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reliability": 1.5}, "the reliability 1.5 is not a number above 0 and up to 1"),
        ({"reliability": "0.8"}, "the reliability '0.8' is not a number above 0 and up to 1"),
        ({"valid_truths": []}, "exactly one of the truths must be valid"),
    ],
)
def test_a_faulty_game_of_a_file_is_not_played(
    say: Callable[[str], tuple[int, str]], tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    row = next(iter(KumoDocs("medical", count=1, reliability=0.8).docs())).fields
    (tmp_path / "g.jsonl").write_text(json.dumps({**row, **change}) + "\n")
    with ChatServer([]) as server:
        model = f"--model openai/x --base-url {server.url} --repeats 1"
        code, err = say(f"--tasks {TASK} --data {TASK}=g.jsonl {model} --output run")
        assert code != 0 and said in err and "Traceback" not in err
        assert server.requests == []


def test_sizes_and_reliability_are_open_to_whoever_includes_the_task(
    say: Callable[[str], tuple[int, str]], tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    text = (
        "include: kumo/{}\ntask: mine\ndataset:\n"
        "  generator: {{kumo: {{domains: music, truths: 5, actions: 7, count: 2, seed: 9, reliability: {}}}}}\n"
    )
    file.write_text(text.format(TASK, 0.65))
    assert say("--tasks mine.yaml --model baseline/ceiling --repeats 1 --output run")[0] == 0
    file.write_text(text.format("kumo", 0.65))
    code, err = say("--tasks mine.yaml --model baseline/ceiling --repeats 1 --output other")
    assert code == 2 and "reliability 0.65" in err and TASK in err
    for wrong in ("0", "1.2", "often"):
        file.write_text(text.format(TASK, wrong))
        code, err = say("--tasks mine.yaml --model baseline/ceiling --repeats 1 --output other")
        assert code == 2 and "reliability" in err


# --- the task ---------------------------------------------------------------------------------------------------------


def test_floor_and_ceiling(tmp_path: Path) -> None:
    """The ceiling is sound in every game and right in some; the floor does not look at what it sees."""
    made = {}
    for which, limit in (("ceiling", "25"), ("floor", "60")):
        options = RunOptions(limit=limit, repeats=1, offline=True, output=tmp_path / which)
        made[which] = {
            name: one["value"] for name, one in run([TASK], f"baseline/{which}", options).metrics(TASK).items()
        }
    assert set(made["ceiling"]) == {
        "success_rate", "most_probable_rate", "posterior", "attainable_success", "tests", "parse_error_rate",
    }  # fmt: skip
    assert (made["ceiling"]["most_probable_rate"], made["ceiling"]["tests"]) == (1, 10)
    assert made["ceiling"]["posterior"] == pytest.approx(made["ceiling"]["attainable_success"])
    assert 0.6 < made["ceiling"]["success_rate"] < 1
    assert abs(made["floor"]["success_rate"] - 0.25) < 4 * (0.25 * 0.75 / 60) ** 0.5
    assert made["floor"]["most_probable_rate"] < 0.8 and made["floor"]["parse_error_rate"] == 0


def test_the_task_is_worth_playing() -> None:
    """Before anything is seen the best player wins about five games of six; a guess wins one of four."""
    drawn = [
        Instance.from_doc(doc.fields) for doc in KumoDocs("fantasy", 4, 10, count=3, seed=1, reliability=0.8).docs()
    ]
    for game in drawn:
        assert 0.6 < expected_success(game) < 0.95


def bayesian_player(request: Received) -> Answer:
    """Plays from the prompts alone: reads rule, book and results as a model would, and reckons in floats."""
    messages = request.body["messages"]
    system = messages[0]["content"]
    truths = json.loads(re.search(r"^Possible .*?: (\[.*\])$", system, re.MULTILINE)[1])  # type: ignore[index]
    actions = json.loads(re.search(r"^Available .*?: (\[.*\])$", system, re.MULTILINE)[1])  # type: ignore[index]
    reported = float(re.search(r"With a probability of ([\d.]+)% it was drawn", system)[1]) / 100  # type: ignore[index]
    seen = [json.loads(m[1]) for one in messages[2:] if (m := re.search(r"action: (\{.*?\})$", one["content"], re.M))]
    weights = dict.fromkeys(truths, 1.0)
    for result in seen:
        section = system.split(f"### {result['action']}\n")[1].split("\n###")[0]
        items = [line.rsplit(": ", 1) for line in re.findall(r"^- If the result is (.*)$", section, re.MULTILINE)]
        hit = next(place for place, (shown, _) in enumerate(items) if matches(shown, result["observation"]))
        for truth in truths:
            spared = [place for place, (_, effect) in enumerate(items) if truth not in effect]
            weights[truth] *= reported * (hit in spared) / len(spared) + (1 - reported) / len(items)
    rest = [action for action in actions if action not in [result["action"] for result in seen]]
    name = rest[0] if rest else max(truths, key=lambda truth: weights[truth])
    return Answer(f"I reckon.\n<ANSWER> {name} </ANSWER>")


def matches(shown: str, value: object) -> bool:
    if isinstance(value, str):
        return shown == f'"{value}"'
    low, high = (float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", shown)[:2])
    return isinstance(value, float) and low <= value <= high


def test_the_prompts_alone_tell_all_that_the_posterior_needs(tmp_path: Path) -> None:
    with ChatServer(bayesian_player) as server:
        options = RunOptions(base_url=server.url, output=tmp_path / "run", repeats=1, limit="8")
        metrics = run([TASK], "openai/test", options).metrics(TASK)
    assert metrics["most_probable_rate"]["value"] == 1
    assert metrics["posterior"]["value"] == pytest.approx(metrics["attainable_success"]["value"])
    assert metrics["parse_error_rate"]["value"] == 0


def test_the_prompts_claim_no_certainty(tmp_path: Path) -> None:
    doc = next(iter(KumoDocs("medical", 4, 10, count=1, seed=1, reliability=0.8).docs())).fields
    shown: list[str] = []

    def listen(request: Received) -> Answer:
        shown.extend(message["content"] for message in request.body["messages"])
        return Answer(f"<ANSWER> {doc['truths'][0]} </ANSWER>")

    with ChatServer(listen) as server:
        run([TASK], "openai/test", RunOptions(base_url=server.url, repeats=1, limit="first:1", output=tmp_path / "run"))
    text = "\n".join(shown)
    assert "reliability is 0.8" in text and "speaks against" in text
    assert re.findall(r"rules? out|until you know|eliminat\w+", text) == []
    assert re.findall(r"exclude\w*[^.]*", text) == ["excludes none of them", "excludes none"]


def scored(game: Instance, outcome: Mapping[str, Any]) -> Score:
    item = ScorerInput(SampleKey(TASK, "doc", "default", 0), game.to_doc(), Condition(), (), (), outcome)
    return KumoBelief().score([item], None)[0]  # type: ignore[arg-type]


def test_a_score_shows_the_whole_posterior() -> None:
    game = many()[0]
    outcome: Mapping[str, Any] = {"tests": [game.action_names[0]] * 2, "prediction": game.truths[1], "end": "predicted"}
    score = scored(game, outcome)
    beliefs = posterior(game, game.action_names[:1])
    assert score.details is not None
    assert score.details["posterior"] == {truth: float(belief) for truth, belief in beliefs.items()}
    assert (score.scores["tests"], score.scores["posterior"]) == (2, float(beliefs[game.truths[1]]))
    silent = scored(game, {"tests": [], "prediction": None, "end": "unparsed"})
    assert "posterior" not in silent.scores
    assert (silent.scores["most_probable_rate"], silent.scores["success_rate"], silent.scores["parse_error_rate"]) == (
        0,
        0,
        1,
    )
    with pytest.raises(UsageError, match="results of this game are certain"):
        scored(games("medical", EASY, 1)[0], outcome)


def test_generation_stops_with_its_set() -> None:
    """Three truths and one action: there is one such game, since a second would only show something else."""
    domain = make_domain([[{0, 1}, {0, 2}, {1, 2}]], 3)
    made = generate(domain, Settings(3, 1, 1, 0.8), 0)
    assert len(list(itertools.islice(made, 1))) == 1
    with pytest.raises(DataError, match=r"after 1: \d+ times the game was an earlier one of the set"):
        next(made)
