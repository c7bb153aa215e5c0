"""The commands as a user types them, in processes of their own where start-up or exit codes matter."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import time
from pathlib import Path

import pytest
from support.chat_server import ChatServer, HttpError
from support.commands import creval, start, write_spelling

from creval.cli.lazy_group import import_command
from creval.cli.main import invoke
from creval.cli.root import cli
from creval.plugins.loader import load_plugins


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small task of twelve docs; the server answers `ok`, which is right for half of them."""
    write_spelling(tmp_path, {f"word{i}": "ok" if i % 2 else f"word{i}" for i in range(12)})
    return tmp_path


def test_version_and_help_name_the_program(folder: Path) -> None:
    assert creval(folder, "--version").stdout.startswith("creval 0.")
    shown = creval(folder, "--help")
    assert shown.returncode == 0
    assert "--tasks" in shown.stdout
    assert "Examples:\n    creval --tasks" in shown.stdout


def test_help_groups_commands_and_keeps_rare_options_for_help_all(folder: Path) -> None:
    shown, everything = creval(folder, "--help").stdout, creval(folder, "--help-all").stdout
    titles = re.findall(r"^([A-Z][a-z ]+):$", shown, re.MULTILINE)
    assert titles == ["Options", "Run", "Inspect", "Compare", "Share", "Build"]
    assert "Maximum concurrent requests." in shown and "Random seed." in shown
    assert "--executor" not in shown and "--rate-limit-wait" not in shown
    missing = {option for param in cli.params for option in param.opts if not re.search(rf"{option}\b", everything)}
    assert not missing
    assert "More options:" in everything and "Where samples run." in everything


COMMANDS = (
    *("ls", "show", "validate", "plugins", "run", "resume", "score", "report", "view", "samples", "sample"),
    *("compare", "gate", "completion", "analyse"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(folder: Path, command: str) -> None:
    shown = creval(folder, command, "--help")
    assert shown.returncode == 0, shown.stderr
    assert f"Example: creval {command}" in shown.stdout


def test_every_command_of_a_plugin_has_an_example_and_every_analysis_a_sentence() -> None:
    loaded = load_plugins()
    waiting = [
        (f"creval {plugin} {name}", import_command(target))
        for plugin, commands in loaded.commands.items()
        for name, target in commands.items()
    ]
    assert len(waiting) >= 3
    for path, command in waiting:
        assert (command.epilog or "").startswith(f"Example: {path}"), path
        waiting += [(f"{path} {name}", inner) for name, inner in getattr(command, "commands", {}).items()]
    for component in loaded.registry.all():
        if component.kind == "analysis":
            assert component.summary[:1].isupper(), component.name
            assert component.summary.endswith((".", "?")), component.name


def test_the_example_of_resume_names_a_folder_as_runs_make_them(folder: Path) -> None:
    creval(folder, "--tasks", "kumo_easy", "--limit", "1", "--repeats", "1", "--model", "baseline/floor")
    made = next((folder / "runs").iterdir()).name
    example = creval(folder, "resume", "--help").stdout.split("creval resume runs/")[1].split()[0]
    form = r"\d{4}-\d\d-\d\dT\d{6}\+\d{4}-[a-z]+_[\w.-]+"
    assert re.fullmatch(form, made) and re.fullmatch(form, example)


def test_ls_lists_the_tasks_with_plugin_version_and_source(folder: Path) -> None:
    listed = json.loads(creval(folder, "ls", "--json").stdout)
    by_name = {item["name"]: item for item in listed}
    assert {"drat", "kumo_easy"} <= set(by_name)
    assert by_name["drat"]["plugin"] == "association"
    assert by_name["drat"]["source"]
    assert all(item["version"] for item in listed if item["kind"] == "task")


def test_ls_names_files_that_are_no_tasks_on_stderr(folder: Path) -> None:
    tasks = folder / "site" / "broken_tasks"
    tasks.mkdir(parents=True)
    (tasks / "__init__.py").write_text(
        "from pathlib import Path\nfrom creval.plugins import hookimpl\n\n\n"
        "@hookimpl\ndef creval_tasks():\n    return [Path(__file__).parent]\n"
    )
    (tasks / "notes.yaml").write_text("just: notes\n")
    info = folder / "site" / "broken_tasks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken-tasks\nVersion: 1.0\nRequires-Dist: creval>=0\n"
    )
    (info / "entry_points.txt").write_text("[creval]\nbroken = broken_tasks\n")
    listed = creval(folder, "ls", "--json", PYTHONPATH=str(folder / "site"))
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout)
    assert len(listed.stderr.splitlines()) == 1
    assert "notes.yaml" in listed.stderr


def test_show_resolved_tells_where_a_value_came_from(folder: Path) -> None:
    shown = creval(folder, "show", "kumo_easy", "--resolved")
    assert shown.returncode == 0, shown.stderr
    assert "kumo.game" in shown.stdout
    assert "_game.yaml:" in shown.stdout


def test_a_word_that_no_task_matches_is_reported_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    near = "Did you mean 'association' or 'paper_association'?"
    assert invoke(["ls", "asociation"]) == 0
    assert capsys.readouterr().out == f"No task matches 'asociation'. {near} All tasks: creval ls --all\n"


def test_playing_without_a_terminal_says_what_is_missing(folder: Path) -> None:
    done = creval(folder, "play", "rat", "--limit", "1", "-o", "runs/nobody")
    assert done.returncode == 130
    assert (
        "Standard input is not a terminal, and it has ended. Play in a terminal, or on a page: creval play --web"
        in done.stderr
    )


def test_show_explains_data_and_metrics(folder: Path) -> None:
    shown = creval(folder, "show", "kumo_easy").stdout
    assert "ComponentRef" not in shown and "{" not in shown
    assert "data:\n  source: generator\n  generator:\n    kumo:\n" in shown
    assert "  success_rate (primary): higher is better; failed: zero (counts as 0)\n" in shown
    lines = shown.splitlines()
    place = lines.index("  relative_action_count: lower is better; failed: exclude (left out)")
    assert "(Eq. 4)" in lines[place + 1]
    assert "survivors: neither direction is better" in creval(folder, "show", "drat").stdout


def test_plugins_tells_commands_and_what_components_take(folder: Path) -> None:
    shown = creval(folder, "plugins", "--components").stdout
    assert "  commands: creval association vectors\n" in shown
    lines = [line.strip() for line in shown.splitlines()]
    place = next(index for index, line in enumerate(lines) if line.startswith("scorer") and " drat " in line)
    assert "quantile: number >= 0, <= 1" in lines[place:]
    assert "produces the scores drat, survivors, gate_passed" in lines[place:]
    head = next(line for line in lines if line.startswith("embedded "))
    assert "1 command, 2 components" in head and "task" not in head


def test_a_run_prints_its_table_and_leaves_its_folder(folder: Path) -> None:
    with ChatServer(answer="ok") as server:
        done = creval(
            folder, "--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url, "-o", "runs/a"
        )
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "12 scored" in done.stdout
    for name in ("run.json", "results.json", "samples/spelling.jsonl", "scores/spelling.jsonl"):
        assert (folder / "runs/a" / name).is_file()
    again = creval(
        folder, "--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url, "-o", "runs/a"
    )
    assert again.returncode == 2
    assert "creval resume runs/a" in again.stderr


def test_progress_and_what_follows_say_what_was_done(folder: Path) -> None:
    with ChatServer(answer="") as server:
        asked = ("--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url, "-o", "runs/u")
        done = creval(folder, *asked)
    lines = done.stderr.splitlines()
    assert any(line.startswith("generate: 12 of 12 done") and line.endswith("12 unparsed") for line in lines)
    assert not any("unparsed" in line for line in lines if line.startswith("score"))
    assert "No sample was missing" in creval(folder, "resume", "runs/u").stderr
    assert creval(folder, "samples", "runs/u", "--status", "scored").stderr == "no sample fits --status scored\n"
    (folder / "spelling.yaml").unlink()
    again = creval(folder, "score", "runs/u")
    assert again.returncode == 0
    assert again.stderr.count("spelling.yaml is not there: the run's own copy is used") == 1


def test_the_budget_stops_a_run_with_exit_code_3_and_resume_finishes_it(folder: Path) -> None:
    with ChatServer(answer="ok") as server:
        stopped = creval(
            folder, "--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url,
            "--max-calls", "5", "-o", "runs/b",
        )  # fmt: skip
        assert stopped.returncode == 3, stopped.stderr
        assert "5 scored, 7 skipped" in stopped.stdout
        assert "No sample was missing" not in creval(folder, "resume", "runs/b").stderr  # the limit let none be made
        finished = creval(folder, "resume", "runs/b", "--max-calls", "50")
        assert finished.returncode == 0, finished.stderr
        assert "12 scored" in finished.stdout
        assert len(server.requests) == 12


def test_score_and_report_ask_no_model(folder: Path) -> None:
    with ChatServer(answer="ok") as server:
        creval(folder, "--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url, "-o", "runs/c")
        asked = len(server.requests)
        scored = creval(folder, "score", "runs/c")
        reported = creval(folder, "report", "runs/c", "--json")
        assert len(server.requests) == asked
    assert scored.returncode == 0, scored.stderr
    rows = json.loads(reported.stdout)
    assert [row["metric"] for row in rows] == ["accuracy"]
    assert rows[0]["n"] == 12


def test_a_report_shows_the_floor_and_ceiling_that_are_next_to_the_run(folder: Path) -> None:
    common = ("--tasks", "kumo_easy", "--limit", "4", "--repeats", "1")
    for model in ("baseline/floor", "baseline/ceiling"):
        done = creval(folder, *common, "--model", model, "-o", f"runs/{model[9:]}")
        assert done.returncode == 0, done.stderr
    shown = creval(folder, "report", "runs/floor")
    assert "floor" in shown.stdout and "ceiling" in shown.stdout
    success = next(line for line in shown.stdout.splitlines() if " success_rate " in line)
    assert " 1.000 " in success
    assert "success_rate *" in shown.stdout
    assert "* primary metric; floor, ceiling: what baseline/floor" in shown.stdout
    assert "floor" in done.stdout and "ceiling" in done.stdout  # the end of the run shows them too
    assert " 1.000 " in next(line for line in done.stdout.splitlines() if " success_rate " in line)


def test_baselines_over_other_docs_are_next_to_no_score_and_their_commands_are_named(folder: Path) -> None:
    common = ("--tasks", "kumo_easy,rat", "--repeats", "1", "--seed", "5")
    floor = creval(folder, *common, "--limit", "3", "--model", "baseline/floor", "-o", "runs/floor")
    assert "other docs" not in floor.stderr
    done = creval(folder, *common, "--limit", "2", "--model", "baseline/ceiling", "-o", "runs/ceiling")
    assert done.returncode == 0, done.stderr
    assert "In runs the floor of kumo_easy, rat is for other docs" in done.stderr
    (command,) = (line for line in done.stderr.splitlines() if "--model baseline/floor" in line)
    assert " --tasks kumo_easy,rat --limit 2 --repeats 1 --seed 5 " in command
    reported = creval(folder, "report", "runs/ceiling")
    assert command in reported.stderr.splitlines()
    assert "  floor" not in reported.stdout
    made = creval(folder, *shlex.split(command)[1:])
    assert made.returncode == 0, made.stderr
    assert "other docs" not in made.stderr
    again = creval(folder, "report", "runs/ceiling")
    assert again.stderr == ""
    assert "  floor" in again.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tasks", "dratt", "--model", "baseline/floor"), "Did you mean 'drat'"),
        (("--tasks", "kumo_easy", "--model", "opnai/x"), "'openai'"),
        (("--tasks", "kumo_easy"), "--model"),
        (("--model", "baseline/floor"), "--tasks"),
        (("--tasks", "kumo_easy", "--model", "openai/gpt-5-mini"), "export OPENAI_API_KEY"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor", "--limit", "some"), "first:10"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor", "--data", "kumo_esy=words.jsonl"), "kumo_easy"),
        (("--tasks", "drat", "--model", "baseline/floor", "--resource", "embeding=embedded/minilm"), "'embedding'"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor", "--role", "judge"), "NAME=VALUE"),
        (("--tasks", "dratt", "-m", "baseline/floor", "-m", "baseline/ceiling"), "Did you mean 'drat'"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor,baseline/ceiling"), "names several models"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor", "-o", ""), "a path cannot be empty"),
        (("play", "kumo_easy", "-o", ""), "a path cannot be empty"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor", "--generation", "n=1", "--generation", "n=2"), "twice"),
        (("--tasks", "kumo_easy", "--model", "baseline/floor", "--condition", "temperature=["), "not valid YAML"),
        (("--tasks", "./spelling.yaml", "--model", "baseline/floor", "--executor", "moon"), "local"),
        (("show", "kumo_5"), "creval ls --all kumo_5"),
        (("lss",), "'ls'"),
        (("--tasks", "rat", "kumo_easy", "--model", "baseline/floor"), "--tasks rat,kumo_easy"),
        (("--tasks", "rat", "--model", "baseline/floor", "--sample-id", "zzz"), "docs are like these: '"),
        (("--tasks", "rat", "--model", "baseline/floor", "--docs", "no.txt"), "read: No such file or directory\n"),
        (("run", "."), "neither sweep.yaml nor run.yaml"),
        (("--tasks", "rat", "-m", "baseline/floor", "-m", "baseline/flor"), "Did you mean 'floor'"),
        (("report", "nowhere"), "there is no run"),
        (("--tasks", "./nowhere.yml", "--model", "baseline/floor"), "there is no such file. Check the path."),
        (("run", "rat", "--model", "baseline/floor"), "creval --tasks rat --model M"),
        (("--tasks", "./spelling.yaml", "--model", "baseline/floor", "-o", "a\nb"), "the control character \\n"),
        (("--tasks", "./spelling.yaml", "--model", "baseline/floor", "--seed", "-1"), "-1 is not in the range x>=0"),
        (("play", "spelling", "--seed", "-1"), "-1 is not in the range x>=0"),
        (("resume", "nowhere"), "no run"),
        (("analyse", "validty"), "'validity'"),
    ],
)
def test_a_mistake_is_one_clear_message_with_exit_code_2(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = creval(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(folder.glob("runs/*"))


def test_too_many_errored_samples_give_exit_code_1_and_the_first_reasons(folder: Path) -> None:
    with ChatServer(script=lambda _: HttpError(400, "no")) as server:
        done = creval(
            folder, "--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url,
            "--max-retries", "0", "-o", "runs/d",
        )  # fmt: skip
        assert done.returncode == 1, done.stdout + done.stderr
    assert "12 errored" in done.stdout
    assert "creval resume" in done.stderr
    lines = done.stderr[done.stderr.index("100.0% of the samples") :].splitlines()
    assert lines[1].startswith("  spelling: 12 samples errored; the first ")
    assert lines[2].startswith("    5 samples (w0, w1, w10, w11, w2): ")
    assert all(line.startswith("      ") for line in lines[3:-1])


def test_a_dry_run_asks_nothing_and_names_calls_and_price(folder: Path) -> None:
    done = creval(
        folder, "--tasks", "./spelling.yaml", "--model", "openai/gpt-4o-mini", "--dry-run", OPENAI_API_KEY="unused"
    )
    assert done.returncode == 0, done.stderr
    assert "spelling" in done.stdout and "12" in done.stdout
    assert not (folder / "runs").exists()


def test_a_key_in_the_environment_reaches_no_file_and_no_message(folder: Path) -> None:
    key = "sk-never-to-be-seen-0123456789"
    with ChatServer(answer="ok") as server:
        done = creval(
            folder, "--tasks", "./spelling.yaml", "--model", "openai/m", "--base-url", server.url, "-o", "runs/e",
            OPENAI_API_KEY=key, OPENROUTER_API_KEY=key,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert key not in done.stdout + done.stderr
    for file in folder.rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes(), file


def test_a_secret_in_an_address_reaches_no_file_and_is_given_again_to_resume(folder: Path) -> None:
    secret = "never-to-be-seen-0123456789"
    with ChatServer(answer="ok") as server:
        url = f"{server.url}?sig={secret}"
        done = creval(
            folder, "--tasks", "./spelling.yaml", "--model", "openai/m", f"--base-url={url}", "--max-calls", "5",
            "-o", "runs/f",
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        refused = creval(folder, "resume", "runs/f", "--max-calls", "50")
        assert refused.returncode == 2
        assert f"creval resume runs/f --base-url '{server.url}?sig=***'" in refused.stderr
        finished = creval(folder, "resume", "runs/f", "--max-calls", "50", "--base-url", url)
        assert finished.returncode == 0, finished.stderr
    command = json.loads((folder / "runs/f/run.json").read_text())["command"]
    assert f"--base-url={server.url}?sig=***" in command
    for file in (folder / "runs").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_ctrl_c_names_the_command_that_resumes(folder: Path) -> None:
    with ChatServer(answer="ok", held_after=1) as server:
        command = ["--tasks", "spelling.yaml", "--model", "m/x", "--base-url", server.url, "--concurrency", "1"]
        process = start(folder, *command, "--output", "stopped")
        samples = folder / "stopped" / "samples" / "spelling.jsonl"
        while process.poll() is None and not (samples.exists() and samples.stat().st_size):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "creval resume stopped" in said


def test_a_report_without_floor_and_ceiling_says_how_to_make_them(folder: Path) -> None:
    with ChatServer(answer="ok") as server:
        asked = ("--tasks", "spelling.yaml", "--model", "m/x", "--base-url", server.url, "--shard", "1/2")
        creval(folder, *asked, "--output", "runs/c")
    said = creval(folder, "report", "runs/c").stderr
    assert "No floor or ceiling of spelling" in said
    assert "--shard 1/2 --model baseline/floor" in said


def test_a_dry_run_is_one_table_and_reports_what_is_missing(folder: Path) -> None:
    common = ("--tasks", "./spelling.yaml,kumo_easy", "--dry-run", "--repeats", "1", "--limit", "3", "--model")
    lacking = creval(folder, *common, "openai/gpt-4o-mini")
    assert lacking.returncode == 2
    assert "OPENAI_API_KEY" in lacking.stderr and "a run would not start" in lacking.stderr
    done = creval(folder, *common, "openai/gpt-4o-mini", OPENAI_API_KEY="sk-none-0123456789")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"spelling +3 +3 ", done.stdout)
    assert re.search(r"total +6 +12 to 24 .* to not known", done.stdout)
    assert not (folder / "runs").exists()


def test_one_unfinished_run_silences_no_other_and_json_is_whole(folder: Path) -> None:
    common = ("--tasks", "kumo_easy", "--limit", "2", "--repeats", "1", "--model")
    for name in ("floor", "ceiling"):
        assert creval(folder, *common, f"baseline/{name}", "-o", f"runs/{name}").returncode == 0
    (folder / "runs" / "cut").mkdir()
    shutil.copy(folder / "runs" / "floor" / "run.json", folder / "runs" / "cut")
    both = creval(folder, "report", "runs/cut", "runs/ceiling", "--json")
    assert both.returncode == 2
    assert "runs/cut: there are no results" in both.stderr
    first = json.loads(both.stdout)[0]
    assert (first["run"], first["floor"] is None, first["ceiling"]) == ("runs/ceiling", False, 1.0)
    assert first["generation_overrides"] == {} and first["cluster"] == "doc"
    alone = creval(folder, "report", "runs/cut")
    assert (alone.returncode, alone.stdout) == (2, "")
    twice = creval(folder, "report", "runs/ceiling", "runs/ceiling", "--json")
    assert len(json.loads(twice.stdout)) == len(json.loads(both.stdout))


def test_play_takes_another_resource(folder: Path) -> None:
    done = creval(folder, "play", "drat", "--resource", "embeding=embedded/minilm")
    assert done.returncode == 2
    assert "unknown resource 'embeding'" in done.stderr
