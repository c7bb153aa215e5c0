"""Parts of the core for creval-likelihoods and creval-hf: the chat provider, failures, flags and thinking of answers.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.models.answers.flags import CONTEXT_CUT, ENDLESS_THINKING, FIRST_TOKEN, LOGPROBS_DROPPED, THINKING
from creval.models.answers.thinking import kept_tokens, tags_in
from creval.models.providers.chat_provider import ChatProvider, parse_body
from creval.models.providers.chat_reply import paid_for
from creval.models.providers.chat_request import BARE
from creval.models.providers.endpoints import ENDPOINTS, Endpoint, is_hosted
from creval.models.providers.failures import error_of, explain, failure_in, with_request_settings
from creval.scoring.clusters import Clusters, Floats, as_clusters
from creval.scoring.ratio import Mean
from creval.types.messages import LostUsage
