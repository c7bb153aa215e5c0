"""The wording of the paper's authors for solutions, parsed from their source text; none of it is run or shipped.

Files of github.com/stonkmem/MacGyverSemanticProbing (MIT) at one commit, each pinned by its sha256:

    src/GPT_run_benchmark.py   the system messages of a full answer and of a step, and the text around a problem
    src/data.py                the layout of a problem for the full answer; the maximum of steps in words
    src/Llama_, src/vicuna_, src/Mixtral_run_benchmark.py   the same as the first, for models run locally
    src/helper_funcs.py        the text between instruction and problem if both are one text (Llama, Vicuna)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from creval.plugin import DataError
from creval.plugin.data import DataOptions, PinnedFiles

__all__ = [
    "ADDRESS",
    "COMMIT",
    "DATA",
    "DRIVER",
    "DRIVERS",
    "FOLDER",
    "HELPERS",
    "PINS",
    "Wording",
    "WordingName",
    "released_wording",
]

COMMIT = "b2a17dd8ec585a837522c0051cad10cdbaade568"
ADDRESS = f"https://raw.githubusercontent.com/stonkmem/MacGyverSemanticProbing/{COMMIT}/"
FOLDER = f"macgyver-wording-{COMMIT[:12]}"
DRIVER, DATA, HELPERS = "src/GPT_run_benchmark.py", "src/data.py", "src/helper_funcs.py"
WordingName = Literal["released", "llama", "vicuna", "mixtral"]
DRIVERS: Mapping[WordingName, str] = {
    "released": DRIVER,
    "llama": "src/Llama_run_benchmark.py",
    "vicuna": "src/vicuna_run_benchmark.py",
    "mixtral": "src/Mixtral_run_benchmark.py",
}
PINS = {
    DRIVER: "86de67971bedd166d38c6739dfda2ae66bdd02a3fca3023f12b60db9632b8780",
    DATA: "33688a73757e93cde3ef46bfce62faa24b085597bf081c285c59a192bc426584",
    "src/Llama_run_benchmark.py": "8611b783ebaa98b8dfc15b32dffb976b7ca605ba1aafa2a8a1bc3411f613c481",
    "src/vicuna_run_benchmark.py": "cf769a931e9c216aef6d2d2ef6dbbe2c64b6e47d44b0bccb49243fdcf266302d",
    "src/Mixtral_run_benchmark.py": "32aa5bd480cfcaf83a56dd0e805956d0d12514b4d6d2c665f7835f12be1dc781",
    HELPERS: "14d34165bd409369a924161bc9f2d2fe9251233d6841e48f802b9d8cfab4850b",
}
_ONE_TEXT = ("llama", "vicuna")
"""Models that get one text: instruction and problem, without roles."""
_END_TOKENS = {"llama": "<|eot_id|>", "vicuna": "</s>", "mixtral": "</s>"}
"""The authors' drivers take it from the model's tokenizer: here from Llama 3 Instruct, Vicuna and Mixtral."""

_PROBLEM = "\0problem"
_NUMBERS = {"step_num": 0, "step_num + 1": 1}
_LIMITS = {"1": 1, "2": 2, "max_stepnum": 10}
Wording = dict[str, Any]


def released_wording(
    options: DataOptions,
    address: str = ADDRESS,
    pins: Mapping[str, str] | None = None,
    name: WordingName = "released",
) -> Wording:
    """Return the texts, fetched once: those of `_read`. Raises DataError if they are not available or differ."""
    paths = [DRIVERS[name], DATA, *([HELPERS] if name in _ONE_TEXT else [])]
    folder = PinnedFiles.of(FOLDER, address, PINS if pins is None else pins, options).fetch(paths)
    try:
        said = _read(_tree(folder / DRIVERS[name]), _tree(folder / DATA), _END_TOKENS.get(name, ""))
        return {**said, "between": _between(_tree(folder / HELPERS))} if name in _ONE_TEXT else said
    except (ValueError, IndexError) as error:
        raise DataError(f"the authors' wording has another form: {error}", where=str(folder)) from error


def _read(driver: ast.Module, data: ast.Module, end_token: str) -> Wording:
    """Return the texts.

    `full` is the system message of a full answer, `full_before` and `full_after` surround its problem. `step` are
    the pieces of the system message of a step: each a `text`, then, if `plus` is a number, the step's number plus
    it. `first` follows the problem while there are no steps; otherwise `further` does, then for each previous step
    `made_before`, its number, `made_after` and its text; `last` follows at the last step and `end` always. If
    the driver puts an end token right after the steps, it is `after_steps`; otherwise it is within `first` and `end`.
    """
    most = _constant(data, "max_steps")
    before, after = _around_problem(data)
    call = next(node for node in _calls(driver, "extract_problem"))
    made_before, made_after = _around_step_number(driver)
    return {
        "full": "".join(_plain(_pieces(_assigned(driver, "inputstring")[0]), _LIMITS)),
        "full_before": before,
        "full_after": after + _constant(data, "EOS_TOKEN") + _pieces(call.args[0])[-1][1],
        "step": _step_pieces(_pieces(_assigned(driver, "prompt")[0]), most),
        "made_before": made_before,
        "made_after": made_after,
        **_user_texts(driver, end_token),
    }


def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError) as error:
        raise DataError(f"the authors' wording cannot be read: {error}", where=str(file)) from error


def _assigned(tree: ast.Module, name: str) -> list[ast.expr]:
    """Return the expressions assigned or added to a name, in the order of the text."""
    found = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name)
        or (isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name)
    ]
    if not found:
        raise ValueError(f"nothing is assigned to {name}")
    return [node.value for node in sorted(found, key=lambda node: node.lineno)]


def _calls(tree: ast.Module, name: str) -> Iterator[ast.Call]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == name]
    if not found:
        raise ValueError(f"{name} is not called")
    yield from sorted(found, key=lambda node: node.lineno)


def _constant(tree: ast.Module, name: str) -> str:
    value = _assigned(tree, name)[0]
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        raise ValueError(f"{name} is not a text")
    return value.value


Pieces = list[tuple[bool, str]]
"""The parts of a sum of texts: (is it a field, the field or the text)."""


def _pieces(node: ast.expr) -> Pieces:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([*_pieces(node.left), *_pieces(node.right)])
    if isinstance(node, ast.JoinedStr):
        return [piece for value in node.values for piece in _pieces(value)]
    if isinstance(node, ast.FormattedValue):
        return [(True, ast.unparse(node.value))]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [(False, node.value)]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "Problem":
        return [(True, _PROBLEM)]
    return [(True, ast.unparse(node))]


def _joined(pieces: Pieces) -> Pieces:
    """Merge adjacent texts."""
    found: Pieces = []
    for is_field, part in pieces:
        if found and not is_field and not found[-1][0]:
            found[-1] = (False, found[-1][1] + part)
        else:
            found.append((is_field, part))
    return found


def _plain(pieces: Pieces, values: Mapping[str, object]) -> Iterator[str]:
    for is_field, part in pieces:
        if is_field and part not in values:
            raise ValueError(f"a text has the field {part}")
        yield str(values[part]) if is_field else part


def _step_pieces(pieces: Pieces, most: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"text": "", "plus": None}]
    for is_field, part in pieces:
        if is_field and part in _NUMBERS:
            found[-1]["plus"] = _NUMBERS[part]
            found.append({"text": "", "plus": None})
        elif is_field and part != "max_steps":
            raise ValueError(f"the text of a step has the field {part}")
        else:
            found[-1]["text"] += most if is_field else part
    return found


def _around_problem(data: ast.Module) -> tuple[str, str]:
    """Return the text before and after the problem of a full answer, from the word "Problem:" on."""
    parts = _constant(data, "macgyver_prompt").split("{}")
    if len(parts) != 4 or "Problem:" not in parts[1]:
        raise ValueError("a problem is laid out otherwise")
    return parts[1][parts[1].index("Problem:") :], parts[2] + parts[3]


def _around_step_number(driver: ast.Module) -> tuple[str, str]:
    """Return the text before and after the number of a previous step."""
    call = next(_calls(driver, "prev_steps.append"))
    match _pieces(call.args[0]):
        case [(False, before), (True, "step_num - 1"), (False, after), *_]:
            return before, after
    raise ValueError("a step that was made is put otherwise")


def _user_texts(driver: ast.Module, end_token: str) -> dict[str, str]:
    """Return `further`, `first`, `last` and `end`, and `after_steps` with an end token: the additions to a step."""
    texts = [_with_token(_pieces(value), end_token) for value in _assigned(driver, "problemstring")]
    token = [(False, end_token)]
    match [each for each in texts if each not in ([(False, "")], [(True, "prev_steps[k]")])]:
        case [
            [(True, p), (False, further)],
            *between,
            [(False, end)],
            [(True, q), (False, first)],
        ] if p == q == _PROBLEM:
            said = {"further": further, "first": first}
            match between:
                case [[(False, last)]]:
                    return {**said, "last": last, "end": end}
                case [before, [(False, last)]] if before == token:
                    return {**said, "after_steps": end_token, "last": last, "end": end}
                case [[(False, last)], after] if after == token:
                    return {**said, "after_steps": "", "last": last, "end": end_token + end}
    raise ValueError("the text of a step is put together otherwise")


def _with_token(pieces: Pieces, end_token: str) -> Pieces:
    """Put the end token in place of its name."""
    known = [(False, end_token) if end_token and each == (True, "EOS_TOKEN") else each for each in pieces]
    return _joined(known)


def _between(helpers: ast.Module) -> str:
    """Return the text between instruction and problem in the one text without an example."""
    found = [node for node in helpers.body if isinstance(node, ast.FunctionDef) and node.name == "gen_chat_object"]
    for tree in found:
        match _pieces(_assigned(ast.Module(tree.body, []), "messages")[-1]):
            case [(True, "prompt"), (False, between), (True, "problem")]:
                return between
    raise ValueError("instruction and problem are put together otherwise")
