"""The lock of a run folder."""

from __future__ import annotations

import pytest

from creval.errors import RunError
from creval.runs.lock import RunLock


def test_a_second_holder_is_refused_until_the_first_ends(tmp_path):
    with RunLock(tmp_path), pytest.raises(RunError, match="in use by another process"), RunLock(tmp_path):
        pass
    with RunLock(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_an_error_with_a_fix(tmp_path):
    (tmp_path / ".lock").mkdir()  # no file can be opened there, also not by root
    with pytest.raises(RunError, match="is a folder"), RunLock(tmp_path):
        pass
