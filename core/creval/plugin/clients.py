"""Parts of the core for creval-litellm: requests and replies in OpenAI's form, failures, keys and addresses.

Private to the distributions of this repository; these names may change with any version.
"""

from __future__ import annotations

from creval.models.prices import Price
from creval.models.providers.addresses import address_secrets, shown_address
from creval.models.providers.chat_reply import MalformedReplyError, paid_for, read_reply
from creval.models.providers.chat_request import chat_message, chat_tools, check_chat, exclusive_settings
from creval.models.providers.endpoints import is_loopback
from creval.models.providers.failures import Caller, Failure, declined, explain, failure_in, with_request_settings
from creval.models.providers.requested_waits import requested_wait
from creval.models.secrets import find_key, missing_key, redact, secret_variables
