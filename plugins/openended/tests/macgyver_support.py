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

__all__ = ["DATA_TEXT", "DRIVER_TEXT", "MACGYVER_PAIRS", "write_wording", "write_workbook"]

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


def write_wording(folder: Path, driver: str = DRIVER_TEXT, data: str = DATA_TEXT) -> dict[str, str]:
    """Write the two files as the authors' repository lays them out, and return their sha256 by path."""
    pins = {}
    for path, text in ((wording.DRIVER, driver), (wording.DATA, data)):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        pins[path] = hashlib.sha256(text.encode()).hexdigest()
    return pins
