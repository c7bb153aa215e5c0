"""The card of a dataset of runs: configs for `datasets.load_dataset`, how it was made, and its runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote

import yaml

__all__ = ["BEGIN", "END", "card", "layout_of"]

BEGIN = "<!-- creval: creval push writes what is between these lines -->"
END = "<!-- creval: end -->"
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n?", re.DOTALL)
_SAMPLES = re.compile(r"samples/([^/]+)/([^/]+)\.parquet")
_LINE = re.compile(r"^- `([^`]+)`: (.+)$", re.MULTILINE)
_RUN = re.compile(r"runs/([^/]+)/run\.json")


def layout_of(paths: Collection[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the runs and the tasks (by file name) in the paths of a repository, sorted."""
    runs = {match[1] for path in paths if (match := _RUN.fullmatch(path))}
    tasks = {match[1] for path in paths if (match := _SAMPLES.fullmatch(path))}
    return sorted(runs), sorted(tasks)


def card(former: str | None, repository: str, paths: Collection[str], made: Mapping[str, str]) -> str:
    """Return the card of a repository that holds these paths; `made` says for each run how it was made.

    A former card's texts about other runs are kept, and so is all of it except the configs of creval and the text
    between creval's two marks: both belong to `creval push`.
    """
    runs, tasks = layout_of(paths)
    metadata, text = _parts(former)
    ours = [_config("results", "results/*.parquet", default=True)]
    ours += [_config(_config_name(task), f"samples/{task}/*.parquet") for task in tasks]
    names = {config["config_name"] for config in ours}
    kept = [config for config in metadata.get("configs", []) if _is_foreign(config, names)]
    metadata["configs"] = [*ours, *kept]
    metadata["tags"] = sorted({*metadata.get("tags", []), "creval"})
    front = yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True, width=1000)
    texts = {**_texts_of(text), **made}
    own = f"{BEGIN}\n\n{_body(repository, {run: texts.get(run, '') for run in runs}, tasks)}\n{END}"
    return f"---\n{front}---\n\n{_replaced(text, own, repository)}"


def _parts(former: str | None) -> tuple[dict[str, Any], str]:
    match = _FRONT.match(former or "")
    if match is None:
        return {}, former or ""
    try:
        metadata = yaml.safe_load(match[1])
    except yaml.YAMLError:
        metadata = None
    return (metadata if isinstance(metadata, dict) else {}), (former or "")[match.end() :].lstrip("\n")


def _replaced(text: str, own: str, repository: str) -> str:
    begin, end = text.find(BEGIN), text.find(END)
    if 0 <= begin < end:
        return text[:begin] + own + text[end + len(END) :]
    kept = text.strip()
    return f"{kept}\n\n{own}\n" if kept else f"# {repository}\n\n{own}\n"


def _texts_of(text: str) -> dict[str, str]:
    """Return the texts about runs in creval's part of a card."""
    begin, end = text.find(BEGIN), text.find(END)
    return dict(_LINE.findall(text[begin:end])) if 0 <= begin < end else {}


def _config(name: str, files: str, default: bool = False) -> dict[str, Any]:
    config: dict[str, Any] = {"config_name": name, "data_files": [{"split": "test", "path": files}]}
    return {**config, "default": True} if default else config


def _config_name(task: str) -> str:
    """Return the config of a task: its name, with - for characters that a config's name may not contain."""
    return "samples-" + re.sub(r"[<>:/\\|?*@%\s]+", "-", unquote(task))


def _is_foreign(config: object, names: Collection[str]) -> bool:
    if not isinstance(config, Mapping) or config.get("config_name") in names:
        return False
    return not str(config.get("config_name", "")).startswith("samples-")


def _body(repository: str, runs: Mapping[str, str], tasks: Sequence[str]) -> str:
    example = f'load_dataset("{repository}", "results", split="test")'
    lines = [
        "Runs of language models on benchmarks of creativity and reasoning, made with `creval`.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f"metrics = {example}  # one row per metric: value, interval, counts by status",
    ]
    if tasks:
        samples = f'load_dataset("{repository}", "{_config_name(tasks[0])}", split="test")'
        lines.append(f"samples = {samples}  # one row per sample: answers, scores, status")
    lines += [
        "```",
        "",
        f"`creval pull {repository}` brings the runs back as folders: `creval report`, `creval score` and",
        "`creval.open_run` take them.",
        "",
        f"How it was made: `creval push` (creval-hub {version('creval-hub')}) sent the files of each run and tables",
        "of them. Before that it searched all texts for keys, folders of the sender's machine and users' names.",
        "Paths in `run.json` and `results.json` are cut down to their last part. The settings, seeds and versions of a",
        "run are in its `run.json`.",
        "",
        "Runs:",
        "",
        *(f"- `{run}`: {made}" if made else f"- `{run}`" for run, made in runs.items()),
        "",
    ]
    return "\n".join(lines)
