"""What creval-likelihoods needs of the core: the chat provider and its failures, means over clusters of samples.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.models.answers.flags import CONTEXT_CUT, FIRST_TOKEN
from creval.models.providers.chat_provider import ChatProvider, parse_body
from creval.models.providers.chat_reply import paid_for
from creval.models.providers.endpoints import ENDPOINTS, Endpoint, is_hosted
from creval.models.providers.failures import error_of, explain, failure_in, with_sent
from creval.scoring.clusters import Clusters, Floats, as_clusters
from creval.scoring.ratio import Mean
from creval.types.messages import Lost

__all__ = [
    "CONTEXT_CUT",
    "ENDPOINTS",
    "FIRST_TOKEN",
    "ChatProvider",
    "Clusters",
    "Endpoint",
    "Floats",
    "Lost",
    "Mean",
    "as_clusters",
    "error_of",
    "explain",
    "failure_in",
    "is_hosted",
    "paid_for",
    "parse_body",
    "with_sent",
]
