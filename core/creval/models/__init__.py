"""Models: one facade over the chat-completions client, replayed answers, baselines and plugins' providers.

from creval.models.open_model import open_model
from creval.models.model_options import ModelOptions
"""

from __future__ import annotations
