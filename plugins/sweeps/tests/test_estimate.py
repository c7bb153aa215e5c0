"""The dry run: calls, tokens and price to expect, and what is missing, without a call."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
from support.judged import HOOKS, write_judged
from support.judged import PARTS as JUDGED
from support.run_fixtures import own_environment

from creval.errors import UsageError
from creval.plugins.loader import load_plugins
from creval_litellm.price_table import PriceTable
from creval_sweeps.estimate import EstimateRange, estimate_run
from creval_sweeps.estimate_table import show_estimate

__all__ = ["own_environment"]

PARTS = """
    from creval.errors import MissingPartError

    def Far(model, options):
        raise MissingPartError("the weights are not here", where=model, fix="run it online", fetched=options.offline)

    def Absent(model, options):
        raise MissingPartError("the weights are absent", fix="pip install weights")

    class Near:
        def score(self, items, context):
            return []

    class Rounds:
        def expected_calls(self, fields):
            return 3, 2 + len(fields["word"])
"""
PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("embedding", "far", "creval_lack_parts:Far")
        registry.add("embedding", "absent", "creval_lack_parts:Absent")
        registry.add("scorer", "near", "creval_lack_parts:Near", produces=("exact_match",), uses=("embedding",))
        registry.add("protocol", "rounds", "creval_lack_parts:Rounds", prompts=("prompt",))
"""


def estimated(task, model, options):
    (found,) = estimate_run([task], model, options).tasks
    return found


def changed(tmp_path, old, new):
    path = tmp_path / "parrot.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_calls_tokens_and_price_are_of_one_rule(make_task, options, monkeypatch):
    """80 samples of 9 to 10 bytes and at most 16 tokens; the price is the table's for the tokens that are shown."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    task = make_task(docs=40, repeats=2)
    found = estimated(task, "openai/gpt-4o-mini", options())
    assert (found.task, found.samples, found.calls) == ("parrot", 80, (80, 80))
    assert found.output_tokens == (80, 80 * 16)
    assert found.input_tokens == (2 * (10 * (9 // 5 + 1) + 30 * (10 // 5 + 1)), 80 * (10 // 3 + 1))
    price = PriceTable().find("openai", "gpt-4o-mini")
    assert price is not None
    for index in (0, 1):
        tokens = found.input_tokens[index] * price.input + found.output_tokens[index] * price.output
        assert found.price[index] == pytest.approx(tokens)
    short = estimated(task, "openai/gpt-4o-mini", options(generation={"max_tokens": 4}, limit=10))
    assert (short.samples, short.output_tokens) == (20, (20, 80))


def test_without_a_limit_the_upper_figure_is_not_known(make_task, options):
    found = estimated(make_task(docs=4), "openai/gpt-4o-mini", options(generation={"max_tokens": None}))
    assert found.output_tokens == (4, None)
    assert found.input_tokens.high is not None
    assert found.price.low > 0 and found.price.high is None


def test_turns_are_the_protocol_s_own_and_carry_the_answers_before_them(make_task, options, install, tmp_path):
    install("lack", PLUGIN, PARTS)
    task = make_task(docs=4)
    changed(tmp_path, "score: exact_match", "protocol: rounds\nscore: exact_match")
    found = estimated(task, "openai/gpt-4o-mini", options())
    assert found.calls == (12, 4 * 7)
    assert found.output_tokens == (12, 4 * 7 * 16)
    assert found.input_tokens.high == 4 * (7 * (9 // 3 + 1) + 16 * 7 * 6 // 2)


def test_hard_games_are_longer_than_easy_ones(options, monkeypatch):
    monkeypatch.delenv("CREVAL_PLUGINS")
    small = options(limit=2, repeats=1)
    easy, hard = (estimated(task, "openai/gpt-4o-mini", small) for task in ("kumo_easy", "kumo_hard"))
    assert easy.calls == (2 * 3, 2 * 7)
    assert hard.calls == (2 * 5, 2 * 17)
    assert hard.price.high is None  # games set no limit of an answer


def test_a_total_is_below_several_tasks(make_task, options):
    found = estimate_run([make_task("one", docs=4), make_task("two", docs=8)], "openai/gpt-4o-mini", options())
    assert (found.total.samples, found.total.calls) == (12, (12, 12))
    for column in range(2, 6):
        assert found.total[column] == found.tasks[0][column] + found.tasks[1][column]
    assert EstimateRange(1, None) + EstimateRange(2, 3) == (3, None)


def test_docs_of_the_whole_set_are_looked_at(make_task, options, tmp_path):
    """A long doc at the end counts, be it the hundredth."""
    task = make_task(docs=100)
    lines = (tmp_path / "parrot.jsonl").read_text().splitlines()
    rows = [line.replace("word9", "w" * 3000) if index >= 90 else line for index, line in enumerate(lines)]
    (tmp_path / "parrot.jsonl").write_text("\n".join(rows))
    assert estimated(task, "openai/gpt-4o-mini", options()).input_tokens.high > 10 * 900


def test_on_this_machine_it_is_free_and_elsewhere_a_price_may_be_unknown(make_task, server, options, monkeypatch):
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "none-0123456789")
    here = estimated(make_task(), "hosted_vllm/parrot", options(base_url=server.url))
    assert (here.calls, here.price) == ((8, 8), (0, 0))
    there = estimated(make_task(), "hosted_vllm/parrot", options(base_url="https://models.invalid/v1"))
    assert (there.calls, there.price) == ((8, 8), (None, None))
    assert server.requests == []
    assert not options().output.exists()


def test_a_missing_key_is_reported_and_changes_no_figure(make_task, options, monkeypatch):
    without = estimate_run([make_task()], "openai/gpt-4o-mini", options())
    assert "OPENAI_API_KEY" in without.missing[0]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    given = estimate_run([make_task()], "openai/gpt-4o-mini", options())
    assert (given.missing, given.tasks) == ([], without.tasks)
    assert given.tasks[0].price.low > 0
    monkeypatch.delenv("OPENAI_API_KEY")
    own = options(base_url="https://models.invalid/v1")
    assert estimated(make_task(), "openai/gpt-4o-mini", own).price == (None, None)


def test_missing_encoders_are_reported_and_what_will_be_fetched_is_no_fault(make_task, options, install, tmp_path):
    install("lack", PLUGIN, PARTS)
    task = make_task(extra="resources: {embedding: absent/x}\n")
    changed(tmp_path, "score: exact_match", "score: near")
    found = estimate_run([task], "ollama_chat/x", options())
    assert [words for words in found.missing if "absent" in words] == [
        "embedding of parrot: the weights are absent\npip install weights"
    ]
    far = estimate_run([task], "ollama_chat/x", options(resources={"embedding": "far/mpnet"}))
    assert (far.missing, far.notes) == ([], ["mpnet: fetched by the first run that uses it."])
    offline = estimate_run([task], "ollama_chat/x", options(resources={"embedding": "far/mpnet"}, offline=True))
    assert "the weights are not here" in offline.missing[-1]


def test_tasks_and_model_are_needed(options):
    with pytest.raises(UsageError):
        estimate_run([], "openai/x", options())


def test_roles_have_rows_of_their_own(install, tmp_path, options, monkeypatch):
    """Two to four verdicts a sample; at least the shorter prompt, at most eight tokens each."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    install("judged", HOOKS, JUDGED)
    task = write_judged(tmp_path, docs=10)
    given = options(roles={"judge": "openai/gpt-4o"})
    target, judge = estimate_run([task], "openai/gpt-4o-mini", given).tasks
    assert (target.task, target.calls) == ("judged", (10, 10))
    assert (judge.task, judge.samples, judge.calls, judge.output_tokens) == ("judged: judge", 10, (20, 40), (20, 320))
    assert judge.input_tokens.low == 20 * (len("Kind of {{ answer }}") // 5 + 1)
    assert judge.input_tokens.high is None  # the task sets no limit to what is to be judged
    price = PriceTable().find("openai", "gpt-4o")
    assert judge.price.low == pytest.approx(judge.input_tokens.low * price.input + 20 * price.output)
    limited = options(roles={"judge": "openai/gpt-4o"}, generation={"max_tokens": 16})
    assert estimate_run([task], "openai/gpt-4o-mini", limited).tasks[1].price.high > judge.price.low
    (wrong,) = estimate_run([task], "openai/gpt-4o-mini", options(roles={"judge": "baseline/"})).missing
    assert wrong.startswith("judge of judged: ") and "'baseline/' is not a model" in wrong and "--model" not in wrong


def test_a_role_behind_a_resource_has_figures_too(options, monkeypatch):
    """Ten candidates in one to two steps, in both directions of each pair at most; a verdict is asked for twice."""
    monkeypatch.delenv("CREVAL_PLUGINS")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    given = options(limit=2, repeats=1, roles={"judge": "openai/gpt-4o"}, generation={"max_tokens": 100})
    given = replace(given, resources={"entailment": "role/judge"})
    found = estimate_run(["macgyver_own"], "openai/gpt-4o-mini", given)
    target, judge = found.tasks
    assert (target.samples, judge.samples, found.total.samples) == (2, 2, 2)
    assert target.calls == (2 * (1 + 2), 2 * (1 + 10))
    assert judge.task == "macgyver_own: judge"
    assert judge.calls == (2 * 2 * 18, 2 * 10 * 90 * 2)
    assert judge.input_tokens.low > 18 * 50 and judge.input_tokens.high > judge.input_tokens.low
    assert judge.output_tokens == (2 * 2 * 18, None)  # nothing limits what the judge may say
    assert not [note for note in found.notes if "are additional" in note]


def test_calls_that_the_answers_alone_decide_are_not_known(install, tmp_path, options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    install("judged", HOOKS, JUDGED.replace('"judge": (2, 4)', '"judge": (0, None)'))
    task = write_judged(tmp_path, docs=10)
    _, judge = estimate_run([task], "openai/gpt-4o-mini", options(roles={"judge": "openai/gpt-4o"})).tasks
    assert (judge.calls, judge.output_tokens, judge.price) == ((0, None), (0, None), (0, None))


def test_every_component_says_what_it_expects_in_the_same_way(monkeypatch):
    monkeypatch.delenv("CREVAL_PLUGINS")
    registry = load_plugins().registry
    parts = [registry.get(kind, name) for kind in ("scorer", "protocol") for name in registry.names(kind)]
    stating = {"expected_calls": ["self", "fields"]}
    stating |= {name: ["self", "fields", "expected"] for name in ("expected_role_calls", "expected_pairs")}
    said = [
        (part.name, name, list(inspect.signature(method).parameters), parameters)
        for part in parts
        for name, parameters in stating.items()
        if (method := getattr(part.load(), name, None)) is not None
    ]
    assert len(said) > 8
    assert [each for each in said if each[2] != each[3]] == []


def test_a_provider_without_n_is_called_once_a_completion(make_task, options, install, tmp_path):
    parts = """
    from creval.models.provider_traits import ProviderTraits

    class One:
        traits = ProviderTraits(honours_n=False, free=True)
        def __init__(self, model, options): pass
    """
    hooks = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("provider", "one", "creval_one_parts:One")
    """
    install("one", hooks, parts)
    task = make_task(docs=4)
    given = options(generation={"n": 10})
    assert estimated(task, "one/x", given).calls == (40, 40)
    assert estimated(task, "hosted_vllm/x", options(generation={"n": 10}, base_url="http://127.0.0.1:1/v1")).calls == (
        4,
        4,
    )


def test_no_price_is_reported_where_it_is_not_known(make_task, server, options, monkeypatch, capsys):
    """A price of at least nothing is none, and one below a cent is not nothing."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "none-0123456789")
    task = make_task(docs=1, repeats=1)
    for model, given, price in (
        ("openai/gpt-4o-mini", options(), "<0.01"),
        ("hosted_vllm/x", options(base_url="https://models.invalid/v1"), "not known"),
        ("hosted_vllm/x", options(base_url=server.url), "0.00"),
    ):
        assert show_estimate([task], [(model, given)]) == 0
        (row,) = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["parrot"]]
        assert row.rstrip().endswith(f" {price}")


def test_a_role_whose_calls_nothing_says_makes_the_total_unknown(install, tmp_path, options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-0123456789")
    install("judged", HOOKS, JUDGED.replace("def expected_role_calls", "def not_said"))
    task = write_judged(tmp_path, docs=10)
    (tmp_path / "said.jsonl").write_text("")
    found = estimate_run([task], f"replay/{tmp_path / 'said.jsonl'}", options(roles={"judge": "openai/gpt-4o"}))
    assert found.total.price == (0, None) and found.total.calls == (10, None)
