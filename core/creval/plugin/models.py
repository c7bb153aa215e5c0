"""Provider clients: arguments, results and errors of components of kind `provider`.

Promised: these names follow semantic versioning.
"""

from __future__ import annotations

from creval.errors import ContextLengthError, FatalModelError, RetryableModelError
from creval.models.model_options import ProviderOptions
from creval.models.provider_traits import ProviderTraits
from creval.types.components import Provider
from creval.types.messages import GenerateRequest, Origin

__all__ = [
    "ContextLengthError",
    "FatalModelError",
    "GenerateRequest",
    "Origin",
    "Provider",
    "ProviderOptions",
    "ProviderTraits",
    "RetryableModelError",
]
