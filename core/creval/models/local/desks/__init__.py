"""Where people sit: the terminal and the web page on which they answer tasks."""

from __future__ import annotations
