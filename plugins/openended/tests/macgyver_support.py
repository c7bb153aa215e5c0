"""The MacGyver workbook as its makers publish it, made from the rows of the reference data; the authors' files of their
wording in the form that they have, with a text that is made up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from creval_openended.published import wording
from creval_openended.published.macgyver import COLUMNS

__all__ = [
    "DATA_TEXT",
    "DRIVER_TEXT",
    "HELPERS_TEXT",
    "LOCAL_TEXTS",
    "MACGYVER_PAIRS",
    "write_wording",
    "write_workbook",
]

DRIVER_TEXT = '''from src.nothing import *
step_num = 1
prompt = f"""Made up: write step {step_num} by step {max_steps}, {{not}} step {step_num + 1}.
    If done, STOP.
    Step {step_num}: <here>

    """
1 / 0
for i in range(1):
  inputstring = f"""
  Made up: solve it.
    "Step {1}: <step {1}>"
    "Step {2}: <step {2}>"
  At most {max_stepnum} steps.
  """
  response = ask(extract_problem(macgyver[i]["text"] + "\\n ## You: "), inputstring)
  for j in range(num_steps):
    if step_num > 1:
      problemstring = ''
      prev_steps.append(f"Step {step_num - 1} was: " + chosen(j).replace("Step " + str(step_num - 1) + ":", ""))
      problemstring = macgyver[i]['Problem'] + '\\n' + "Steps there are:\\n "
      for k in range(len(prev_steps)):
        problemstring += prev_steps[k]
      if step_num >= num_steps:
        problemstring += "\\n This is the last. "
      problemstring += f"\\n## You: "
    if step_num == 1:
        problemstring = macgyver[i]["Problem"] + "\\n Steps there are:\\n " + "## You: "
  prev_steps.append(f"Otherwise {step_num}: " + text)
'''
DATA_TEXT = '''macgyver_prompt = """
{}

## Problem:
{}

## Steps there are:
{}"""
max_steps = "twelve"
EOS_TOKEN = "<|end|>"
raise SystemExit
'''
HELPERS_TEXT = """import nothing
def gen_chat_object(prompt, problem, include_eg = True):
    shown = "Made up: a shoe."
    if include_eg:
        messages = prompt + '\\n As here: \\n' + shown + '\\n' + problem
    else:
        messages = prompt + '\\n## Now: \\n' + problem
    return messages
"""
_LAST, _END = '        problemstring += "\\n This is the last. "\n', '      problemstring += f"\\n## You: "\n'
_TOKEN = "      problemstring += EOS_TOKEN\n"
_TEST = "      if step_num >= num_steps:\n"
_LOCAL = DRIVER_TEXT.replace("If done,", "Where it is done,").replace("1 / 0", "EOS_TOKEN = tokenizer.eos_token\n1 / 0")
assert all(text in _LOCAL for text in (_TEST + _LAST + _END, '" + "## You: "'))
LOCAL_TEXTS = {  # as the drivers for local models differ: the step's wording, and where the end token is
    "llama": _LOCAL.replace(_TEST, _TOKEN + _TEST).replace('" + "## You: "', '" + EOS_TOKEN + "\\n## You: "'),
    "vicuna": _LOCAL.replace(_END, _TOKEN + _END).replace('" + "## You: "', '" + EOS_TOKEN + "## You: "'),
    "mixtral": _LOCAL.replace(_END, _TOKEN + _END).replace(
        '"\\n Steps there are:\\n " + "## You: "', 'EOS_TOKEN + "\\n## You: "'
    ),
}
LOCAL_TEXTS["llama"] = LOCAL_TEXTS["llama"].replace("Made up: solve it.", "Made up: solve it, in few words.")

MACGYVER_PAIRS = "macgyver/problem_solution_pair.jsonl"


def write_workbook(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into the first sheet of a new workbook."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(COLUMNS))
    for row in rows:
        sheet.append([row[name] for name in COLUMNS])
    book.save(file)


def write_wording(folder: Path, driver: str = DRIVER_TEXT, data: str = DATA_TEXT, **local: str) -> dict[str, str]:
    """Write the files as the authors' repository lays them out, and return their sha256 by path."""
    others = {wording.DRIVERS[name]: text for name, text in ({**LOCAL_TEXTS, **local}).items() if name in LOCAL_TEXTS}
    helpers = local.get("helpers", HELPERS_TEXT)
    pins = {}
    for path, text in {wording.DRIVER: driver, wording.DATA: data, wording.HELPERS: helpers, **others}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        pins[path] = hashlib.sha256(text.encode()).hexdigest()
    return pins
