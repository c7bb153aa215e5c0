"""What creval-encoders needs of the core: where the Hugging Face Hub is, and whether it answers.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.hub_address import hub_address, hub_answers

__all__ = ["hub_address", "hub_answers"]
