"""Models: one facade over the chat-completions lane, litellm, replayed answers, baselines and plugins' providers.

from creval.models.opening import open_model
from creval.models.options import ModelOptions
"""

from __future__ import annotations
