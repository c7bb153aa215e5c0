"""Parts of the core for creval-batches: providers and their failures, prices, the run's files.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.errors import DetachedError
from creval.models.answers.finish_reasons import broken_off, with_known_finish_reasons
from creval.models.answers.flags import BATCH
from creval.models.batching import BOUGHT, OWED, BatchCounts
from creval.models.cache_key import cache_key
from creval.models.model_options import ModelSpec
from creval.models.prices import Price
from creval.models.providers.chat_provider import ChatProvider
from creval.models.providers.chat_request import request_body
from creval.models.providers.endpoints import ENDPOINTS
from creval.models.providers.failures import Failure, error_of, explain, failure_in
from creval.models.providers.http_messages import FormFile
from creval.models.secrets import Mask, likely_secrets, masked_reply, redact
from creval.opener import is_there, open_plain, parse_json
from creval.runs.jsonl import Appender, drop_torn_line, keep_lines, read_placed
from creval.types.messages import LostUsage
from creval.types.reply_json import lost_to_json, reply_from_json, reply_to_json
