"""What can be known to go wrong is refused before a call is made and before a run folder stands."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

import creval
from creval.data.data_options import DataOptions
from creval.engine.roles.role_models import RoleModels
from creval.errors import MissingPartError, RunError, TaskError, UnknownNameError, UsageError
from creval.models.model import Model
from creval.models.model_options import ModelOptions
from creval.plugins.loader import load_plugins
from creval.runs.folder import RunFolder
from creval_testing.check_tasks import check_all

MODEL = "hosted_vllm/parrot"


def refuse(server, options, tasks, error, match, model=MODEL, **changes):
    given = options(base_url=server.url, **changes)
    with pytest.raises(error, match=match) as caught:
        creval.run(tasks, model, given)
    assert server.requests == []
    assert not given.output.exists()
    return caught.value


def test_a_template_field_that_the_data_lack(make_task, server, options, tmp_path):
    task = make_task()
    text = (tmp_path / "parrot.yaml").read_text("utf-8").replace("{{ word }}", "{{ wrod }}")
    (tmp_path / "parrot.yaml").write_text(text, "utf-8")
    found = refuse(server, options, [task], TaskError, "no doc has the field 'wrod'")
    assert "word" in str(found)


def test_too_few_repeats_for_pass_at_k(make_task, server, options):
    task = make_task(extra="  - {name: p5, from: exact_match, aggregate: {pass@k: 5}, failed: zero}\n")
    refuse(server, options, [task], UsageError, "needs 5 repeats")
    creval.run([task], MODEL, options(base_url=server.url, repeats=5))


def test_a_model_that_cannot_continue_a_text(make_task, server, options, tmp_path):
    task = make_task()
    with (tmp_path / "parrot.yaml").open("a", encoding="utf-8") as file:
        file.write("requires: [continues]\n")
    refuse(server, options, [task], UsageError, "cannot continue a given text", model="chat/parrot")
    creval.run([task], MODEL, options(base_url=server.url))


def test_a_setting_that_no_condition_can_vary(make_task, server, options):
    refuse(
        server, options, [make_task()], UnknownNameError, "unknown setting 'temprature'", conditions={"temprature": [1]}
    )
    refuse(
        server, options, [make_task()], UsageError, "temperature must be at most", conditions={"temperature": [9999]}
    )


def test_a_grid_without_end(make_task, server, options):
    many = {"seed": list(range(200)), "top_k": list(range(1, 200))}
    refuse(server, options, [make_task()], UsageError, "39,800 cells", conditions=many)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"limit": "some"}, "is not a limit"),
        ({"limit": 0}, r"is not a limit\n.*of at least 1, "),
        ({"limit": "9" * 5000}, "is not a limit"),
        ({"timeout": 0}, "is not a valid timeout"),
        ({"timeout": float("nan")}, "is not a valid timeout"),
        ({"generation": {"temperature": float("nan")}}, "cannot be sent"),
        ({"generation": {"seed": date(2026, 1, 1)}}, "cannot be sent"),
        ({"seed": -1}, "-1 is not a seed"),
        ({"output": Path("a\nb")}, r"contains the control character \\n"),
        ({"output": Path("a\x1b[2J")}, r"contains the control character \\x1b"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"repeats": 10**12}, "too many"),
        ({"generation": {"extra": 1}}, "must be a mapping"),
        ({"generation": {"extra": {"n": 2}, "n": 1}}, "set twice"),
        ({"conditions": {"temperature": []}}, "needs a list of values"),
        ({"conditions": {"temperature": "hot"}}, "needs a list of values"),
        ({"conditions": {"temperature": [1, 1]}}, "occurs twice"),
        ({"conditions": {"temperature": [1]}, "generation": {"temperature": 0}}, "is set by --generation, too"),
        ({"concurrency": 0}, "concurrency"),
        ({"allowed_error_share": 2}, "between 0 and 1"),
    ],
)
def test_wrong_options(options, changes, match):
    with pytest.raises(UsageError, match=match):
        options(**changes)


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"resources": {"embeding": "embedded/minilm"}}, UnknownNameError, "unknown resource 'embeding'"),
        ({"data": {"parot": "x.jsonl"}}, UnknownNameError, "unknown task 'parot'"),
        ({"max_cost": -1}, UsageError, "not an amount"),
        ({"roles": {"jugde": "openai/x"}}, UnknownNameError, "unknown role 'jugde'"),
        ({"roles": {"target": "openai/x"}}, UsageError, "the target is not a role"),
        ({"generation": {"temperature": "hot"}}, UsageError, "temperature must be a number"),
        ({"generation": {"temperature": 5000}}, UsageError, "temperature must be at most 10"),
        ({"generation": {"n": 0}}, UsageError, "n must be at least 1"),
        ({"generation": {"extra": {"top_p": 7}}}, UsageError, "top_p must be at most 1"),
        ({"generation": {"messages": []}}, UsageError, "'messages' is not a generation setting"),
        ({"generation": {"model": "x"}}, UsageError, "'model' is not a generation setting"),
    ],
)
def test_wrong_names(make_task, server, options, changes, error, match):
    refuse(server, options, [make_task()], error, match, **changes)


@pytest.mark.parametrize("model", ["a,b", "openai/a,openai/b", "openai/gpt,mini"])
def test_several_models(make_task, server, options, model):
    refuse(server, options, [make_task()], UsageError, "names several models", model=model)


def test_a_role_s_model_is_named_by_the_role():
    models = RoleModels({"target": "gpt", "judge": "gpt"}, load_plugins().registry, ModelOptions())
    for role, default, where in (
        ("judge", None, "--role judge"),
        ("critic", "gpt", "roles: critic"),
        ("target", None, "--model"),
    ):
        with pytest.raises(UsageError, match="names no provider") as caught:
            models.get(role, default)
        assert caught.value.where == where


def test_a_model_that_the_task_chose_is_named_with_its_role_and_how_to_choose_another(monkeypatch):
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    models = RoleModels({"target": "baseline/floor"}, load_plugins().registry, ModelOptions())
    with pytest.raises(MissingPartError) as caught:
        models.get("judge", "openrouter/a/b")
    assert str(caught.value).splitlines() == [
        "roles: judge: the model 'openrouter/a/b' needs a key, "
        "and the environment variable OPENROUTER_API_KEY is not set",
        "Set it and run again:  export OPENROUTER_API_KEY=<your key>",
        "The task chose openrouter/a/b for the role 'judge'. For another: --role judge=<provider>/<model>",
    ]
    with pytest.raises(MissingPartError, match=r"<your key>$") as caught:
        RoleModels({"judge": "openrouter/a/b"}, load_plugins().registry, ModelOptions()).get("judge", "loud/own")
    assert caught.value.where is None


def test_the_folder_of_a_run_is_no_file(make_task, server, options, tmp_path):
    (tmp_path / "README.md").write_text("x", "utf-8")
    for place in ("README.md", "README.md/run"):
        with pytest.raises(RunError) as caught:
            creval.run([make_task()], MODEL, options(base_url=server.url, output=tmp_path / place))
        assert str(caught.value).splitlines() == [
            f"{tmp_path / 'README.md'}: is a file, and a run needs a folder",
            "Name a new folder, e.g. runs/first, then try again.",
        ]


def test_unknown_task_and_model(make_task, server, options):
    refuse(server, options, ["parot"], UnknownNameError, "unknown task")
    refuse(server, options, [], UsageError, "no task")
    refuse(server, options, [make_task()], UsageError, "no model", model="")


def test_a_run_is_never_overwritten(make_task, server, options):
    task = make_task()
    creval.run([task], MODEL, options(base_url=server.url))
    with pytest.raises(RunError, match="there is already a run"):
        creval.run([task], MODEL, options(base_url=server.url))


def test_settings_under_extra_are_sent_next_to_the_others_and_null_takes_one_away(make_task, server, options):
    given = options(base_url=server.url, generation={"extra": {"top_a": 0.5}, "max_tokens": None})
    creval.run([make_task(docs=1)], MODEL, given)
    (sent,) = server.requests
    assert sent.body["top_a"] == 0.5
    assert not {"extra", "max_tokens"} & sent.body.keys()


def test_a_faulty_parser_parameter_is_named_with_its_line(make_task, server, options):
    task = make_task(extra='parse: [words, {regex: "("}]\n')
    found = refuse(server, options, [task], TaskError, "the parser 'regex' cannot be made")
    (problem,) = found.problems
    lines = Path(task).read_text("utf-8").splitlines()
    assert (str(problem.file), lines[problem.line - 1][:6]) == (task, "parse:")
    problems = check_all([task], load_plugins(), DataOptions(offline=True))
    assert [(p.line, p.message) for p in problems] == [(problem.line, problem.message)]


def test_a_task_without_the_baseline_that_is_to_play_it(make_task, server, options):
    refuse(server, options, [make_task()], UsageError, "has no floor baseline", model="baseline/floor")


def test_a_run_that_began_before_the_lock_was_taken_stays(make_task, server, options, monkeypatch):
    given = options(base_url=server.url)
    make = RunFolder.create

    def overtaken(path):
        folder = make(path)
        folder.manifest.write_text("another's", "utf-8")
        return folder

    monkeypatch.setattr(RunFolder, "create", overtaken)
    with pytest.raises(RunError, match="there is already a run"):
        creval.run([make_task()], MODEL, given)
    assert (given.output / "run.json").read_text("utf-8") == "another's"
    assert server.requests == []


PLUGIN = """
    from creval.plugins import hookimpl

    @hookimpl
    def creval_components(registry):
        registry.add("embedding", "absent", "creval_needy_parts:Absent")
        registry.add("sandbox", "box", "creval_needy_parts:Box")
        registry.add("scorer", "near", "creval_needy_parts:Near", produces=("near",), uses=("embedding",))
        registry.add("scorer", "runs", "creval_needy_parts:Near", produces=("near",), uses=("sandbox",))
        registry.add("scorer", "judged", "creval_needy_parts:Near", produces=("near",), waits=True, roles=("judge",))
        inner = {"type": "object", "properties": {"of": {"x-component": "scorer"}}, "additionalProperties": False}
        registry.add("scorer", "shell", "creval_needy_parts:Shell", produces=("near",), parameters=inner)
"""
PARTS = """
    from creval.errors import MissingPartError

    def Absent(model, options):
        raise MissingPartError("the weights are absent", fix="pip install weights")

    def Box(model, options):
        return object()

    class Near:
        def score(self, items, context):
            raise AssertionError("never reached")

    class Shell(Near):
        def __init__(self, of):
            self.of = of
"""


@pytest.fixture
def needy(install):
    install("needy", PLUGIN, PARTS)


def with_scorer(make_task, tmp_path, scorer, extra=""):
    task = make_task(extra=extra)
    text = (tmp_path / "parrot.yaml").read_text("utf-8")
    text = text.replace("score: exact_match", f"score: {scorer}").replace("from: exact_match", "from: near")
    (tmp_path / "parrot.yaml").write_text(text, "utf-8")
    return task


@pytest.mark.usefixtures("needy")
def test_a_resource_that_is_not_installed(make_task, server, options, tmp_path):
    task = with_scorer(make_task, tmp_path, "near", "resources: {embedding: absent/x}\n")
    refuse(server, options, [task], MissingPartError, "the weights are absent")


@pytest.mark.usefixtures("needy")
def test_a_missing_key_is_reported_before_a_resource_is_opened(make_task, server, options, tmp_path, monkeypatch):
    def refused(model):
        raise MissingPartError("a key is missing")

    monkeypatch.setattr(Model, "check", refused)
    task = with_scorer(make_task, tmp_path, "near", "resources: {embedding: absent/x}\n")
    refuse(server, options, [task], MissingPartError, "a key is missing")


@pytest.mark.usefixtures("needy")
def test_what_a_component_within_another_asks(make_task, server, options, tmp_path):
    task = with_scorer(make_task, tmp_path, "{shell: {of: {shell: {of: judged}}}}")
    refuse(server, options, [task], UsageError, "needs a model in the role 'judge'")
    text = (tmp_path / "parrot.yaml").read_text("utf-8")
    (tmp_path / "parrot.yaml").write_text(text.replace("of: judged", "of: near"), "utf-8")
    refuse(server, options, [task], TaskError, "the scorer 'near' needs the resource 'embedding'")
    text = text.replace("of: judged", "of: runs") + "resources: {sandbox: box}\n"
    (tmp_path / "parrot.yaml").write_text(text, "utf-8")
    refuse(server, options, [task], UsageError, "runs code that the model wrote")


@pytest.mark.usefixtures("needy")
def test_code_runs_only_with_consent(make_task, server, options, tmp_path):
    task = with_scorer(make_task, tmp_path, "runs", "resources: {sandbox: box}\n")
    refuse(server, options, [task], UsageError, "runs code that the model wrote")


@pytest.mark.usefixtures("needy")
def test_a_role_that_nobody_plays(make_task, server, options, tmp_path):
    task = with_scorer(make_task, tmp_path, "judged")
    refuse(server, options, [task], UsageError, "needs a model in the role 'judge'")
    found = refuse(server, options, [task], UnknownNameError, "unknown role", roles={"jugde": "hosted_vllm/x"})
    assert "Did you mean 'judge'?" in str(found)
