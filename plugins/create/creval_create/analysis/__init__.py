"""What many runs say together: sets of judged paths read from runs, scored again under any rule."""

from __future__ import annotations
