"""Secrets in what is pushed: thirty planted ones are found, and nothing in runs that hold none.

The planted ones are put together at run time, so that no scanner finds one in this file.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hub_runs import make_run

import creval
from creval_hub.leaks import find_leaks
from creval_hub.push import plan_push
from creval_hub.secrets import SecretFinder, readings

ALNUM = string.ascii_letters + string.digits


def planted(seed: int = 7) -> Iterator[tuple[str, str]]:
    """Yield (kind, text that holds the secret)."""
    random_ = random.Random(seed)

    def some(number: int, characters: str = ALNUM) -> str:
        return "".join(random_.choices(characters, k=number))

    def part(data: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")

    upper = string.ascii_uppercase + "234567"
    dashes = "-" * 5

    def block(kind: str) -> str:
        lines = "\n".join(some(64, ALNUM + "+/") for _ in range(3))
        return f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}\n{lines}\n{dashes}END {kind}PRIVATE KEY{dashes}"

    yield "GitHub, classic", "token: " + "gh" + "p_" + some(36)
    yield "GitHub, fine-grained", "git clone with github" + "_pat_" + some(22) + "_" + some(59)
    yield "GitHub, OAuth", "gh" + "o_" + some(36) + " is what the app got"
    yield "GitHub, server", f'{{"token": "gh{"s_"}{some(36)}"}}'
    yield "GitLab, personal", "GITLAB=gl" + "pat-" + some(20, ALNUM + "_-")
    yield "GitLab, runner", "gitlab-runner register --token gl" + "rt-" + some(20, ALNUM + "_-")
    yield "AWS, id", "AK" + "IA" + some(16, upper)
    yield "AWS, secret", "AWS_SECRET" + "_ACCESS_KEY=" + some(40, ALNUM + "/+")
    yield "AWS, id and secret", f"aws configure: AS{'IA'}{some(16, upper)} / {some(40, ALNUM + '/+')}"
    yield "Slack, bot", "xo" + "xb-" + f"{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}"
    yield "Slack, user", "xo" + "xp-" + "-".join([some(12, string.digits)] * 3) + "-" + some(32, "0123456789abcdef")
    yield "Slack, webhook", "https://hooks.slack" + f".com/services/T{some(9, upper)}/B{some(9, upper)}/{some(24)}"
    yield "npm", "//registry.npmjs.org/:_authToken=npm" + "_" + some(36)
    yield "W&B, old", "wandb login " + some(40, "0123456789abcdef")
    yield "W&B, variable", f"WANDB_API{'_KEY'}: {some(40, '0123456789abcdef')}"
    yield (
        "JWT",
        "ey" + "J" + f"{part({'alg': 'HS256', 'typ': 'JWT'})[3:]}.{part({'sub': some(9)})}.{some(43, ALNUM + '-_')}",
    )
    yield "private key, RSA", block("RSA ")
    yield "private key, OpenSSH in JSON", json.dumps({"key": block("OPENSSH ")})
    yield "database address", f"postgres://ada:{some(14)}@db.lab.org:5432/runs"
    yield "web address", f"pip install --index-url https://ada:{some(12)}@pypi.lab.org/simple x"
    yield "OpenAI", "s" + "k-" + some(48)
    yield "OpenAI, project", "OPENAI_API_KEY='s" + "k-proj-" + some(60, ALNUM + "_-") + "'"
    yield "Anthropic", "x-api-key: s" + "k-ant-api03-" + some(93, ALNUM + "_-") + "AA"
    yield "Hugging Face", "login(token='h" + "f_" + some(34, string.ascii_letters) + "')"
    yield "Google", "key=AI" + "za" + some(35, ALNUM + "_-")
    yield "after a mask", "[key] and s" + "k-proj-" + some(40, ALNUM)
    yield "zero-width spaces", "\u200b".join("gh" + "p_" + some(36))
    yield "word joiners, escaped in JSON", json.dumps({"answer": "\u2060".join("xo" + "xb-" + some(40))})
    yield "soft hyphens and a byte order mark", "\ufeffAK\u00ad" + "IA\u00ad" + some(16, upper)
    yield "full-width letters", "".join(chr(ord(c) + 0xFEE0) for c in "h" + "f_" + some(34, string.ascii_letters))


PLANTED = dict(planted())


def kinds(text: str, **values: str) -> list[str]:
    return [found.what for found in SecretFinder(values).find(text.splitlines(keepends=True))]


def test_thirty_are_planted() -> None:
    assert len(PLANTED) == 30


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("form", ["text", "line of a run", "JSON within JSON"])
def test_a_planted_secret_is_found_and_never_repeated(kind: str, form: str) -> None:
    text = PLANTED[kind]
    if form != "text":
        text = json.dumps({"task": "toy", "answers": [f"It is {text}."]}, ensure_ascii=form != "line of a run")
    if form == "JSON within JSON":
        text = json.dumps({"details": text})
    found = kinds(f"nothing here\n{text}\n")
    assert found and all(what.startswith("what looks like a key") for what in found)
    assert not any(word in what for what in found for word in PLANTED[kind].split() if len(word) > 12)


TOKEN = "gh" + "p_" + "Ab1" * 12


@pytest.mark.parametrize(
    "text",
    [
        "redis" + "://:pw@cache/0",
        "ftp" + "://ada:p@ssw0rd@host/x",
        "//registry/:_auth" + "Token=12345678-1234-1234-1234-123456789012",
        "---- BEGIN SSH2 ENCRYPTED " + "PRIVATE KEY ----",
        TOKEN.replace("p_", "&#8203;p_"),
        TOKEN.replace("p_", "\\\\u200bp_"),
        TOKEN.replace("gh", "\\x67\\x68"),
        TOKEN.replace("A", "\U0001d400"),
        "".join(chr(0xE0000 + ord(sign)) for sign in TOKEN),
        f"[key]{TOKEN}",
    ],
)
def test_other_spellings(text: str) -> None:
    assert kinds(text)


def test_the_rules_of_the_library_are_applied_too() -> None:
    """A kind that none of our own rules knows."""
    key = (
        "SG"
        + "."
        + "".join(random.Random(3).choices(ALNUM, k=22))
        + "."
        + "".join(random.Random(4).choices(ALNUM, k=43))
    )
    (what,) = kinds(f"send it with {key} # gitleaks:allow")
    assert "rule" in what and key not in what


@pytest.mark.parametrize(
    "written",
    [
        "{0}",
        "[key] and {0}",
        "\u200b".join("{0}"),
        "x\u2063{0}\u2063y",
        "{0}"[:20] + "\\u00ad" + "{0}"[20:],
    ],
)
def test_values_of_the_environment_are_found_as_they_are_read(written: str) -> None:
    value = "pk9" + "Zq7Xw3Rt5Yu8Io1Pa"
    text = "\u200b".join(value) if written == "\u200b".join("{0}") else written.replace("{0}", value)
    assert kinds(text, MINE=value) == ["the value of the environment variable MINE"]
    assert kinds(f"it begins with {value[:10]}", MINE=value) == ["a part of the environment variable MINE"]


def test_what_a_line_reads_as() -> None:
    assert readings('{"a": "b"}\n') == ['{"a": "b"}']
    assert readings("a\\u200bb") == ["ab", "a b"]
    assert readings("\uff53\uff4b-\u00e9")[0] == "sk-e"
    assert readings('a\\nb\\"c\\"') == ['a b"c"']


@pytest.mark.parametrize(
    "text",
    [
        "the sk-learn style of hf_hub_download, task-force-2024-report, key-exchange and api_key = os.environ['KEY']",
        "commit 97f55a24516b237bfd7bd0ef399772c316eb9737, sha256 " + "0f" * 32,
        "postgres://user:${PASSWORD}@host/db, https://user:***@host, http://127.0.0.1:8000/v1, a://b, ratio 3:4@5",
        "Authorization: Bearer [key], eyJust a word, AKIA, ghp_short, password: hunter2 is a joke",
        "caf\u00e9 \u0645\u0646 \u200d\U0001f469\u200d\U0001f4bb \u00ad soft\u00adhyphen",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert kinds(text) == []


def test_runs_of_the_plugins_hold_no_secret(of_plugins: Path, tmp_path: Path) -> None:
    """The files of runs, and those of a run of each kind that the suite keeps."""
    stored = Path(__file__).resolve().parents[3] / "tests" / "engine" / "stored_runs"
    folders = [
        of_plugins,
        make_run(tmp_path / "made", {"a": "yes"}),
        *(file.parent for file in stored.rglob("run.json")),
    ]
    files = {str(file): file for folder in folders for file in folder.rglob("*.json*") if file.is_file()}
    assert len(files) > 15
    assert [str(leak) for leak in find_leaks(files, [], {})] == []


def test_a_line_with_a_mask_is_looked_at_further(run_folder: Path) -> None:
    """Refused with its place; the mask alone is not."""
    path = run_folder / "samples" / "toy.jsonl"
    text = path.read_text()
    path.write_text(text.replace('"yes"', '"Bearer [key] was wrong"'))
    assert plan_push([creval.open_run(run_folder)], "ada/runs").sizes
    path.write_text(text.replace('"yes"', json.dumps(PLANTED["after a mask"])))
    with pytest.raises(creval.CrevalError, match=r"samples/toy\.jsonl:1: what looks like a key"):
        plan_push([creval.open_run(run_folder)], "ada/runs")


@pytest.mark.parametrize("value", ['p@ss"w\u00f6rd\\12A', "Schl\u00fcssel-9x", "\uff21bc-1234-\u00e9\u00e9"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_value_with_accents_quotes_or_backslashes_is_found_in_a_row(value: str, ascii_only: bool) -> None:
    row = json.dumps({"answer": value}, ensure_ascii=ascii_only)
    assert kinds(row, MY_KEY=value) == ["the value of the environment variable MY_KEY"]
    assert kinds(value, MY_KEY=value) and not kinds("Schlusselbein", MY_KEY=value)


@pytest.mark.parametrize("form", ["\\u{%x}", "\\U%08x", "\\x%02x", "\\u%04x"])
def test_every_escape_is_read(form: str) -> None:
    value = "s" + "k-proj-" + "Zx81kQpLmN0v"
    assert kinds("".join(form % ord(sign) for sign in value), MY_KEY=value)


@pytest.mark.parametrize("text", ["dckr" + "_pat_" + "aB3_" * 7, "Authorization: Basic " + "dXNlcjpwYXNzdzByZDEyMw=="])
def test_further_forms(text: str) -> None:
    assert kinds(text)
